"""A non-blocking socket: receive into a buffer, send buffers and slices of files.

Called by `server.connection`. With `server.listener`, the only code that touches a socket.

The socket is tried first and waited for only when it would block, so that a request and its
answer cost no turn of the scheduler; after some turns without a wait the scheduler gets its turn
all the same, so that one busy peer starves no other.

Source: sendfile(2), and the use the 2011 Kafka paper makes of it.
"""

import contextlib
import errno
import os
import socket
from collections.abc import Iterator, Sequence, Sized
from typing import Protocol, runtime_checkable

import trio

_TURNS_WITHOUT_WAIT = 32
_BUFFERS_A_CALL = 64
_MORE = getattr(socket, "MSG_MORE", 0)

Buffer = bytes | bytearray | memoryview


@runtime_checkable
class FileRegion(Protocol):
    """A stretch of an open file."""

    position: int

    def __len__(self) -> int: ...
    def fileno(self) -> int: ...


class SocketTransport:
    """One connection's socket, made non-blocking by the listener that accepted it."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._turns = 0

    async def receive_into(self, space: memoryview) -> int:
        """Receive what has come, at least a byte; 0 when the peer has closed."""
        while True:
            try:
                count = self._socket.recv_into(space)
            except BlockingIOError:
                self._turns = 0
                await trio.lowlevel.wait_readable(self._socket)
                continue
            await self.give_way()
            return count

    async def give_way(self) -> None:
        """Let other tasks run, now and then. Called for each request and each receive."""
        self._turns += 1
        if self._turns >= _TURNS_WITHOUT_WAIT:
            self._turns = 0
            await trio.lowlevel.checkpoint()

    async def send(self, parts: Sequence[Sized]) -> None:
        """Send all of `parts` in order."""
        for buffers, region in _runs(parts):
            if buffers:
                await self._send_buffers(buffers, more=region is not None)
            if region is not None:
                await self._send_file(region)

    def stop_receiving(self) -> None:
        """Let `receive_into` give what has come, then 0, as if the peer had closed."""
        with contextlib.suppress(OSError):  # the peer may be gone already
            self._socket.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()

    async def _send_buffers(self, buffers: list[Buffer], *, more: bool) -> None:
        flags = _MORE if more else 0
        while buffers:
            try:
                if len(buffers) == 1:
                    sent = self._socket.send(buffers[0], flags)
                else:
                    sent = self._socket.sendmsg(buffers[:_BUFFERS_A_CALL], (), flags)
            except BlockingIOError:
                self._turns = 0
                await trio.lowlevel.wait_writable(self._socket)
                continue
            buffers = _behind(buffers, sent)

    async def _send_file(self, region: FileRegion) -> None:
        position, left = region.position, len(region)
        while left:
            try:
                sent = os.sendfile(self._socket.fileno(), region.fileno(), position, left)
            except BlockingIOError:
                self._turns = 0
                await trio.lowlevel.wait_writable(self._socket)
                continue
            if sent == 0:
                raise OSError(
                    errno.EIO, f"a file ended {left} bytes before the records that were promised from it"
                )
            position += sent
            left -= sent


def _runs(parts: Sequence[Sized]) -> Iterator[tuple[list[Buffer], FileRegion | None]]:
    """Cut `parts` behind each file region.

    Empty parts are passed over: the system would hold back what was sent before one as if more came.
    """
    buffers: list[Buffer] = []
    for part in filter(len, parts):
        if isinstance(part, (bytes, bytearray, memoryview)):
            buffers.append(part)
        elif isinstance(part, FileRegion):
            yield buffers, part
            buffers = []
        else:
            raise TypeError(f"neither bytes nor a stretch of a file: {part!r}")
    if buffers:
        yield buffers, None


def _behind(buffers: list[Buffer], sent: int) -> list[Buffer]:
    """What is left of `buffers` after `sent` bytes."""
    for index, buffer in enumerate(buffers):
        if sent < len(buffer):
            return [memoryview(buffer)[sent:], *buffers[index + 1 :]]
        sent -= len(buffer)
    return []
