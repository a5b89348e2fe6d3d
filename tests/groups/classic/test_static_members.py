"""Tests of groups/classic/static_members.py; the stories of static members tell the rest."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_member_that_had_not_synced_is_not_awaited_under_its_old_id() -> None:
    """Kafka would rebalance at the sync time-out for an id that is gone; here it does not."""
    play = GroupPlaybook()
    first = play.join("a", instance="ia", session_ms=300_000)
    play.join("b", instance="ib", session_ms=300_000)
    play.at(6_000)
    play.sync(play.joined(first).member_id, 1, {}, instance="ia")
    back = play.joined(play.join("b", instance="ib", session_ms=300_000))
    play.at(100_000)

    assert play.state() == "Stable"
    assert play.heartbeat(back.member_id, 1, instance="ib") is ErrorCode.NONE


def test_new_member_has_the_session_that_it_asked_for() -> None:
    """The timeouts of the new JoinGroup replace those of the old member."""
    play = GroupPlaybook()
    play.stable("a", instances=True, session_ms=10_000)
    play.join("a", instance="ia", session_ms=50_000)
    play.at(play.now_ms + 49_999)
    assert play.state() == "Stable"
    play.at(play.now_ms + 1)

    assert play.state() == "Empty"
    assert play.shard.durable.groups["g"].members == []
