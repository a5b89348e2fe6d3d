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
from collections.abc import Sequence, Sized

import trio

from wirekafka.storage import FileSlice

_TURNS_WITHOUT_WAIT = 32
_BUFFERS_A_CALL = 64
_MOST_BYTES_READ = 32 * 1024
"""A larger slice goes by sendfile: measured, reading costs less up to here and more from 64 KiB on."""
_MORE = getattr(socket, "MSG_MORE", 0)

Buffer = bytes | bytearray | memoryview


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
            if self.turns_are_over():
                await self.give_way()
            return count

    async def wait_readable(self) -> None:
        """Wait until `receive_into` would give something at once, be it the news that the peer closed."""
        await trio.lowlevel.wait_readable(self._socket)

    def turns_are_over(self, turns: int = 1) -> bool:
        """Whether it is time to give way. Asked for each receive, and for requests with their number."""
        self._turns += turns
        return self._turns >= _TURNS_WITHOUT_WAIT

    async def give_way(self) -> None:
        """Let other tasks run."""
        self._turns = 0
        await trio.lowlevel.checkpoint()

    async def send(self, parts: Sequence[Sized]) -> None:
        """Send all of `parts` in order: buffers, and slices of files.

        A large slice goes from the page cache to the socket by itself. A small one is read and goes
        with its neighbours, in one call. Empty parts are passed over: the system would hold back what
        was sent before one as if more came.
        """
        waiting: list[Buffer] = []
        for part in filter(len, parts):
            if isinstance(part, FileSlice) and len(part) > _MOST_BYTES_READ:
                await self._send_file(part, behind=waiting)
                waiting = []
                continue
            if len(waiting) == _BUFFERS_A_CALL:
                await self._send_rest(self._send_at_once(waiting, _MORE), _MORE)
                waiting = []
            waiting.append(_in_memory(part))
        if waiting and (left := self._send_at_once(waiting, 0)):
            await self._send_rest(left, 0)

    def stop_receiving(self) -> None:
        """Let `receive_into` give what has come, then 0, as if the peer had closed."""
        with contextlib.suppress(OSError):  # the peer may be gone already
            self._socket.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()

    def _send_at_once(self, buffers: list[Buffer], flags: int) -> list[Buffer]:
        """Send what the socket takes now; give what is left."""
        try:
            if len(buffers) == 1:
                sent = self._socket.send(buffers[0], flags)
            else:
                sent = self._socket.sendmsg(buffers, (), flags)
        except BlockingIOError:
            return buffers
        return _behind(buffers, sent)

    async def _send_rest(self, buffers: list[Buffer], flags: int) -> None:
        while buffers:
            self._turns = 0
            await trio.lowlevel.wait_writable(self._socket)
            buffers = self._send_at_once(buffers, flags)

    async def _send_file(self, part: FileSlice, *, behind: list[Buffer]) -> None:
        """Send what stands before a slice, and the slice."""
        if behind and (left := self._send_at_once(behind, _MORE)):
            await self._send_rest(left, _MORE)
        position, left_bytes = part.position, len(part)
        while left_bytes:
            try:
                sent = os.sendfile(self._socket.fileno(), part.fileno(), position, left_bytes)
            except BlockingIOError:
                self._turns = 0
                await trio.lowlevel.wait_writable(self._socket)
                continue
            if sent == 0:
                raise _ended_early(left_bytes)
            position += sent
            left_bytes -= sent


def _in_memory(part: Sized) -> Buffer:
    """The bytes of a part, read if it is a slice of a file."""
    if isinstance(part, (bytes, bytearray, memoryview)):
        return part
    if not isinstance(part, FileSlice):
        raise TypeError(f"neither bytes nor a slice of a file: {part!r}")
    data = part.read()
    if len(data) < len(part):
        raise _ended_early(len(part) - len(data))
    return data


def _ended_early(missing_bytes: int) -> OSError:
    return OSError(
        errno.EIO, f"a file ended {missing_bytes} bytes before the records that were promised from it"
    )


def _behind(buffers: list[Buffer], sent: int) -> list[Buffer]:
    """What is left of `buffers` after `sent` bytes."""
    for index, buffer in enumerate(buffers):
        if sent < len(buffer):
            return [memoryview(buffer)[sent:], *buffers[index + 1 :]]
        sent -= len(buffer)
    return []
