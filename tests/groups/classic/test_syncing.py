"""Tests of groups/classic/syncing.py; what each state answers is in test_every_state_and_input."""

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import records
from wirekafka.groups.records import GroupMetadata
from wirekafka.protocol.error_codes import ErrorCode


def completing() -> GroupPlaybook:
    play = GroupPlaybook()
    play.join("a", session_ms=20_000)
    play.join("b", session_ms=20_000)
    play.at(6_000)
    return play


def test_assignment_of_the_leader_is_written_down_before_it_is_given() -> None:
    """One record, with a member's bytes or none; those of strangers are left out."""
    play = completing()
    play.sync("a-1", 1, {"a-1": b"A", "stranger": b"S"})

    record = records.decode(play.log[-1])
    assert isinstance(record, GroupMetadata)
    assert record.value is not None
    assert {m.member_id: m.assignment for m in record.value.members} == {"a-1": b"A", "b-2": b""}


def test_assignments_of_a_follower_are_ignored() -> None:
    """Only the leader assigns."""
    play = completing()
    ticket = play.sync("b-2", 1, {"b-2": b"mine"})
    play.sync("a-1", 1, {"b-2": b"yours"})

    assert play.synced(ticket).assignment == b"yours"


def test_late_follower_is_given_its_assignment_at_once() -> None:
    """In a stable group nothing needs to be awaited."""
    play = completing()
    play.sync("a-1", 1, {"b-2": b"B"})

    answer = play.synced(play.sync("b-2", 1, protocol=("consumer", "range"), protocol_required=True))
    assert (answer.assignment, answer.protocol_type, answer.protocol_name) == (b"B", "consumer", "range")


def test_session_of_a_waiting_member_starts_anew_with_its_assignment() -> None:
    """A member that waited in SyncGroup beyond its session is not dropped when it is answered."""
    play = completing()
    play.sync("b-2", 1)
    play.at(25_000)
    assert play.heartbeat("a-1", 1) is ErrorCode.NONE
    play.at(40_000)
    assert play.state() == "CompletingRebalance"
    play.sync("a-1", 1, {})
    play.at(59_999)
    assert play.heartbeat("b-2", 1) is ErrorCode.NONE

    assert play.state() == "Stable"


def test_leader_has_its_assignment_last() -> None:
    """Its next request may begin a rebalance, in which no follower may still wait for this answer."""
    play = completing()
    follower = play.sync("b-2", 1)
    leader = play.sync("a-1", 1, {"a-1": b"A", "b-2": b"B"})

    assert list(play.answers)[-2:] == [follower, leader]
