"""Programs of one stock client that work together, as many as wanted, behind one gate.

Called by `throughput`.
"""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from clients.work import GO, READY, Outcome, Work

_BENCH = Path(__file__).resolve().parents[1]
CLIENTS = {
    "perf-test": "by_perf_test",
    "confluent-kafka": "by_confluent",
    "kafka-python": "by_kafka_python",
    "aiokafka": "by_aiokafka",
}
"""The module of each client's program."""


class Program:
    """One process of a client's program."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"clients.{CLIENTS[client]}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_BENCH,
            env={**os.environ, "PYTHONPATH": str(_BENCH.parent)},
        )

    def prepare(self, work: Work) -> None:
        """Send the work; it does not begin before `go`."""
        self._say(json.dumps(dataclasses.asdict(work)))

    def wait_until_ready(self) -> None:
        if (heard := self._hear()) != READY:
            raise RuntimeError(f"{self._client} says {heard!r}")

    def go(self) -> None:
        self._say(GO)

    def outcome(self) -> Outcome:
        """Wait for the end of the work."""
        return Outcome(**json.loads(self._hear()))

    def stop(self) -> None:
        self._stdin.close()
        self._process.wait()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _say(self, line: str) -> None:
        self._stdin.write(line + "\n")
        self._stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            return line.strip()
        raise RuntimeError(f"the program of {self._client} ended with status {self._process.wait()}")


class Fleet:
    """Programs of one client. Records to be sent are divided among them; each reads all there is to read."""

    def __init__(self, client: str, size: int) -> None:
        self.client = client
        self._programs = [Program(client) for _ in range(size)]

    def run(self, work: Work, clients: int) -> Outcome:
        """Let so many of the programs do the work together: all their records, and the slowest one's time."""
        programs = self._programs[:clients]
        if work.verb == "produce":
            work = dataclasses.replace(work, records=work.records // clients)
        for program in programs:
            program.prepare(work)
        for program in programs:
            program.wait_until_ready()
        for program in programs:
            program.go()
        outcomes = [program.outcome() for program in programs]
        return Outcome(
            sum(outcome.records for outcome in outcomes), max(outcome.seconds for outcome in outcomes)
        )

    def stop(self) -> None:
        for program in self._programs:
            program.stop()


@contextmanager
def fleets(size: int) -> Iterator[dict[str, Fleet]]:
    """Start the programs of all clients, `size` of each, for the length of the block."""
    started: dict[str, Fleet] = {}
    try:
        for client in CLIENTS:
            started[client] = Fleet(client, size)
        yield started
    finally:
        for fleet in started.values():
            fleet.stop()
