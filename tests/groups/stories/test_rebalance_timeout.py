"""Story: a member that heartbeats but does not rejoin is dropped when the rebalance times out."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_absent_member_is_dropped_at_the_rebalance_timeout() -> None:
    """Kafka: the join phase ends at the largest rebalance time-out, without those who are away."""
    play = GroupPlaybook()
    play.stable("a", "b", session_ms=300_000)
    start_ms = play.now_ms
    leader = play.join("a", "a-1", session_ms=300_000)
    play.at(start_ms + 59_999)
    assert leader in play.waiting
    assert play.heartbeat("b-2", 1) is ErrorCode.REBALANCE_IN_PROGRESS

    play.at(start_ms + 60_000)
    assert play.joined(leader).generation_id == 2
    assert [member.member_id for member in play.joined(leader).members] == ["a-1"]
    assert play.heartbeat("b-2", 2) is ErrorCode.UNKNOWN_MEMBER_ID


def test_absent_leader_is_succeeded_by_one_who_joined() -> None:
    """Kafka: a leader who does not rejoin loses the lead."""
    play = GroupPlaybook()
    play.stable("a", "b", session_ms=300_000)
    follower = play.join("b", "b-2", protocols={"range": b"new"}, session_ms=300_000)
    play.at(play.now_ms + 60_000)

    assert play.joined(follower).leader == "b-2"


def test_waiting_member_outlives_its_session() -> None:
    """Kafka: a member that waits in JoinGroup is alive, however long the others take."""
    play = GroupPlaybook()
    play.stable("a", "b", session_ms=10_000)
    play.join("a", "a-1")
    for _ in range(5):
        play.at(play.now_ms + 8_000)
        assert play.heartbeat("b-2", 1) is ErrorCode.REBALANCE_IN_PROGRESS

    assert play.state() == "PreparingRebalance"
    second = play.join("b", "b-2")
    assert play.joined(second).generation_id == 2


def test_member_that_never_syncs_is_dropped() -> None:
    """Kafka: whoever has not sent SyncGroup by the rebalance time-out goes (KAFKA-9455)."""
    play = GroupPlaybook()
    first = play.join("a", session_ms=300_000)
    play.join("b", session_ms=300_000)
    play.at(6_000)
    leader = play.joined(first).leader
    waits = play.sync(leader, 1, {})
    assert play.synced(waits).assignment == b""
    play.at(65_999)
    assert play.state() == "Stable"

    play.at(66_000)
    assert play.state() == "PreparingRebalance"
    assert play.heartbeat("b-2", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert play.heartbeat("a-1", 1) is ErrorCode.REBALANCE_IN_PROGRESS


def test_follower_waiting_for_a_lost_leader_must_rejoin() -> None:
    """Kafka: when the leader never assigns, those who wait in SyncGroup are told to rejoin."""
    play = GroupPlaybook()
    play.join("a", session_ms=10_000)
    second = play.join("b", session_ms=10_000)
    play.at(6_000)
    assert play.joined(second).leader == "a-1"
    waits = play.sync("b-2", 1)
    play.at(16_000)

    assert play.synced(waits).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert play.state() == "PreparingRebalance"
