"""Story: offsets are committed, the broker is killed, and everything is there again."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_offset_is_fetched_as_committed() -> None:
    """A member of the present generation commits; anyone may fetch."""
    play = GroupPlaybook()
    play.stable("a")
    assert play.fetch() == -1
    ticket = play.commit("a-1", 1, offset=42)

    assert play.committed(ticket) == ErrorCode.NONE
    assert play.fetch() == 42
    assert play.fetch_all() == {"t": 42}


def test_replay_describes_the_same_group() -> None:
    """What DescribeGroups, ListGroups and OffsetFetch say before a kill, they say after it."""
    play = GroupPlaybook()
    play.stable("a", "b", instances=True)
    play.commit("ia-1", 1, offset=7, topic_id=bytes(range(16)), metadata="m")
    before = (
        play.shard.describe("g", group_id_not_found_known=True),
        play.shard.list_groups(),
        play.fetch_all(),
        play.shard.durable,
    )
    play.restart()

    after = (
        play.shard.describe("g", group_id_not_found_known=True),
        play.shard.list_groups(),
        play.fetch_all(),
        play.shard.durable,
    )
    assert after == before
    assert before[0].group_state == "Stable"


def test_members_have_their_session_anew_after_a_restart() -> None:
    """Kafka: heartbeats are awaited from the moment the group was loaded."""
    play = GroupPlaybook()
    play.stable("a", session_ms=10_000)
    play.restart(after_ms=1_000_000)
    loaded_ms = play.now_ms
    play.at(loaded_ms + 9_999)
    assert play.heartbeat("a-1", 1) is ErrorCode.NONE
    play.at(loaded_ms + 19_999)

    assert play.state() == "Empty"


def test_unfinished_rebalance_is_forgotten_by_a_restart() -> None:
    """Only completed generations are in the log; members of an unfinished one start anew."""
    play = GroupPlaybook()
    play.stable("a")
    second = play.join("b")
    first = play.join("a", "a-1")
    assert play.joined(second).generation_id == play.joined(first).generation_id == 2
    play.restart()

    assert play.heartbeat("a-1", 2) is ErrorCode.ILLEGAL_GENERATION
    assert play.heartbeat("b-2", 2) is ErrorCode.UNKNOWN_MEMBER_ID
    assert play.heartbeat("a-1", 1) is ErrorCode.NONE


def test_consumer_without_a_group_commits_and_refetches() -> None:
    """Kafka: generation -1 commits to a group that is empty or not there; it becomes a simple one."""
    play = GroupPlaybook()
    assert play.committed(play.commit(offset=5)) == ErrorCode.NONE
    play.restart()

    assert play.fetch() == 5
    assert play.state() == "Empty"
    assert [row.protocol_type for row in play.shard.list_groups()] == [""]
