"""groups/consumer/assignors/ranges.py: runs of neighbouring partitions."""

from hypothesis import given

from tests.support.assignments import Group, group, groups, member, topic
from wirekafka.groups.consumer.assignors import ranges

ORDERS, BILLS, SMALL = topic(1, 5), topic(2, 5), topic(3, 1)
BOTH = [ORDERS.topic_id, BILLS.topic_id]


def test_first_members_get_the_partitions_that_are_over() -> None:
    """5 partitions and 2 members: 3 and 2, a run each."""
    two = group([member("a", [ORDERS.topic_id]), member("b", [ORDERS.topic_id])], [ORDERS])

    assert ranges.assign(two.members, two.topics) == {
        "a": {ORDERS.topic_id: frozenset({0, 1, 2})},
        "b": {ORDERS.topic_id: frozenset({3, 4})},
    }


def test_topics_with_as_many_partitions_are_divided_alike() -> None:
    """Records of one key in both meet in one member: co-partitioning."""
    three = group([member(name, BOTH) for name in "abc"], [ORDERS, BILLS])

    made = ranges.assign(three.members, three.topics)

    assert all(made[name][ORDERS.topic_id] == made[name][BILLS.topic_id] for name in "abc")


def test_static_members_come_first_in_the_order_of_their_instances() -> None:
    """They keep their place when dynamic members come and go."""
    mixed = group(
        [
            member("a", [ORDERS.topic_id]),
            member("x", [ORDERS.topic_id], instance_id="second"),
            member("y", [ORDERS.topic_id], instance_id="first"),
        ],
        [ORDERS],
    )

    assert ranges.assign(mixed.members, mixed.topics) == {
        "y": {ORDERS.topic_id: frozenset({0, 1})},
        "x": {ORDERS.topic_id: frozenset({2, 3})},
        "a": {ORDERS.topic_id: frozenset({4})},
    }


def test_members_past_the_last_partition_get_none() -> None:
    """One partition has one owner."""
    two = group([member("a", [SMALL.topic_id]), member("b", [SMALL.topic_id])], [SMALL])

    assert ranges.assign(two.members, two.topics) == {"a": {SMALL.topic_id: frozenset({0})}, "b": {}}


def test_only_subscribers_of_a_topic_share_it() -> None:
    """With different subscriptions each topic is divided for itself."""
    two = group([member("a", [ORDERS.topic_id]), member("b", BOTH)], [ORDERS, BILLS])

    assert ranges.assign(two.members, two.topics) == {
        "a": {ORDERS.topic_id: frozenset({0, 1, 2})},
        "b": {ORDERS.topic_id: frozenset({3, 4}), BILLS.topic_id: frozenset(range(5))},
    }


@given(group=groups())
def test_every_share_is_one_run_and_no_share_is_two_larger(group: Group) -> None:
    """Of each topic, for each pair of its subscribers."""
    made = ranges.assign(group.members, group.topics)

    for topic_id in group.topics:
        shares = [made[name].get(topic_id, frozenset()) for name in group.subscribers(topic_id)]
        assert max(map(len, shares), default=0) - min(map(len, shares), default=0) <= 1
        assert all(max(share) - min(share) + 1 == len(share) for share in shares if share)
