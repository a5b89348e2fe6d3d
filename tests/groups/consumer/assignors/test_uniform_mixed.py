"""groups/consumer/assignors/uniform_mixed.py: balance where subscriptions differ."""

from hypothesis import given

from tests.support.assignments import Group, group, groups, member, topic
from wirekafka.groups.consumer.assignors.uniform_mixed import assign_mixed

ORDERS, BILLS = topic(1, 6), topic(2, 2)
BOTH = [ORDERS.topic_id, BILLS.topic_id]


def test_what_only_some_may_read_is_made_up_for_with_the_rest() -> None:
    """8 partitions, 4 each: the one that reads both topics takes fewer of the shared one."""
    two = group([member("a", [ORDERS.topic_id]), member("b", BOTH)], [ORDERS, BILLS])

    made = assign_mixed(two.members, two.topics)

    assert len(made["a"][ORDERS.topic_id]) == 4
    assert (len(made["b"][ORDERS.topic_id]), len(made["b"][BILLS.topic_id])) == (2, 2)


def test_partitions_move_from_the_most_to_the_least_loaded() -> None:
    """The last ones of who has most."""
    three = group(
        [
            member("a", [ORDERS.topic_id], {ORDERS.topic_id: frozenset(range(6))}),
            member("b", [ORDERS.topic_id]),
            member("c", BOTH),
        ],
        [ORDERS, BILLS],
    )

    assert assign_mixed(three.members, three.topics) == {
        "a": {ORDERS.topic_id: frozenset({0, 1, 2})},
        "b": {ORDERS.topic_id: frozenset({3, 4, 5})},
        "c": {BILLS.topic_id: frozenset({0, 1})},
    }


def test_members_with_nothing_of_a_topic_give_nothing_of_it() -> None:
    """The most loaded may be so by topics that the others do not read."""
    many = topic(3, 9)
    three = group(
        [
            member("a", [many.topic_id, BILLS.topic_id]),
            member("b", [BILLS.topic_id], {BILLS.topic_id: frozenset({0, 1})}),
            member("c", [BILLS.topic_id]),
        ],
        [many, BILLS],
    )

    assert assign_mixed(three.members, three.topics) == {
        "a": {many.topic_id: frozenset(range(9))},
        "b": {BILLS.topic_id: frozenset({0})},
        "c": {BILLS.topic_id: frozenset({1})},
    }


@given(group=groups())
def test_no_single_move_would_make_the_loads_more_even(group: Group) -> None:
    """No owner of a partition has two more than another subscriber of its topic."""
    made = assign_mixed(group.members, group.topics)
    sizes = {name: sum(map(len, assignment.values())) for name, assignment in made.items()}

    for topic_id in group.topics:
        subscribers = group.subscribers(topic_id)
        owners = [name for name in subscribers if topic_id in made[name]]
        if owners:
            assert max(sizes[name] for name in owners) - min(sizes[name] for name in subscribers) <= 1
