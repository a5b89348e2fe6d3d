"""Programs of one stock client that work together, as many as wanted, behind one gate.

Called by `throughput`.
"""

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager

from clients import java
from clients.program import Program
from clients.work import Outcome, Work

CLIENTS = {
    "perf-test": "by_perf_test",
    "confluent-kafka": "by_confluent",
    "kafka-python": "by_kafka_python",
    "aiokafka": "by_aiokafka",
}
"""The module of each client's program."""


class Fleet:
    """Programs of one client. Records to be sent are divided among them; each reads all there is to read."""

    def __init__(self, client: str, size: int) -> None:
        self.client = client
        self._programs = [Program(CLIENTS[client]) for _ in range(size)]

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
        outcomes = [Outcome(**json.loads(program.outcome())) for program in programs]
        return Outcome(
            sum(outcome.records for outcome in outcomes), max(outcome.seconds for outcome in outcomes)
        )

    def close(self) -> None:
        for program in self._programs:
            program.stop()


@contextmanager
def fleets(size: int) -> Iterator[dict[str, Fleet]]:
    """Start the programs of all clients, `size` of each, for the length of the block."""
    java.compiled()  # before many need it at once
    started: dict[str, Fleet] = {}
    try:
        for client in CLIENTS:
            started[client] = Fleet(client, size)
        yield started
    finally:
        for fleet in started.values():
            fleet.close()
