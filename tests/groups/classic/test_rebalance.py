"""Tests of groups/classic/rebalance.py; the stories tell the rest."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_old_assignments_are_dropped_when_a_completing_group_rebalances() -> None:
    """Nobody is to be shown an assignment of a generation that never was."""
    play = GroupPlaybook()
    play.stable("a", "b")
    play.join("a", "a-1")
    play.join("b", "b-2")
    assert play.state() == "CompletingRebalance"
    play.join("b", "b-2", protocols={"range": b"new"})

    group = play.shard.describe("g", group_id_not_found_known=True)
    assert group.group_state == "PreparingRebalance"
    assert [member.member_assignment for member in group.members] == [b"", b""]


def test_assignments_stay_visible_while_a_stable_group_rebalances() -> None:
    """Members go on with them until the next generation."""
    play = GroupPlaybook()
    play.stable("a", "b")
    play.join("a", "a-1")

    group = play.shard.describe("g", group_id_not_found_known=True)
    assert group.group_state == "PreparingRebalance"
    assert [member.member_assignment for member in group.members] == [b"a-1", b"b-2"]


def test_pending_member_alone_leaves_the_group_empty_after_the_delay() -> None:
    """All who had joined have gone when the delay ends: the next generation has no members."""
    play = GroupPlaybook()
    play.join("a", instance="ia")
    play.join("b", member_id_required=True, session_ms=60_000)
    play.leave(("", "ia"))
    assert play.state() == "PreparingRebalance"
    play.at(3_000)
    assert play.state() == "Empty"
    ticket = play.join("b", "b-2")
    play.at(6_000)

    assert play.joined(ticket).generation_id == 2


def test_rebalance_timeout_of_zero_leaves_no_time_to_sync() -> None:
    """Whoever allows nothing is given nothing; the clock's turn ends all the same."""
    play = GroupPlaybook()
    ticket = play.join("a", rebalance_ms=0)
    play.at(3_000)

    assert play.joined(ticket).error_code == ErrorCode.NONE
    assert play.state() == "Empty"
    assert play.machine.wake_at_ms() == 600_000


def test_waiting_for_static_members_ends_with_their_sessions() -> None:
    """A rebalance that nobody joined is prolonged by a millisecond at least, so time goes on."""
    play = GroupPlaybook()
    play.stable("a", "b", instances=True)
    group = play.shard.volatile.classic_groups["g"]
    for member in group.members.values():
        member.rebalance_timeout_ms = 0
    play.leave(("", "ib"))
    start_ms = play.now_ms
    play.at(start_ms + 9_999)
    assert play.state() == "PreparingRebalance"

    play.at(start_ms + 10_000)
    assert play.state() == "Empty"


def test_leader_is_told_of_the_generation_last() -> None:
    """So that its followers, who have less to do, send SyncGroup before it can do more than that."""
    play = GroupPlaybook()
    play.stable("a", "b", "c")
    tickets = {who: play.join(who[0], who) for who in ("a-1", "c-3", "b-2")}

    assert list(play.answers)[-3:] == [tickets["b-2"], tickets["c-3"], tickets["a-1"]]
