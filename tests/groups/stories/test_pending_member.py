"""Story: a member is given its id first, and joins with it, or does not (KIP-394)."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_member_joins_with_the_id_it_was_given() -> None:
    """MEMBER_ID_REQUIRED carries a new id, made of the client id and a UUID."""
    play = GroupPlaybook()
    refused = play.joined(play.join("a", member_id_required=True))
    assert (refused.error_code, refused.member_id) == (ErrorCode.MEMBER_ID_REQUIRED, "a-1")

    ticket = play.join("a", refused.member_id, member_id_required=True)
    play.at(3_000)
    assert play.joined(ticket).member_id == "a-1"
    assert play.joined(ticket).leader == "a-1"


def test_pending_member_expires_at_its_session_timeout() -> None:
    """Kafka: an id that nobody joins with is forgotten, and then unknown."""
    play = GroupPlaybook()
    play.join("a", member_id_required=True, session_ms=10_000)
    play.at(10_000)

    late = play.join("a", "a-1", member_id_required=True)
    assert play.joined(late).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_rebalance_waits_for_a_pending_member() -> None:
    """Kafka: a pending member counts as one who has not joined, until it expires."""
    play = GroupPlaybook()
    play.stable("a", session_ms=300_000)
    play.join("b", member_id_required=True, session_ms=10_000)
    ticket = play.join("a", "a-1", session_ms=300_000)
    start_ms = play.now_ms
    play.at(start_ms + 9_999)
    assert ticket in play.waiting

    play.at(start_ms + 10_000)
    assert play.joined(ticket).generation_id == 2


def test_pending_member_may_leave() -> None:
    """Kafka: LeaveGroup takes a pending member out; what waited for it goes on."""
    play = GroupPlaybook()
    play.stable("a", session_ms=300_000)
    pending = play.joined(play.join("b", member_id_required=True)).member_id
    ticket = play.join("a", "a-1", session_ms=300_000)
    assert ticket in play.waiting
    gone = play.leave((pending, None))

    assert play.left(gone) == [ErrorCode.NONE]
    assert play.joined(ticket).generation_id == 2


def test_pending_id_is_not_for_static_members() -> None:
    """Kafka fails a JoinGroup that gives an instance id with the id of a pending member."""
    play = GroupPlaybook()
    pending = play.joined(play.join("a", member_id_required=True)).member_id
    ticket = play.join("a", pending, instance="i")

    assert play.joined(ticket).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
