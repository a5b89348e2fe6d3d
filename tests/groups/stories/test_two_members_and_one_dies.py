"""Story: two members join, the leader assigns, one falls silent, the other goes on alone."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_two_members_share_a_generation_until_one_dies() -> None:
    """Kafka: the session time-out of a member starts a rebalance of those who are left."""
    play = GroupPlaybook()
    first, second = play.join("a"), play.join("b")
    assert play.waiting == {first, second}
    play.at(6_000)

    leader, follower = play.joined(first), play.joined(second)
    assert (leader.generation_id, leader.leader, leader.protocol_name) == (1, "a-1", "range")
    assert [member.member_id for member in leader.members] == ["a-1", "b-2"]
    assert (follower.generation_id, follower.leader, follower.members) == (1, "a-1", [])
    assert play.state() == "CompletingRebalance"

    waits = play.sync("b-2", 1)
    assert waits in play.waiting
    mine = play.sync("a-1", 1, {"a-1": b"A", "b-2": b"B"})
    assert play.synced(mine).assignment == b"A"
    assert play.synced(waits).assignment == b"B"
    assert play.state() == "Stable"

    play.at(15_000)
    assert play.heartbeat("a-1", 1) is ErrorCode.NONE
    play.at(16_000)
    assert play.state() == "PreparingRebalance"
    assert play.heartbeat("a-1", 1) is ErrorCode.REBALANCE_IN_PROGRESS

    again = play.join("a", "a-1")
    assert play.joined(again).generation_id == 2
    assert [member.member_id for member in play.joined(again).members] == ["a-1"]
    assert play.synced(play.sync("a-1", 2, {"a-1": b"all"})).assignment == b"all"


def test_last_member_leaves_an_empty_group() -> None:
    """Kafka: a group without members is Empty, and a record with the next generation says so."""
    play = GroupPlaybook()
    play.stable("a")
    written = len(play.log)
    play.at(play.now_ms + 10_000)

    assert play.state() == "Empty"
    assert len(play.log) == written + 1
    assert play.shard.durable.classic_groups["g"].generation == 2
    assert play.heartbeat("a-1", 1) is ErrorCode.UNKNOWN_MEMBER_ID
