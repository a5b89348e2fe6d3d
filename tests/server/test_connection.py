"""Tests of server/connection.py: a scripted transport, and handlers made for the test.

Where it matters which answers go out together the clock stands still: one slow by chance would go alone.
"""

import dataclasses
import logging
from collections.abc import Sequence, Sized
from typing import Any, cast

import pytest
import trio
import trio.testing

from tests.support.raw_client import RawClient, framed, parse_response, request_frame
from tests.support.requests import PRODUCE_VERSION, batch_of, create_topic, produce_request
from wirekafka.broker import Broker
from wirekafka.handlers import HANDLERS, ClientConnection, CloseConnection, Endpoint, Later, RequestContext
from wirekafka.handlers.registry import always, never
from wirekafka.protocol.apis.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.apis.list_groups import (
    LIST_GROUPS,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from wirekafka.protocol.apis.produce import PRODUCE
from wirekafka.server import dispatch
from wirekafka.server.connection import serve_connection
from wirekafka.server.transport import SocketTransport

MAX_REQUEST_BYTES = 1 << 20
LARGE_BYTES = 100_000


class ScriptedTransport(SocketTransport):
    """Receives what the script says, then the end; keeps what is sent, a list a call."""

    def __init__(self, *script: bytes | OSError) -> None:
        self._turns = 0
        self.script = list(script)
        self.sends: list[bytes] = []
        self.is_closed = False

    async def receive_into(self, space: memoryview) -> int:
        if not self.script:
            return 0
        piece = self.script.pop(0)
        if isinstance(piece, OSError):
            raise piece
        count = min(len(piece), len(space))
        space[:count] = piece[:count]
        if count < len(piece):
            self.script.insert(0, piece[count:])
        return count

    async def send(self, parts: Sequence[Sized]) -> None:
        self.sends.append(b"".join(cast(Sequence[bytes], parts)))

    def close(self) -> None:
        self.is_closed = True

    def answered(self) -> list[list[int]]:
        """The correlation ids in each send."""
        return [[int.from_bytes(frame[:4], "big") for frame in frames_of(sent)] for sent in self.sends]


def frames_of(data: bytes) -> list[bytes]:
    frames = []
    while data:
        end = 4 + int.from_bytes(data[:4], "big")
        frames.append(data[4:end])
        data = data[end:]
    return frames


def heartbeat(correlation_id: int, generation_id: int = 0) -> bytes:
    """A request that the handler below answers with its generation as throttle time."""
    message = HeartbeatRequest(group_id="g", generation_id=generation_id, member_id="m")
    return request_frame(message, 4, correlation_id=correlation_id)


def large(correlation_id: int) -> bytes:
    """A request that the handler below answers with LARGE_BYTES."""
    return request_frame(ListGroupsRequest(), 5, correlation_id=correlation_id)


async def answer_heartbeat(request: HeartbeatRequest, context: RequestContext) -> HeartbeatResponse | None:
    if request.generation_id == -1:
        return None
    if request.generation_id == -2:
        raise CloseConnection("asked to")
    return HeartbeatResponse(throttle_time_ms=request.generation_id, error_code=0)


async def answer_large(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    groups = [ListedGroup(group_id="x" * 10_000, protocol_type="") for _ in range(LARGE_BYTES // 10_000)]
    return ListGroupsResponse(error_code=0, groups=groups)


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> dict[int, Any]:
    """A table of two handlers, in place of the broker's."""
    table: dict[int, Any] = {
        12: dataclasses.replace(HANDLERS[12], function=answer_heartbeat, may_wait=never),
        16: dataclasses.replace(HANDLERS[16], function=answer_large),
    }
    monkeypatch.setattr(dispatch, "HANDLERS", table)
    return table


def a_client() -> ClientConnection:
    return ClientConnection(
        broker=cast(Broker, None),
        peer="127.0.0.1:1000",
        client_host="/127.0.0.1",
        endpoint=Endpoint("127.0.0.1", 9092),
        advertised={},
    )


async def serve(*script: bytes | OSError) -> ScriptedTransport:
    transport = ScriptedTransport(*script)
    await serve_connection(transport, a_client(), MAX_REQUEST_BYTES)
    assert transport.is_closed
    return transport


async def test_requests_of_one_receive_are_answered_in_order_and_in_one_send(
    mock_clock: trio.testing.MockClock,
) -> None:
    """Answers to what came together go out together: a system call for fifty answers."""
    transport = await serve(b"".join(heartbeat(n, 50 - n) for n in range(50)))

    assert transport.answered() == [list(range(50))]
    answers = [parse_response(HEARTBEAT, 4, frame) for frame in frames_of(transport.sends[0])]
    assert [(n, answer.throttle_time_ms) for n, answer in answers] == [(n, 50 - n) for n in range(50)]


async def test_requests_of_two_receives_are_answered_in_two_sends() -> None:
    """Nothing at hand waits for what has not come."""
    transport = await serve(heartbeat(1), heartbeat(2) + heartbeat(3)[:7], heartbeat(3)[7:])

    assert transport.answered() == [[1], [2], [3]]


async def test_large_answers_go_out_while_more_requests_are_at_hand(
    mock_clock: trio.testing.MockClock,
) -> None:
    """Memory for answers is bounded by 256 KiB and one answer, however many are asked for."""
    transport = await serve(b"".join(large(n) for n in range(10)))

    assert transport.answered() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    assert parse_response(LIST_GROUPS, 5, frames_of(transport.sends[3])[0])[0] == 9


async def test_a_request_that_may_wait_lets_out_what_was_answered_before_it(
    handlers: dict[int, Any], mock_clock: trio.testing.MockClock
) -> None:
    """A long poll holds up its own answer and those behind it, and none before it."""
    bell = trio.Event()

    async def answer_later(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
        await bell.wait()
        return ListGroupsResponse(error_code=0, groups=[])

    handlers[16] = dataclasses.replace(HANDLERS[16], function=answer_later, may_wait=always)
    transport = ScriptedTransport(heartbeat(1) + heartbeat(2) + large(3) + heartbeat(4))
    client = a_client()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_connection, transport, client, MAX_REQUEST_BYTES)
        await trio.testing.wait_all_tasks_blocked()
        while_waiting = transport.answered()
        bell.set()

    assert while_waiting == [[1, 2]]
    assert transport.answered() == [[1, 2], [3, 4]]


async def test_a_request_answered_at_once_lets_nothing_out_before_it(
    handlers: dict[int, Any], mock_clock: trio.testing.MockClock
) -> None:
    """A fetch that finds its records waits for nobody."""
    answer = ListGroupsResponse(error_code=0, groups=[])
    handlers[16] = dataclasses.replace(HANDLERS[16], may_wait=always, at_once=lambda request, context: answer)
    transport = await serve(heartbeat(1) + large(2) + heartbeat(3))

    assert transport.answered() == [[1, 2, 3]]


async def test_what_was_begun_at_once_and_has_to_wait_lets_out_what_was_answered_before_it(
    handlers: dict[int, Any], mock_clock: trio.testing.MockClock
) -> None:
    """A fetch that finds nothing has begun, and waits for records as any other."""
    bell = trio.Event()

    async def rest() -> ListGroupsResponse:
        await bell.wait()
        return ListGroupsResponse(error_code=0, groups=[])

    handlers[16] = dataclasses.replace(HANDLERS[16], at_once=lambda request, context: Later(rest))
    transport = ScriptedTransport(heartbeat(1) + large(2) + heartbeat(3))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_connection, transport, a_client(), MAX_REQUEST_BYTES)
        await trio.testing.wait_all_tasks_blocked()
        while_waiting = transport.answered()
        bell.set()

    assert while_waiting == [[1]]
    assert transport.answered() == [[1], [2, 3]]


async def test_an_answer_that_took_a_while_goes_out_before_the_next_request_is_begun(
    handlers: dict[int, Any], mock_clock: trio.testing.MockClock
) -> None:
    """Of five batches on the way, each acknowledged by a flush of its own, none waits for the next one's."""

    async def answer_after_a_flush(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
        mock_clock.jump(0.001)
        return ListGroupsResponse(error_code=0, groups=[])

    handlers[16] = dataclasses.replace(HANDLERS[16], function=answer_after_a_flush)
    transport = await serve(heartbeat(1) + large(2) + large(3) + heartbeat(4) + heartbeat(5))

    assert transport.answered() == [[1, 2], [3], [4, 5]]


def test_repeated_requests_are_answered_in_order_with_others_between_them(
    raw: RawClient, handlers: dict[int, Any]
) -> None:
    """Whether they are answered together or one by one, the answers come as they were asked for."""
    handlers.update(HANDLERS)
    create_topic(raw, "repeated")
    one, other = batch_of(b"x"), batch_of(b"x", b"y")
    sent = [
        request_frame(message, version, correlation_id=number)
        for number, (message, version) in enumerate(
            [
                (produce_request("repeated", one), PRODUCE_VERSION),
                (produce_request("repeated", one), PRODUCE_VERSION),
                (produce_request("repeated", other), PRODUCE_VERSION),
                (produce_request("nowhere", one), PRODUCE_VERSION),
                (produce_request("repeated", one), PRODUCE_VERSION),
                (produce_request("repeated", one), PRODUCE_VERSION),
            ]
        )
    ]
    raw.send(b"".join(sent))

    answers = [parse_response(PRODUCE, PRODUCE_VERSION, raw.receive_frame()) for _ in sent]
    assert [correlation_id for correlation_id, _ in answers] == list(range(6))
    partitions = [answer.responses[0].partition_responses[0] for _, answer in answers]
    assert [(each.error_code, each.base_offset) for each in partitions] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (3, -1),
        (0, 4),
        (0, 5),
    ]


async def test_a_request_without_answer_is_passed_over() -> None:
    """acks=0: the answer to the next request is the next thing the peer gets."""
    transport = await serve(heartbeat(1, -1) + heartbeat(2), heartbeat(3, -1))

    assert transport.answered() == [[2]]


async def test_answers_before_a_broken_request_are_sent_and_nothing_behind_it_is_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The peer learns what became of what it asked rightly; the log says what was wrong."""
    with caplog.at_level(logging.INFO):
        transport = await serve(heartbeat(1) + framed(b"\x27\x0f\0\0") + heartbeat(2), heartbeat(3))

    assert transport.answered() == [[1]]
    assert "closed 127.0.0.1:1000: request key 9999 (version 0) is not known here" in caplog.text


async def test_answers_before_a_request_that_closes_are_sent(caplog: pytest.LogCaptureFixture) -> None:
    """What Kafka answers by closing is no reason to lose what was answered before."""
    with caplog.at_level(logging.INFO):
        transport = await serve(heartbeat(1) + heartbeat(2, -2) + heartbeat(3))

    assert transport.answered() == [[1]]
    assert "closed 127.0.0.1:1000: asked to" in caplog.text


async def test_a_peer_that_is_lost_ends_its_connection_and_no_more() -> None:
    """A reset is not an error of ours."""
    transport = await serve(heartbeat(1), ConnectionResetError("reset by peer"), heartbeat(2))

    assert transport.answered() == [[1]]


async def test_a_connection_cut_within_a_request_is_told_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Half a request tells of a client that died or of a proxy that cuts."""
    with caplog.at_level(logging.INFO):
        await serve(heartbeat(1)[:-1])
        await serve(heartbeat(1))

    assert [record.getMessage() for record in caplog.records] == [
        "127.0.0.1:1000 closed in the middle of a request"
    ]


async def test_cancelling_closes_the_socket() -> None:
    """Whatever ends the task, the descriptor goes back."""
    transport = ScriptedTransport(heartbeat(1))
    with trio.CancelScope() as scope:
        scope.cancel()
        await serve_connection(transport, a_client(), MAX_REQUEST_BYTES)
        await trio.lowlevel.checkpoint()

    assert transport.is_closed


async def test_many_requests_of_one_receive_do_not_hold_up_other_tasks() -> None:
    """A peer that pipelines thousands of requests shares the loop with the others."""
    transport = ScriptedTransport(b"".join(heartbeat(n) for n in range(2000)))
    turns: list[int] = []

    async def other() -> None:
        while not transport.is_closed:
            turns.append(len(transport.sends))
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_connection, transport, a_client(), MAX_REQUEST_BYTES)
        nursery.start_soon(other)

    assert sum(map(len, transport.answered())) == 2000
    assert len(turns) > 20


class IdleTransport(ScriptedTransport):
    """Becomes readable when the test says so."""

    def __init__(self, *script: bytes | OSError) -> None:
        super().__init__(*script)
        self.readable = trio.Event()

    async def wait_readable(self) -> None:
        await self.readable.wait()


@pytest.fixture
def holding(handlers: dict[int, Any]) -> None:
    """Heartbeats are answered when their client says more."""

    async def hold(request: HeartbeatRequest, context: RequestContext) -> HeartbeatResponse:
        await context.connection.acquaintance.more_is_said()
        return HeartbeatResponse(error_code=0)

    handlers[12] = dataclasses.replace(handlers[12], function=hold)


async def test_held_answer_goes_out_when_more_bytes_come(
    holding: None, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    """Or the peer hangs up, which makes a socket readable too."""
    transport = IdleTransport(heartbeat(1))
    nursery.start_soon(serve_connection, transport, a_client(), MAX_REQUEST_BYTES)
    await trio.testing.wait_all_tasks_blocked()
    before = transport.answered()
    transport.readable.set()
    await trio.testing.wait_all_tasks_blocked()

    assert (before, transport.answered()) == ([], [[1]])


async def test_answer_is_not_held_while_another_request_is_at_hand(holding: None) -> None:
    """What came in the same receive would otherwise wait behind it, unseen."""
    transport = IdleTransport(heartbeat(1) + large(2))
    with trio.fail_after(5):
        await serve_connection(transport, a_client(), MAX_REQUEST_BYTES)

    assert [one for sent in transport.answered() for one in sent] == [1, 2]
