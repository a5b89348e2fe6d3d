"""How fast do stock clients write and read, and what does it cost the broker? Against Apache Kafka.

    python bench/throughput.py [--rounds N] [--quick] [--results FOLDER]

Both brokers run side by side with their defaults and have their turns one right after the other, so that a
ratio is one of two neighbours. From one point (1 KiB, one partition, acks=all, no compression, one client)
one thing at a time is changed. Clients are programs of their own (`clients`) with their defaults. Nothing is
pinned: a developer pins nothing either. Every point of every round has topics of its own, which are
deleted after it. Before anything is counted both brokers do every point once, as Java compiles what is hot.
The other rivals are started anew in each round and do the first point with confluent-kafka.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

import rivals
from clients import CLIENTS, MANY, Fleet, Point, Side, Turn, fleets
from instrument.answers import Answer, Bars, Cell, Spread, Table
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, progress, run

OURS, KAFKA = "wirekafka", "apache-kafka"
OTHERS = ("kfake", "tansu", "librdkafka-mock")
BATCHING = ("confluent-kafka", "perf-test")
"""The clients that the targets are for: the others wait for themselves."""
IN, OUT = "produce", "consume"
DIRECTIONS = {IN: "in", OUT: "out"}
SETTINGS = {"log.segment.delete.delay.ms": 100, "group.initial.rebalance.delay.ms": 0}
"""A deleted topic's bytes are gone before the disk has to take them; kafka-consumer-perf-test, which joins a
group, does not wait 3 s for others, which it would not count."""
QUICK_SHARE = 0.1
OTHERS_CLIENT = "confluent-kafka"
QUANTITIES = {"records_a_second": "records/s", "mb_a_second": "MB/s", "cpu_seconds_a_gb": "CPU-s a GB"}
TARGETS = {"records_a_second": (1.2, False), "cpu_seconds_a_gb": (0.5, True)}
"""What the ratio to Apache Kafka's must be, and whether that is the most it may be."""
PLOTS = {"mb_a_second": "throughput", "cpu_seconds_a_gb": "cpu"}
NOTES = (
    "Ratios are of two turns right after one another; the figures with targets are medians over all points "
    "and rounds. A client's rate is what it tells itself (perf-test), or all records over the time from a "
    "common start to the slowest one's last acknowledgement or record; import, connection and metadata come "
    "before that. Eight clients that read do so each for itself, the same records.",
    "CPU is the whole broker process's, Java's compiler and collector with it; a GB is 1e9 bytes of values "
    "before compression. Producers write random capitals, as kafka-producer-perf-test does. With two "
    "processors the broker has what the clients leave: a rate tells of both, CPU a GB of the broker alone.",
    "Records are in the page cache when they are read. kafka-producer-perf-test sends batches of 16 KiB, "
    "one a request with one partition (Java's default); confluent-kafka's batches are up to 1 MB. Its "
    "consumer has fetch.queue.backoff.ms=1: at the default of 1,000 it does not fetch for a second whenever "
    "Python is behind by 64 MiB, which happens by chance, and rather with the quicker broker.",
    "A turn begins when all partitions of its topic have their leader: Apache Kafka says some 0.5 s before "
    "that the topic is made, and an idempotent producer of Java that begins in between is stuck for 120 s.",
)
BASE = Point("1 KiB, 1 partition, acks=all")
POINTS = (
    BASE,
    Point("100 B", record_bytes=100),
    Point("16 KiB", record_bytes=16 * 1024),
    Point("16 partitions", partitions=16),
    Point("acks=1", acks="1"),
    Point("zstd", compression="zstd"),
    Point("eight clients", clients=MANY),
)


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
        self.resident_mib: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.absent: dict[str, str] = {}

    def ratios(self, point: str, client: str, verb: str, quantity: str) -> list[float]:
        """Of one of the quantities of a `Turn`, wirekafka's over Apache Kafka's, round by round."""
        ours, kafkas = (
            [getattr(turn, quantity) for turn in self.turns[Place(point, client, verb, broker)]]
            for broker in (OURS, KAFKA)
        )
        return ratios(ours, kafkas)

    def spread(self, place: Place, quantity: str) -> Spread:
        return Spread([getattr(turn, quantity) for turn in self.turns[place]])

    def memory_ratios(self) -> list[float]:
        """Both brokers' memory after each point of each round."""
        pairs = [
            (self.resident_mib[point.name, OURS], self.resident_mib[point.name, KAFKA]) for point in POINTS
        ]
        return [ratio for ours, kafkas in pairs for ratio in ratios(ours, kafkas)]


class Bench:
    """The clients' programs and both brokers, and what was measured so far."""

    def __init__(self, programs: dict[str, Fleet], sides: Sequence[Side], options: Options) -> None:
        self.measured = Measured()
        self._programs = programs
        self._sides = sides
        self._options = options
        self._share = QUICK_SHARE if options.quick else 1.0

    def warm_up(self) -> None:
        """Do what is going to be done, and count nothing."""
        for point in POINTS:
            progress(f"warming up: {point.name}")
            topic = _topic_name(point, "warm-up")
            for side in self._sides:
                with side.topic(topic, point.partitions):
                    for client, verb in itertools.product(BATCHING, DIRECTIONS):
                        side.turn(self._programs[client], point, verb, topic, share=self._share)

    def do_point(self, point: Point, number: int) -> None:
        """Let both brokers have their turns with every client, in a round."""
        topic = _topic_name(point, str(number))
        order = self._sides if number % 2 == 0 else self._sides[::-1]
        with ExitStack() as topics:
            for side in order:
                topics.enter_context(side.topic(topic, point.partitions))
            # All write before any reads, so that a consumer that is quicker finds enough.
            for verb, client, side in itertools.product(DIRECTIONS, CLIENTS, order):
                self._turn(side, client, point, verb, topic)
            for side in order:
                self.measured.resident_mib[point.name, side.name].append(side.broker.resident_mib())

    def do_other(self, name: str, number: int) -> None:
        """Start one of the other rivals for the first point."""
        try:
            with rivals.start(name, self._options.folder / f"{name}-{number}") as broker:
                side, topic = Side(broker), _topic_name(BASE, str(number))
                with side.topic(topic, BASE.partitions):
                    for verb in DIRECTIONS if "keeping" not in side.lacks else [IN]:
                        self._turn(side, OTHERS_CLIENT, BASE, verb, topic)
                    self.measured.resident_mib[BASE.name, name].append(broker.resident_mib())
        except rivals.NotAvailable as reason:
            self.measured.absent[name] = str(reason)

    def _turn(self, side: Side, client: str, point: Point, verb: str, topic: str) -> None:
        turn = side.turn(self._programs[client], point, verb, topic, share=self._share)
        self.measured.turns[Place(point.name, client, verb, side.name)].append(turn)


def _topic_name(point: Point, suffix: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{point.name} {suffix}".lower())


def ask(options: Options) -> Answer:
    """Measure, and tell."""
    with ExitStack() as stack:
        programs = stack.enter_context(fleets(MANY))
        sides = [
            Side(stack.enter_context(rivals.start(name, options.folder / name, SETTINGS)))
            for name in (OURS, KAFKA)
        ]
        bench = Bench(programs, sides, options)
        bench.warm_up()
        for number in range(options.rounds):
            for point in POINTS:
                progress(f"round {number + 1} of {options.rounds}: {point.name}")
                bench.do_point(point, number)
            for name in OTHERS:
                bench.do_other(name, number)
    return _answer(bench.measured)


def _answer(measured: Measured) -> Answer:
    figures = [
        _figure(measured, client, verb, quantity)
        for quantity, verb, client in itertools.product(TARGETS, DIRECTIONS, BATCHING)
    ]
    memory = Figure(
        "memory resident under load, wirekafka / Apache Kafka", measured.memory_ratios(), 1 / 6, at_most=True
    )
    tables = [_table(measured, verb) for verb in DIRECTIONS] + [
        _rivals_table(measured),
        _memory_table(measured),
    ]
    plots = [_plot(measured, verb, quantity) for quantity, verb in itertools.product(PLOTS, DIRECTIONS)]
    absent = [f"{name} was not measured: {reason}" for name, reason in measured.absent.items()]
    return Answer([*figures, memory], tables, plots, [*NOTES, *absent])


def _figure(measured: Measured, client: str, verb: str, quantity: str) -> Figure:
    """Of all points and rounds, the pairs' ratios."""
    target, at_most = TARGETS[quantity]
    samples = [ratio for point in POINTS for ratio in measured.ratios(point.name, client, verb, quantity)]
    name = f"{QUANTITIES[quantity]} {DIRECTIONS[verb]}, {client}, wirekafka / Apache Kafka"
    return Figure(name, samples, target, at_most=at_most)


def _table(measured: Measured, verb: str) -> Table:
    rows: list[list[Cell]] = []
    for point, client in itertools.product(POINTS, CLIENTS):
        row: list[Cell] = [f"{point.name}, {client}"]
        for quantity in QUANTITIES:
            row += [
                measured.spread(Place(point.name, client, verb, name), quantity) for name in (OURS, KAFKA)
            ]
            row.append(Spread(measured.ratios(point.name, client, verb, quantity)))
        rows.append(row)
    columns = ["point, client"]
    for name in QUANTITIES.values():
        columns += [f"{name}: {OURS}", KAFKA, "ratio"]
    return Table(f"Records {DIRECTIONS[verb]}", columns, rows)


def _rivals_table(measured: Measured) -> Table:
    rows: list[list[Cell]] = []
    for name in (OURS, KAFKA, *(name for name in OTHERS if name not in measured.absent)):
        row: list[Cell] = [name]
        for verb, quantity in itertools.product(DIRECTIONS, ("records_a_second", "cpu_seconds_a_gb")):
            place = Place(BASE.name, OTHERS_CLIENT, verb, name)
            row.append(measured.spread(place, quantity) if place in measured.turns else "keeps too little")
        rows.append([*row, Spread(measured.resident_mib[BASE.name, name], "MiB")])
    columns = ["broker", "records/s in", "CPU-s a GB in", "records/s out", "CPU-s a GB out", "resident"]
    return Table(f"All brokers: {BASE.name}, {OTHERS_CLIENT}", columns, rows)


def _memory_table(measured: Measured) -> Table:
    rows: list[list[Cell]] = [
        [point.name, *(Spread(measured.resident_mib[point.name, name], "MiB") for name in (OURS, KAFKA))]
        for point in POINTS
    ]
    return Table("Memory resident after each point", ["point", OURS, KAFKA], rows)


def _plot(measured: Measured, verb: str, quantity: str) -> Bars:
    series = {
        f"{name}, {client}": [
            measured.spread(Place(point.name, client, verb, name), quantity) for point in POINTS
        ]
        for client, name in itertools.product(BATCHING, (OURS, KAFKA))
    }
    title = f"{QUANTITIES[quantity]} {DIRECTIONS[verb]}"
    groups = [point.name for point in POINTS]
    return Bars(f"{PLOTS[quantity]}_{DIRECTIONS[verb]}", title, QUANTITIES[quantity], groups, series)


QUESTION = Question(
    "throughput",
    "How fast do stock clients write and read, and what does it cost the broker?",
    ask,
    minutes=9,
    prepare=rivals.fetch_all,
)

if __name__ == "__main__":
    run(QUESTION)
