"""groups/consumer/assignors/uniform_alike.py: even, and sticky."""

from hypothesis import given

from tests.support.assignments import Group, group, groups, member, topic
from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.consumer.assignors.uniform_alike import assign_alike

ORDERS, BILLS = topic(1, 4), topic(2, 3)


def _orders(*partitions: int) -> Assignment:
    return {ORDERS.topic_id: frozenset(partitions)}


def _count(assignment: Assignment) -> int:
    return sum(map(len, assignment.values()))


def test_a_lone_member_gets_all() -> None:
    """Of every topic."""
    alone = group([member("a", [ORDERS.topic_id, BILLS.topic_id])], [ORDERS, BILLS])

    assert assign_alike(alone.members, alone.topics) == {
        "a": {ORDERS.topic_id: frozenset(range(4)), BILLS.topic_id: frozenset(range(3))}
    }


def test_a_newcomer_takes_no_more_than_its_share() -> None:
    """The first keeps its first two partitions of four."""
    two = group(
        [member("a", [ORDERS.topic_id], _orders(0, 1, 2, 3)), member("b", [ORDERS.topic_id])], [ORDERS]
    )

    assert assign_alike(two.members, two.topics) == {"a": _orders(0, 1), "b": _orders(2, 3)}


def test_what_a_member_left_behind_goes_to_those_with_fewest() -> None:
    """Nobody who stays loses any."""
    two = group(
        [member("a", [ORDERS.topic_id], _orders(1)), member("b", [ORDERS.topic_id], _orders(3))], [ORDERS]
    )

    assert assign_alike(two.members, two.topics) == {"a": _orders(0, 1), "b": _orders(2, 3)}


def test_the_larger_share_stays_with_the_member_that_has_it() -> None:
    """A member below its share leaves the partition that is over to one that holds it already."""
    seven = topic(3, 7)
    kept = frozenset({0, 1, 2, 3})
    two = group(
        [member("a", [seven.topic_id]), member("b", [seven.topic_id], {seven.topic_id: kept})], [seven]
    )

    assert assign_alike(two.members, two.topics)["b"] == {seven.topic_id: kept}


def test_topics_that_nobody_subscribes_to_any_more_are_dropped() -> None:
    """As those that were deleted."""
    alone = group([member("a", [BILLS.topic_id], _orders(0, 1))], [ORDERS, BILLS])

    assert assign_alike(alone.members, alone.topics) == {"a": {BILLS.topic_id: frozenset(range(3))}}


def test_without_topics_all_get_none() -> None:
    """None of the subscribed topics exists yet."""
    waiting = group([member("a", []), member("b", [])], [])

    assert assign_alike(waiting.members, waiting.topics) == {"a": {}, "b": {}}


@given(group=groups(alike=True))
def test_no_two_members_differ_by_more_than_one_partition(group: Group) -> None:
    """Uniform: over all topics together."""
    sizes = [_count(assignment) for assignment in assign_alike(group.members, group.topics).values()]

    assert max(sizes) - min(sizes) <= 1


@given(group=groups(alike=True))
def test_members_keep_what_they_have_up_to_their_share(group: Group) -> None:
    """Sticky: as much as balance allows, whatever the target was before."""
    made = assign_alike(group.members, group.topics)

    smallest = min(map(_count, made.values()))
    for name, one in group.members.items():
        had = {(topic_id, p) for topic_id in one.subscribed for p in one.assigned.get(topic_id, ())}
        has = {(topic_id, p) for topic_id, partitions in made[name].items() for p in partitions}
        assert len(had & has) >= min(len(had), smallest)


@given(group=groups(alike=True))
def test_those_who_stay_lose_nothing_when_one_leaves(group: Group) -> None:
    """Only the partitions of the one that left move."""
    before = assign_alike(group.members, group.topics)
    after_leaving = group.with_targets(before).without("member-0")
    if not after_leaving.members:
        return

    after = assign_alike(after_leaving.members, group.topics)

    for name in after_leaving.members:
        assert all(partitions <= after[name][topic_id] for topic_id, partitions in before[name].items())
