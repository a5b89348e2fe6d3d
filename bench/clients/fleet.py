"""Programs of one stock client that work together, as many as wanted, behind one gate.

Called by `throughput`.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
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


IN_ONE_PROCESS = "perf-test"
"""Java is warm only after gigabytes, eight Java machines would never be: its clients are threads of one."""


class Fleet:
    """Programs of one client. Records to be sent are divided among them; each reads all there is to read."""

    def __init__(self, client: str, size: int) -> None:
        self.client = client
        self._programs = [Program(CLIENTS[client]) for _ in range(1 if client == IN_ONE_PROCESS else size)]

    def run(self, work: Work, clients: int, cpu_seconds: Callable[[], float]) -> tuple[Outcome, float]:
        """Let so many clients do the work together.

        Gives all their records, the slowest one's time, and what they and the broker used of processors.
        """
        if work.verb == "produce":
            work = dataclasses.replace(work, records=work.records // clients)
        programs = self._programs[:clients]
        work = dataclasses.replace(work, together=clients // len(programs))
        for program in programs:
            program.prepare(work)
        for program in programs:
            program.wait_until_ready()
        before = cpu_seconds()
        for program in programs:
            program.go()
        outcomes = [Outcome(**json.loads(program.outcome())) for program in programs]
        return _all_together(outcomes), cpu_seconds() - before

    def close(self) -> None:
        for program in self._programs:
            program.stop()


def _all_together(outcomes: Sequence[Outcome]) -> Outcome:
    return Outcome(
        records=sum(outcome.records for outcome in outcomes),
        seconds=max(outcome.seconds for outcome in outcomes),
        cpu_seconds=sum(outcome.cpu_seconds for outcome in outcomes),
        busiest_seconds=max(outcome.busiest_seconds for outcome in outcomes),
    )


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
