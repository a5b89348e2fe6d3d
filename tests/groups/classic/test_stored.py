"""Tests of groups/classic/stored.py."""

from tests.support.playbook import GroupPlaybook
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.stored import (
    must_rebalance,
    new_group_value,
    restored,
    settle,
    stored_value,
    value_without_leader,
)
from wirekafka.protocol.stored.consumer_offsets import GroupMetadataValue, MemberMetadata


def value(*members: MemberMetadata) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type="consumer" if members else "",
        generation=4,
        protocol="range" if members else None,
        leader=members[0].member_id if members else None,
        current_state_timestamp=77,
        members=list(members),
    )


def member(member_id: str, rebalance_timeout: int = 60_000) -> MemberMetadata:
    return MemberMetadata(
        member_id=member_id,
        group_instance_id=f"i{member_id}",
        client_id="c",
        client_host="/h",
        rebalance_timeout=rebalance_timeout,
        session_timeout=10_000,
        subscription=b"S",
        assignment=b"A",
    )


def test_restored_group_is_written_down_as_it_was_read() -> None:
    """A record comes back from a record."""
    before = value(member("a"), member("b"))
    group = restored("g", before)
    assignments = {one.member_id: one.assignment for one in group.members.values()}

    assert group.is_stable
    assert stored_value(group, assignments) == before


def test_restored_group_without_members_is_empty() -> None:
    """A protocol type of "" is none."""
    group = restored("g", value())

    assert group.is_empty
    assert group.protocol_type is None
    assert (group.generation_id, group.state_since_ms) == (4, 77)


def test_group_written_without_a_leader_must_rebalance() -> None:
    """Unlike one with a leader, and one that nobody is in."""
    group = restored("g", value(member("a"), member("b")))
    unled = value_without_leader(group, {})

    assert (group.leader_id, unled.leader, len(unled.members)) == ("a", None, 2)
    assert must_rebalance(unled)
    assert not must_rebalance(stored_value(group, {}))
    assert not must_rebalance(value())


def test_missing_rebalance_timeout_is_the_session_timeout() -> None:
    """Version 0 of the record has none."""
    assert restored("g", value(member("a", -1))).members["a"].rebalance_timeout_ms == 10_000


def test_member_left_out_by_the_leader_is_assigned_nothing() -> None:
    """An assignment of zero bytes."""
    group = restored("g", value(member("a"), member("b")))

    assert [m.assignment for m in stored_value(group, {"a": b"X"}).members] == [b"X", b""]


def test_new_group_is_written_as_generation_zero() -> None:
    """Whoever is joining it is not in its record."""
    stored = new_group_value(ClassicGroup("g", state_since_ms=3))

    assert (stored.generation, stored.protocol_type, stored.members) == (0, "", [])
    assert stored.current_state_timestamp == 3


def test_settling_makes_a_completing_group_stable() -> None:
    """The assignments in the record hold from now on."""
    play = GroupPlaybook()
    play.join("a")
    play.at(3_000)
    group = play.shard.volatile.classic_groups["g"]
    group.unwritten = stored_value(group, {"a-1": b"A"})
    settle(group)

    assert group.is_stable
    assert group.members["a-1"].assignment == b"A"
    assert group.unwritten is None
