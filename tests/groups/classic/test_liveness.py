"""Tests of groups/classic/liveness.py; what each state answers is in test_every_state_and_input."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_heartbeat_moves_the_session_deadline() -> None:
    """A member lives for its session time-out from its last sign."""
    play = GroupPlaybook()
    play.stable("a", session_ms=10_000)
    for _ in range(5):
        play.at(play.now_ms + 9_999)
        assert play.heartbeat("a-1", 1) is ErrorCode.NONE
    play.at(play.now_ms + 9_999)
    assert play.state() == "Stable"

    play.at(play.now_ms + 1)
    assert play.state() == "Empty"


def test_refused_heartbeat_does_not_prolong_a_session() -> None:
    """One of another generation is no sign of this member's life."""
    play = GroupPlaybook()
    play.stable("a", session_ms=10_000)
    play.at(play.now_ms + 9_999)
    assert play.heartbeat("a-1", 9) is ErrorCode.ILLEGAL_GENERATION
    play.at(play.now_ms + 1)

    assert play.state() == "Empty"


def test_several_members_leave_in_one_request() -> None:
    """Each with its own code; then the group rebalances once."""
    play = GroupPlaybook()
    play.stable("a", "b", "c")
    ticket = play.leave(("a-1", None), ("nobody", None), ("b-2", None))

    assert play.left(ticket) == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE]
    assert play.state() == "PreparingRebalance"
    assert play.joined(play.join("c", "c-3")).leader == "c-3"


def test_last_leaver_completes_a_rebalance_that_waited_for_it() -> None:
    """Whoever is there has joined, so the generation starts."""
    play = GroupPlaybook()
    play.stable("a", "b")
    ticket = play.join("a", "a-1")
    assert ticket in play.waiting
    play.leave(("b-2", None))

    assert play.joined(ticket).generation_id == 2


def test_leaving_does_not_cut_the_initial_delay_short() -> None:
    """Kafka: an initial rebalance waits its delay out, whoever goes."""
    play = GroupPlaybook()
    play.join("a", instance="ia")
    ticket = play.join("b", instance="ib")
    play.leave(("", "ia"))
    assert ticket in play.waiting
    play.at(6_000)

    assert play.joined(ticket).generation_id == 1


def test_leave_of_no_members_does_nothing() -> None:
    """An empty list is answered with an empty list."""
    play = GroupPlaybook()
    play.stable("a")

    assert play.left(play.leave()) == []
    assert play.state() == "Stable"
