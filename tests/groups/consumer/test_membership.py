"""Tests of groups/consumer/membership.py."""

from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.membership import Membership, preferred_assignor

A = b"a" * 16


def group_of(*members: ConsumerMember) -> ConsumerGroup:
    group = ConsumerGroup("g")
    for member in members:
        group.put_member(member)
        group.targets[member.member_id] = {A: frozenset({0})}
    return group


def test_group_may_be_seen_as_it_is() -> None:
    """To be held against what it will be."""
    group = group_of(ConsumerMember("a"))

    assert Membership.of(group) == Membership(group.members, group.targets, group.resolved_regexes)


def test_member_is_seen_as_it_will_be() -> None:
    """The group itself is as before: only records change it."""
    group = group_of(ConsumerMember("a"))
    changed = ConsumerMember("a", rack_id="r")
    seen = Membership.with_member(group, changed, {})

    assert seen.members == {"a": changed}
    assert seen.targets == {"a": {A: frozenset({0})}}
    assert group.members == {"a": ConsumerMember("a")}


def test_static_member_takes_over_the_target_of_who_had_its_instance_id() -> None:
    """Its predecessor is seen no more."""
    group = group_of(ConsumerMember("old", instance_id="i"), ConsumerMember("other"))
    seen = Membership.with_member(group, ConsumerMember("new", instance_id="i"), {})

    assert list(seen.members) == ["other", "new"]
    assert seen.targets == {"new": {A: frozenset({0})}, "other": {A: frozenset({0})}}


def test_static_member_of_a_predecessor_without_target_has_none() -> None:
    """It joined, and left before there was one."""
    group = group_of(ConsumerMember("old", instance_id="i"))
    del group.targets["old"]

    assert Membership.with_member(group, ConsumerMember("new", instance_id="i"), {}).targets == {}


def test_members_that_leave_are_not_seen() -> None:
    """The others are."""
    group = group_of(ConsumerMember("a"), ConsumerMember("b"))

    assert list(Membership.without_members(group, [ConsumerMember("a")]).members) == ["b"]


def test_most_votes_choose_the_assignor() -> None:
    """Members that name none do not vote; a tie goes to uniform, as with the order of Kafka's map."""

    def preferred(*names: str | None) -> str | None:
        members = enumerate(names)
        return preferred_assignor(
            ConsumerMember(str(index), server_assignor_name=name) for index, name in members
        )

    assert preferred("range", "uniform", "range", None) == "range"
    assert preferred("range", "uniform") == "uniform"
    assert preferred("range", "not-built-in") == "range"
    assert preferred(None, None) is None
