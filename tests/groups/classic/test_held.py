"""Tests of groups/classic/held.py: the answer to a Heartbeat waits for news, and comes with it."""

import pytest

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import GroupConfig
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.error_codes import ErrorCode

HOLD_MS = 2_500
HOLDS = GroupConfig(group_initial_rebalance_delay_ms=0, heartbeat_hold_max_ms=HOLD_MS)


@pytest.fixture
def play() -> GroupPlaybook:
    return GroupPlaybook(HOLDS)


def request(member_id: str, generation_id: int = 1, instance: str | None = None) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id="g", generation_id=generation_id, member_id=member_id, group_instance_id=instance
    )


def beat(
    play: GroupPlaybook, member_id: str, generation_id: int = 1, *, instance: str | None = None
) -> Ticket:
    """Send a Heartbeat of a client that bears to wait."""
    ticket = play.draw()
    asked = request(member_id, generation_id, instance)
    play.run(play.shard.hold_heartbeat(asked, ticket=ticket, now_ms=play.now_ms))
    return ticket


def code(play: GroupPlaybook, ticket: Ticket) -> int | None:
    """The code that a Heartbeat was answered with; None while it waits."""
    if ticket in play.waiting:
        return None
    answer = play.answers[ticket]
    assert isinstance(answer, HeartbeatResponse)
    return answer.error_code


def test_heartbeat_without_news_is_answered_when_it_was_held_for_long_enough(play: GroupPlaybook) -> None:
    """The longest wait is a setting."""
    play.stable("a")
    ticket = beat(play, "a-1")
    play.at(play.now_ms + HOLD_MS - 1)
    assert code(play, ticket) is None
    play.at(play.now_ms + 1)

    assert code(play, ticket) == ErrorCode.NONE


def test_rebalance_answers_every_held_heartbeat_at_once(play: GroupPlaybook) -> None:
    """So a member rejoins as soon as another one comes, and not with its next heartbeat."""
    play.stable("a", "b")
    tickets = [beat(play, "a-1"), beat(play, "b-2")]
    play.join("c")

    assert [code(play, ticket) for ticket in tickets] == [ErrorCode.REBALANCE_IN_PROGRESS] * 2


def test_member_that_is_removed_is_told_by_its_held_heartbeat(play: GroupPlaybook) -> None:
    """An operator may remove a member whose client is alive and waits."""
    play.stable("a", "b")
    ticket = beat(play, "b-2")
    play.leave(("b-2", None))

    assert code(play, ticket) == ErrorCode.UNKNOWN_MEMBER_ID


def test_refused_heartbeat_is_answered_at_once(play: GroupPlaybook) -> None:
    """A refusal is news."""
    play.stable("a")

    assert code(play, beat(play, "a-1", 9)) == ErrorCode.ILLEGAL_GENERATION
    assert code(play, beat(play, "nobody")) == ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeat_is_not_held_while_the_group_rebalances(play: GroupPlaybook) -> None:
    """Only of a stable group is there no news to be expected soon."""
    play.stable("a", "b")
    play.join("c")
    assert code(play, beat(play, "a-1")) == ErrorCode.REBALANCE_IN_PROGRESS
    play.join("a", "a-1")
    play.join("b", "b-2")

    assert code(play, beat(play, "a-1", 2)) == ErrorCode.NONE


def test_static_member_is_not_kept_waiting(play: GroupPlaybook) -> None:
    """Its client sends no LeaveGroup when it closes, and would wait for the answer."""
    [member_id] = play.stable("a", instances=True)

    assert code(play, beat(play, member_id, instance="ia")) == ErrorCode.NONE


def test_member_of_kafka_streams_is_not_kept_waiting(play: GroupPlaybook) -> None:
    """It sends no LeaveGroup either."""
    play.join("a", protocols={"stream": b""})
    play.at(1)
    play.sync("a-1", 1, {"a-1": b""})
    assert play.state() == "Stable"

    assert code(play, beat(play, "a-1")) == ErrorCode.NONE


def test_none_is_held_where_the_setting_says_so() -> None:
    """0 is Kafka's way."""
    play = GroupPlaybook(GroupConfig(group_initial_rebalance_delay_ms=0))
    play.stable("a")

    assert code(play, beat(play, "a-1")) == ErrorCode.NONE


def test_heartbeat_is_held_for_a_third_of_the_session_at_most(play: GroupPlaybook) -> None:
    """However long the setting is, a member is to be heard of again in time."""
    play.stable("a", session_ms=6_000)
    ticket = beat(play, "a-1")
    play.at(play.now_ms + 1_999)
    assert code(play, ticket) is None
    play.at(play.now_ms + 1)

    assert code(play, ticket) == ErrorCode.NONE


def test_held_heartbeat_counts_as_a_sign_of_life_when_it_comes(play: GroupPlaybook) -> None:
    """A client that went silent behind an open connection loses its session as ever."""
    play.stable("a")
    play.at(play.now_ms + 9_999)
    beat(play, "a-1")
    play.at(play.now_ms + 9_999)
    assert play.state() == "Stable"
    play.at(play.now_ms + 1)

    assert play.state() == "Empty"


def test_second_heartbeat_of_a_member_answers_the_first(play: GroupPlaybook) -> None:
    """A client that reconnects waits on its new connection only."""
    play.stable("a")
    first = beat(play, "a-1")
    second = beat(play, "a-1")

    assert code(play, first) == ErrorCode.NONE
    assert code(play, second) is None


def test_client_with_more_to_say_has_its_answer(play: GroupPlaybook) -> None:
    """Requests of a connection are answered in order: what came behind must not wait."""
    play.stable("a")
    ticket = beat(play, "a-1")
    play.run(play.shard.release_heartbeat(request("a-1"), now_ms=play.now_ms))

    assert code(play, ticket) == ErrorCode.NONE


def test_heartbeat_whose_client_hung_up_is_answered_to_nobody(play: GroupPlaybook) -> None:
    """Its member stays, until its session ends."""
    play.stable("a")
    ticket = beat(play, "a-1")
    play.shard.forget(ticket)
    play.waiting.remove(ticket)
    play.at(play.now_ms + HOLD_MS)

    assert ticket not in play.answers
    assert play.state() == "Stable"
    assert code(play, beat(play, "a-1")) is None
