"""The processes of a load, and one turn of theirs against a server.

Calls `worker`, which runs in the processes. Clients have the processors that the server has not; where there
is but one, they share it.
"""

import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from types import TracebackType
from typing import Protocol, Self

from instrument.processes import PROCESSORS

from load.requests import Requests
from load.worker import Counted, Part, work

_STARTING_SECONDS = 0.02


class Server(Protocol):
    """Who is asked."""

    port: int

    def cpu_seconds(self) -> float:
        """What the thread that has the event loop has used of a processor."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn of a load came to."""

    requests_a_second: float
    processor_us_a_request: float
    """Of the server's event loop."""
    server_busy: float
    """The share of the time that the server's event loop used of its processor."""
    clients_idle: float
    """The share of the time, of all processors the clients may use, that they did not."""
    answered: int
    """With what was answered in the warm-up and behind the end."""


class LoadGenerator:
    """So many processes; a context manager that ends them."""

    def __init__(self, processes: int = 2) -> None:
        self._processors = PROCESSORS[:1] + PROCESSORS[2:] if len(PROCESSORS) > 1 else PROCESSORS
        spawning = multiprocessing.get_context("spawn")
        self._pipes: list[Pipe] = []
        self._processes = []
        for _ in range(processes):
            ours, theirs = spawning.Pipe()
            process = spawning.Process(target=work, args=(theirs, self._processors), daemon=True)
            process.start()
            self._pipes.append(ours)
            self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in self._pipes:
            pipe.send(None)
        for process in self._processes:
            process.join()

    def turn(
        self,
        server: Server,
        requests: Sequence[Requests],
        *,
        in_flight: int,
        answer_bytes: int,
        seconds: float,
        warm_up_seconds: float = 0.1,
    ) -> Turn:
        """Ask a server for some seconds over one connection for each of `requests`, shared out to all."""
        count = len(self._pipes)
        for index, pipe in enumerate(self._pipes):
            share = list(requests[index::count])
            pipe.send(Part(server.port, share, in_flight, answer_bytes, seconds))
        for pipe in self._pipes:
            pipe.recv()  # it is connected
        begin = time.perf_counter() + warm_up_seconds + _STARTING_SECONDS
        for pipe in self._pipes:
            pipe.send(begin)
        _sleep_until(begin)
        begun, used = time.perf_counter(), server.cpu_seconds()
        _sleep_until(begin + seconds)
        used, took = server.cpu_seconds() - used, time.perf_counter() - begun
        return self._added_up(used, took)

    def _added_up(self, used: float, took: float) -> Turn:
        counted = []
        for pipe in self._pipes:
            answer = pipe.recv()
            if not isinstance(answer, Counted):
                raise answer
            counted.append(answer)
        a_second = sum(part.answered / part.seconds for part in counted)
        processors = max(1, len(self._processors))
        idle = 1 - sum(part.processor_seconds / part.seconds for part in counted) / processors
        return Turn(
            requests_a_second=a_second,
            processor_us_a_request=used / took / a_second * 1e6,
            server_busy=used / took,
            clients_idle=idle,
            answered=sum(part.answered_in_all for part in counted),
        )


def _sleep_until(moment: float) -> None:
    while (left := moment - time.perf_counter()) > 0:
        time.sleep(left)
