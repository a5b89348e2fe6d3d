"""One process of the load: its connections, each with so many requests in flight.

`work` is what a process does: it takes a `Part` from its pipe, plays it, and gives back what it `Counted`.
A connection sends a new request for each answer, as soon as it sees it. What counts is what was answered
between two moments that all processes and whoever watches the server agree on.
"""

import os
import select
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe

from load.requests import Requests

_SPACE_BYTES = 4 * 1024 * 1024
_READ_BYTES = 64 * 1024
"""What is read at a time. Of an answer that has more than this left, the rest is thrown away unread."""
_LENGTH_BYTES = 4
_PATIENCE_SECONDS = 10.0
_THROW_AWAY = getattr(socket, "MSG_TRUNC", 0)
"""TCP then drops what has come instead of copying it (tcp(7)); elsewhere it is copied."""
_READ, _WRITE = select.EPOLLIN, select.EPOLLOUT


@dataclass(frozen=True, slots=True)
class Part:
    """A process's share of a turn."""

    port: int
    requests: Sequence[Requests]
    """One for each connection."""
    in_flight: int
    answer_bytes: int
    """How long each answer is with its length in front: one of another length is a refusal."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Counted:
    """What a process saw between the two moments, and what it used of a processor meanwhile."""

    answered: int
    answered_in_all: int
    """With what was answered before and after."""
    seconds: float
    processor_seconds: float


class Refused(Exception):
    """An answer was not as long as the one that was looked at."""


class _Connection:
    def __init__(self, part: Part, requests: Requests) -> None:
        self.socket = socket.create_connection(("127.0.0.1", part.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.in_flight = self.answered = 0
        self._requests = requests
        self._most, self._answer_bytes = part.in_flight, part.answer_bytes
        self._out = memoryview(b"")
        self._begun = b""
        self._left = 0
        """Bytes of the present answer that are still to come, from its first on."""

    def send(self) -> bool:
        """Fill up what is in flight; give whether the socket would take no more."""
        if not self._out and self.in_flight < self._most:
            count = self._most - self.in_flight
            self._out = memoryview(self._requests.take(count))
            self.in_flight += count
        return self.send_rest()

    def send_rest(self) -> bool:
        try:
            while self._out:
                self._out = self._out[self.socket.send(self._out) :]
        except BlockingIOError:
            return True
        return False

    def receive(self, space: memoryview) -> None:
        """Count the answers that have come; Refused for one of another length."""
        if self._left > _READ_BYTES:
            most = min(self._left, len(space))
            self._left -= self._arrived(self.socket.recv_into(space, most, _THROW_AWAY))
            if not self._left:
                self._end_of_answer()
            return
        count = self._arrived(self.socket.recv_into(space, _READ_BYTES))
        self._look_at(space[:count])

    def _look_at(self, data: memoryview) -> None:
        position = 0
        if self._left:
            position = min(self._left, len(data))
            self._left -= position
            if not self._left:
                self._end_of_answer()
        data = memoryview(self._begun + data[position:]) if self._begun else data[position:]
        self._begun = b""
        while len(data) >= _LENGTH_BYTES:
            length = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
            if length != self._answer_bytes:
                raise Refused(f"an answer of {length} bytes instead of {self._answer_bytes}")
            if length > len(data):
                self._left = length - len(data)
                return
            data = data[length:]
            self._end_of_answer()
        self._begun = bytes(data)

    def _end_of_answer(self) -> None:
        self.answered += 1
        self.in_flight -= 1

    @staticmethod
    def _arrived(count: int) -> int:
        if not count:
            raise ConnectionError("the server hung up")
        return count


def work(pipe: Pipe, processors: Sequence[int]) -> None:
    """Play parts until there is None; for each say ready, wait for the moment to begin, give `Counted`."""
    if processors:
        os.sched_setaffinity(0, processors)
    while (part := pipe.recv()) is not None:
        connections = [_Connection(part, requests) for requests in part.requests]
        pipe.send(None)
        begin = pipe.recv()
        try:
            pipe.send(_play(connections, begin, begin + part.seconds))
        except (OSError, Refused) as error:
            pipe.send(error)
        for connection in connections:
            connection.socket.close()


def _play(connections: Sequence[_Connection], begin: float, end: float) -> Counted:
    """Send from now on, count from `begin` to `end`, then take what is still to come."""
    space = memoryview(bytearray(_SPACE_BYTES))
    loop = _Loop(connections, space)
    loop.run_until(begin)
    before = loop.answered(), time.perf_counter(), time.process_time()
    loop.run_until(end)
    after = loop.answered(), time.perf_counter(), time.process_time()
    loop.finish(time.perf_counter() + _PATIENCE_SECONDS)
    loop.close()
    return Counted(
        answered=after[0] - before[0],
        answered_in_all=loop.answered(),
        seconds=after[1] - before[1],
        processor_seconds=after[2] - before[2],
    )


class _Loop:
    def __init__(self, connections: Sequence[_Connection], space: memoryview) -> None:
        self._connections = {connection.socket.fileno(): connection for connection in connections}
        self._space = space
        self._blocked: set[int] = set()
        self._poll = select.epoll()
        for file in self._connections:
            self._poll.register(file, _READ)

    def answered(self) -> int:
        return sum(connection.answered for connection in self._connections.values())

    def run_until(self, moment: float) -> None:
        for file, connection in self._connections.items():
            self._heed(file, connection.send())
        while (left := moment - time.perf_counter()) > 0:
            for file, events in self._poll.poll(left):
                connection = self._connections[file]
                if events & ~_WRITE:
                    connection.receive(self._space)
                self._heed(file, connection.send())

    def finish(self, patience: float) -> None:
        """Send no new request; wait until every answer is there."""
        while any(connection.in_flight for connection in self._connections.values()):
            if time.perf_counter() > patience:
                raise ConnectionError("answers did not come")
            for file, events in self._poll.poll(1):
                connection = self._connections[file]
                if events & ~_WRITE:
                    connection.receive(self._space)
                self._heed(file, connection.send_rest())

    def close(self) -> None:
        self._poll.close()

    def _heed(self, file: int, is_blocked: bool) -> None:
        """Wait for room in the socket as long as it has none."""
        if is_blocked == (file in self._blocked):
            return
        self._poll.modify(file, _READ | _WRITE if is_blocked else _READ)
        self._blocked.symmetric_difference_update({file})
