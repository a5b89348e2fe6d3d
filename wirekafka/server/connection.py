"""One client connection: receive, answer in order, send.

Requests of a connection are answered one after the other, as Kafka does, so responses go out in
request order by construction. Answers gather while whole requests are at hand and leave in one
send; a request that may wait (a long poll, a rebalance), and cannot be answered at once, first lets
out what has gathered, and one that took a while (its records had to be flushed) lets out its answer
before the next is begun, which will take as long. What is said over and over is answered without
being parsed (`handlers.repeated`). A peer that reads slowly blocks its own connection and nothing
else.

Called by `server.listener`; calls `protocol.connection` for bytes and `server.dispatch` for answers.
Source: Kafka's Processor and RequestChannel (one request in flight a connection).
"""

import errno
from collections.abc import Sequence, Sized
from functools import partial

import trio

from wirekafka.handlers import NOT_AT_ONCE, ClientConnection, CloseConnection, Later, Repeated, Waiting
from wirekafka.observability import get_logger
from wirekafka.protocol.connection import ReceivedRequest, ServerConnection
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.framing import FrameBuffer
from wirekafka.server.dispatch import answer, answer_now, answer_repeated, finish, may_wait
from wirekafka.server.transport import SocketTransport

logger = get_logger("server")

_GATHERED_BYTES = 256 * 1024
"""Answers of this size together are sent even while more requests are at hand."""
_WHILE_SECONDS = 0.0002
"""An answer that took longer is sent at once. A flush takes longer, a batch into the page cache does not."""


async def serve_connection(
    transport: SocketTransport, client: ClientConnection, max_request_bytes: int
) -> None:
    """Serve one peer until it closes, breaks the protocol or is cancelled."""
    connection, repeated = ServerConnection(max_request_bytes), Repeated(client)
    frames = connection.frames
    client.acquaintance.more_is_said = partial(_more_is_said, transport, frames)
    try:
        while count := await transport.receive_into(frames.space()):
            frames.received(count)
            await _answer_received(transport, connection, repeated, client)
        if frames.holds_part:
            logger.info("%s closed in the middle of a request", client.peer)
    except (MalformedMessage, CloseConnection) as error:
        logger.info("closed %s: %s", client.peer, error)
    except OSError as error:
        if error.errno == errno.EIO:  # of the file that was being sent; a socket has no such error
            logger.error("records could not be read for %s: %s", client.peer, error)
        else:
            logger.debug("lost %s: %s", client.peer, error)
    finally:
        transport.close()


async def _more_is_said(transport: SocketTransport, frames: FrameBuffer) -> None:
    """Wait until the peer, whose request is being answered, says more or hangs up."""
    if not frames.holds_part:
        await transport.wait_readable()


async def _answer_received(
    transport: SocketTransport,
    connection: ServerConnection,
    repeated: Repeated,
    client: ClientConnection,
) -> None:
    """Answer every whole request at hand; what was answered is sent even if a later one is broken."""
    gathered, frames = _Gathered(transport), connection.frames
    try:
        while frames.holds_part:
            begun = trio.current_time()
            count, parts = answer_repeated(repeated, frames, client)
            if count:
                if isinstance(parts, Waiting):
                    await gathered.send()
                    parts = await finish(parts.request, client, parts.later) or ()
                gathered.add(parts)
                if gathered.is_due(begun):
                    await gathered.send()
                if transport.turns_are_over(count):
                    await transport.give_way()
                continue
            request = connection.next_request()
            if request is None:
                break
            await _answer_one(request, client, gathered)
            repeated.learn(request)
            if transport.turns_are_over():
                await transport.give_way()
    except (MalformedMessage, CloseConnection):
        await gathered.send()
        raise
    await gathered.send()


async def _answer_one(request: ReceivedRequest, client: ClientConnection, gathered: "_Gathered") -> None:
    """Answer one request; what has gathered goes out before if it may take long, and after if it did."""
    begun = trio.current_time()
    parts = answer_now(request, client)
    if parts is NOT_AT_ONCE:
        if may_wait(request, client):
            await gathered.send()
        parts = await answer(request, client)
    elif isinstance(parts, Later):
        await gathered.send()
        parts = await finish(request, client, parts)
    if parts is not None:
        gathered.add(parts)
    if gathered.is_due(begun):
        await gathered.send()


class _Gathered:
    """Answers that wait to be sent together."""

    def __init__(self, transport: SocketTransport) -> None:
        self._transport = transport
        self._parts: list[Sized] = []
        self.size_bytes = 0

    def add(self, parts: Sequence[Sized]) -> None:
        self._parts += parts
        self.size_bytes += sum(map(len, parts))

    def is_due(self, begun: float) -> bool:
        """Whether there is much, or the last answer, begun at that time by trio's clock, took a while."""
        return self.size_bytes > _GATHERED_BYTES or trio.current_time() - begun > _WHILE_SECONDS

    async def send(self) -> None:
        if self._parts:
            parts, self._parts, self.size_bytes = self._parts, [], 0
            await self._transport.send(parts)
