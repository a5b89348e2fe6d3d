"""What stock clients are asked to do, and all their turns. Filled by `throughput`, told by `telling`."""

from collections import defaultdict
from typing import NamedTuple

from instrument.answers import Spread
from instrument.figures import ratios

from clients.turns import MANY, Point, Turn

OURS, KAFKA = "wirekafka", "apache-kafka"
BATCHING = ("confluent-kafka", "perf-test")
"""The clients that the targets are for: the others wait for themselves."""
IN, OUT = "produce", "consume"
DIRECTIONS = {IN: "in", OUT: "out"}
BASE = Point("1 KiB, 1 partition, acks=all")
_OTHER_ACKS = Point("acks=1", acks="1")
POINTS = (
    BASE,
    Point("100 B", record_bytes=100),
    Point("16 KiB", record_bytes=16 * 1024),
    Point("16 partitions", partitions=16),
    _OTHER_ACKS,
    Point("zstd", compression="zstd"),
    Point("eight clients", clients=MANY),
)


def points(verb: str) -> list[Point]:
    """Where a direction is asked about; to a reader it is all one how records were acknowledged."""
    return [point for point in POINTS if verb == IN or point is not _OTHER_ACKS]


class Place(NamedTuple):
    """Which turns belong together."""

    point: str
    client: str
    verb: str
    broker: str


class Measured:
    """All turns that were counted, and the memory that the brokers had after each point."""

    def __init__(self) -> None:
        self.turns: dict[Place, list[Turn]] = defaultdict(list)
        self.warming: dict[tuple[str, str], list[Turn]] = defaultdict(list)
        """By broker and verb: the first turns after its start, of `perf-test` at the first point."""
        self.resident_mib: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.absent: dict[str, str] = {}

    def samples(self, place: Place, quantity: str) -> list[float]:
        """Of one of the quantities of a `Turn`, round by round."""
        return [getattr(turn, quantity) for turn in self.turns[place]]

    def spread(self, place: Place, quantity: str) -> Spread:
        return Spread(self.samples(place, quantity))

    def ratios(self, point: str, client: str, verb: str, quantity: str) -> list[float]:
        """Round by round, wirekafka's over Apache Kafka's."""
        ours, kafkas = (
            self.samples(Place(point, client, verb, broker), quantity) for broker in (OURS, KAFKA)
        )
        return ratios(ours, kafkas)

    def all_ratios(self, client: str, verb: str, quantity: str) -> list[float]:
        """The same of all points."""
        return [ratio for point in points(verb) for ratio in self.ratios(point.name, client, verb, quantity)]

    def most_left(self, point: str, client: str, verb: str) -> list[float]:
        """How many times as fast as Apache Kafka any broker could be with this client, round by round."""
        place = Place(point, client, verb, KAFKA)
        return ratios(self.samples(place, "seconds_a_gb"), self.samples(place, "least_seconds_a_gb"))

    def memory_ratios(self) -> list[float]:
        """Both brokers' memory after each point of each round."""
        pairs = [
            (self.resident_mib[point.name, OURS], self.resident_mib[point.name, KAFKA]) for point in POINTS
        ]
        return [ratio for ours, kafkas in pairs for ratio in ratios(ours, kafkas)]
