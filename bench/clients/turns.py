"""A broker that has its turns with the stock clients, and what a turn gives. Called by `throughput`."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from instrument.processes import PROCESSORS
from rivals import RIVALS, RunningBroker

from clients.fleet import Fleet
from clients.leaders import wait_for_leaders
from clients.work import SILENT, Work

MOST_RECORDS: Mapping[str, Mapping[str, int]] = {
    "produce": {"perf-test": 400_000, "confluent-kafka": 350_000, "kafka-python": 5_000, "aiokafka": 10_000},
    "consume": {"perf-test": 700_000, "confluent-kafka": 350_000, "kafka-python": 25_000, "aiokafka": 50_000},
}
MOST_BYTES: Mapping[str, Mapping[str, float]] = {
    "produce": {"perf-test": 160e6, "confluent-kafka": 300e6, "kafka-python": 10e6, "aiokafka": 24e6},
    "consume": {"perf-test": 450e6, "confluent-kafka": 300e6, "kafka-python": 40e6, "aiokafka": 80e6},
}
"""Of one turn: a second of the client's time or less. A client may read what others have written before."""
MANY = 8
_ADMIN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Point:
    """What is asked of the clients."""

    name: str
    record_bytes: int = 1024
    partitions: int = 1
    acks: str = "all"
    compression: str = "none"
    clients: int = 1

    def records(self, client: str, verb: str, share: float) -> int:
        """How many records the clients write or read in a turn, all together."""
        most = min(MOST_RECORDS[verb][client], MOST_BYTES[verb][client] / self.record_bytes)
        return max(1, int(most * share) // MANY) * MANY


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn gave; a GB has 1e9 bytes of records' values."""

    records_a_second: float
    mb_a_second: float
    cpu_seconds_a_gb: float
    """The broker's."""
    seconds_a_gb: float
    client_seconds_a_gb: float
    """Processor time of the clients."""
    least_seconds_a_gb: float
    """What the clients would need if they never waited for a broker, and it used no processor: the time of
    the busiest thread, or of all on all processors."""


class Side:
    """A broker that has its turns."""

    def __init__(self, broker: RunningBroker) -> None:
        self.broker = broker
        self.name = broker.name
        self.lacks = RIVALS[broker.name].lacks
        self._admin = AdminClient({"bootstrap.servers": broker.bootstrap, **SILENT})

    @contextmanager
    def topic(self, name: str, partitions: int) -> Iterator[None]:
        """A topic that is there for the length of the block."""
        if "topics" in self.lacks:
            yield
            return
        _wait(self._admin.create_topics([NewTopic(name, partitions, 1)]))
        wait_for_leaders(self.broker.bootstrap, name, partitions)
        yield
        _wait(self._admin.delete_topics([name]))

    def turn(self, fleet: Fleet, point: Point, verb: str, topic: str, *, share: float = 1.0) -> Turn:
        """Let a client write what a turn has, or read that much; several readers read a part of it each."""
        records = point.records(fleet.client, verb, share)
        work = Work(
            verb=verb,
            bootstrap=self.broker.bootstrap,
            topic=topic,
            records=records // point.clients if verb == "consume" else records,
            record_bytes=point.record_bytes,
            partitions=point.partitions,
            acks=point.acks,
            compression=point.compression,
        )
        outcome, used = fleet.run(work, point.clients, self.broker.cpu_seconds)
        moved_gb = outcome.records * point.record_bytes / 1e9
        least_seconds = max(outcome.busiest_seconds, outcome.cpu_seconds / len(PROCESSORS))
        return Turn(
            records_a_second=outcome.records / outcome.seconds,
            mb_a_second=moved_gb * 1e3 / outcome.seconds,
            cpu_seconds_a_gb=used / moved_gb,
            seconds_a_gb=outcome.seconds / moved_gb,
            client_seconds_a_gb=outcome.cpu_seconds / moved_gb,
            least_seconds_a_gb=least_seconds / moved_gb,
        )


def _wait(answers: "Mapping[str, Future[None]]") -> None:
    for answer in answers.values():
        answer.result(_ADMIN_SECONDS)
