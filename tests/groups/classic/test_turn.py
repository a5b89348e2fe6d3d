"""Tests of groups/classic/turn.py."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_second_join_of_a_member_takes_the_place_of_the_first() -> None:
    """Kafka never answers the first; here it is told to try again, so no ticket is left behind."""
    play = GroupPlaybook()
    play.stable("a", "b")
    first = play.join("a", "a-1")
    second = play.join("a", "a-1")

    assert play.joined(first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert second in play.waiting


def test_second_sync_of_a_member_takes_the_place_of_the_first() -> None:
    """As with JoinGroup."""
    play = GroupPlaybook()
    play.join("a")
    play.join("b")
    play.at(6_000)
    first, second = play.sync("b-2", 1), play.sync("b-2", 1)
    assert play.synced(first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    play.sync("a-1", 1, {"b-2": b"B"})

    assert play.synced(second).assignment == b"B"


def test_member_that_leaves_has_its_parked_requests_refused() -> None:
    """Kafka answers the JoinGroup and forgets the SyncGroup; here both are answered."""
    play = GroupPlaybook()
    joining = play.join("a", instance="ia")
    play.leave(("", "ia"))
    assert play.joined(joining).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    play.at(3_000)
    play.join("a", instance="ia")
    second = play.join("b", instance="ib")
    play.at(9_000)
    syncing = play.sync(play.joined(second).member_id, play.joined(second).generation_id)
    play.leave(("", "ib"))

    assert play.synced(syncing).error_code == ErrorCode.UNKNOWN_MEMBER_ID
