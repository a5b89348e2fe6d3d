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
    assert play.shard.durable.classic_groups["g"].members == []


def test_static_follower_may_come_back_with_another_subscription() -> None:
    """Kafka asks whether the vote changes, not the metadata: the leader hears of it when it next assigns."""
    play = GroupPlaybook()
    play.stable("a", "b", instances=True)
    back = play.joined(play.join("b", instance="ib", protocols={"range": b"other"}))
    play.restart()
    group = play.shard.describe("g", group_id_not_found_known=True)

    assert (back.error_code, back.generation_id, group.group_state) == (ErrorCode.NONE, 1, "Stable")
    assert {m.group_instance_id: m.member_metadata for m in group.members} == {"ia": b"", "ib": b"other"}
