"""Tests of groups/classic/rebalance.py; the stories tell the rest."""

from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing.playbook import GroupPlaybook


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


def test_rebalance_timeout_of_zero_drops_the_absent_in_the_same_moment() -> None:
    """The clock's next turn comes at once, and is over at once."""
    play = GroupPlaybook()
    first = play.join("a", instance="ia", rebalance_ms=0, session_ms=10_000)
    play.join("b", rebalance_ms=0, session_ms=10_000)
    play.at(6_000)
    assert play.joined(first).error_code == ErrorCode.NONE
    assert play.state() == "PreparingRebalance"
    play.at(60_000)

    assert play.state() == "Empty"
