"""Records sent at a fixed rate by one process and read by another one, and how long each took.

Called by `latency`; the two processes run `paced`.
"""

import dataclasses
import json
from dataclasses import dataclass

from clients.program import Program


@dataclass(frozen=True, slots=True)
class Pace:
    """What both are told, and each one's verb. A record's time counts from when it is due, sent or not."""

    bootstrap: str
    topic: str
    partitions: int
    records_a_second: int
    seconds: float
    record_bytes: int
    verb: str = ""
    """`produce` or `consume`."""

    @property
    def records(self) -> int:
        return int(self.records_a_second * self.seconds)


@dataclass(frozen=True, slots=True)
class Latencies:
    """Milliseconds of every record from when it was due: to its acknowledgement, and to its consumer."""

    acknowledged_ms: list[float]
    read_ms: list[float]


class PacedPair:
    """A producer and a consumer, confluent-kafka both, that are ready for one pace after another."""

    def __init__(self) -> None:
        self._producer, self._consumer = Program("paced"), Program("paced")

    def run(self, pace: Pace) -> Latencies:
        """Send and read at this rate for so long."""
        # The producer's first record tells the consumer that it reads from the log's end.
        for verb, program in (("produce", self._producer), ("consume", self._consumer)):
            program.prepare(dataclasses.replace(pace, verb=verb))
            program.wait_until_ready()
        self._consumer.go()
        self._producer.go()
        acknowledged, read = (json.loads(one.outcome()) for one in (self._producer, self._consumer))
        return Latencies(acknowledged, read)

    def __enter__(self) -> "PacedPair":
        return self

    def __exit__(self, *_: object) -> None:
        self._producer.stop()
        self._consumer.stop()
