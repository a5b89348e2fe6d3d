"""How long until a record is acknowledged, and until its consumer has it? Against Kafka and the others.

    python bench/latency.py [--rounds N] [--quick] [--results FOLDER]

A producer sends records of 1 KiB at a fixed rate, 1,000 or 20,000 a second, acks=all; a consumer in another
process waits at the log's end (`clients.paced`; confluent-kafka both). Records are due at fixed times, and
latency counts from there. Brokers have their turns one right after the other, with a new topic each time;
before that wirekafka and Apache Kafka have some seconds of each rate that are not counted. The others, which
keep records in memory only, are started anew in each round, and have their turns at the lower rate.
"""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import rivals
from clients import Latencies, Pace, PacedPair, Side
from instrument.answers import Answer, Cell, Lines, Series, Spread, Table
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, progress, run

OURS, KAFKA = "wirekafka", "apache-kafka"
OTHERS = ("kfake", "tansu", "librdkafka-mock")
LOW_RATE, HIGH_RATE = 1_000, 20_000
SECONDS = {LOW_RATE: 4.0, HIGH_RATE: 3.0}
WARM_UP_SECONDS, QUICK_SECONDS = {LOW_RATE: 4.0, HIGH_RATE: 10.0}, 1.0
"""At the higher rate Java has compiled by then what a request goes through."""
RECORD_BYTES = 1024
ENDS = {"acknowledged": "acknowledged_ms", "end to end": "read_ms"}
PERCENTILES = (50.0, 99.0, 99.9)
TARGETED = (50.0, 99.0)
DRAWN = (*(p / 2 for p in range(1, 199)), 99.2, 99.4, 99.6, 99.8, 99.9, 99.95, 99.99)
NOTES = (
    "Records are due at fixed times, and latency counts from when a record was due (no coordinated "
    "omission). linger.ms is 0; at librdkafka's default of 5 ms all brokers would show the client's waiting. "
    "The client's own part (its threads, Python's callbacks) is in all figures alike.",
    "Percentiles in the table are of one turn each, and their spread is that of the rounds; the plots have "
    "all rounds' records together.",
    "librdkafka's mock cluster has four partitions a topic, the others one.",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Which turns belong together."""

    broker: str
    rate: int


class Bench:
    """The pair of clients, and what was measured so far."""

    def __init__(self, pair: PacedPair, options: Options) -> None:
        self.turns: dict[Place, list[Latencies]] = defaultdict(list)
        self.absent: dict[str, str] = {}
        self._pair = pair
        self._options = options

    def warm_up(self, side: Side) -> None:
        """Let a broker have what it is going to have, and count nothing."""
        progress(f"warming up {side.name}")
        for rate, seconds in sorted(WARM_UP_SECONDS.items(), reverse=True):
            self._turn(side, f"warm-up-{rate}", rate, seconds)

    def round(self, sides: Sequence[Side], number: int) -> None:
        """Let both have their turns at both rates, then the others at the lower one."""
        for rate, seconds in SECONDS.items():
            progress(f"round {number + 1} of {self._options.rounds}: {rate:,} records/s")
            for side in sides if number % 2 == 0 else sides[::-1]:
                self._count(side, number, rate, seconds)
        progress(f"round {number + 1} of {self._options.rounds}: the others")
        for name in OTHERS:
            self._other(name, number)

    def _other(self, name: str, number: int) -> None:
        try:
            with rivals.start(name, self._options.folder / f"{name}-{number}") as broker:
                self._count(Side(broker), number, LOW_RATE, SECONDS[LOW_RATE])
        except rivals.NotAvailable as reason:
            self.absent[name] = str(reason)

    def _count(self, side: Side, number: int, rate: int, seconds: float) -> None:
        latencies = self._turn(side, f"round-{number}-{rate}", rate, seconds)
        self.turns[Place(side.name, rate)].append(latencies)

    def _turn(self, side: Side, topic: str, rate: int, seconds: float) -> Latencies:
        with side.topic(topic, 1):
            pace = Pace(
                bootstrap=side.broker.bootstrap,
                topic=topic,
                partitions=4 if "topics" in side.lacks else 1,
                records_a_second=rate,
                seconds=QUICK_SECONDS if self._options.quick else seconds,
                record_bytes=RECORD_BYTES,
            )
            return self._pair.run(pace)


def ask(options: Options) -> Answer:
    """Measure, and tell."""
    with ExitStack() as stack:
        pair = stack.enter_context(PacedPair())
        sides = [
            Side(stack.enter_context(rivals.start(name, options.folder / name))) for name in (OURS, KAFKA)
        ]
        bench = Bench(pair, options)
        for side in sides:
            bench.warm_up(side)
        for number in range(options.rounds):
            bench.round(sides, number)
    absent = [f"{name} was not measured: {reason}" for name, reason in bench.absent.items()]
    return Answer(_figures(bench), [_table(bench)], _plots(bench), [*NOTES, *absent])


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which so many percent of the values are."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def _percentiles(bench: Bench, place: Place, end: str, percent: float) -> list[float]:
    return [percentile(getattr(turn, ENDS[end]), percent) for turn in bench.turns[place]]


def _figures(bench: Bench) -> list[Figure]:
    figures = []
    for rate in SECONDS:
        for end in ENDS:
            for percent in PERCENTILES:
                ours, kafkas = (
                    _percentiles(bench, Place(name, rate), end, percent) for name in (OURS, KAFKA)
                )
                target = 1.0 if rate == LOW_RATE and percent in TARGETED else None
                name = f"{end}, p{percent:g} at {rate:,}/s, wirekafka / Apache Kafka"
                detail = f"{statistics.median(ours):.2f} ms / {statistics.median(kafkas):.2f} ms"
                figures.append(Figure(name, ratios(ours, kafkas), target, at_most=True, detail=detail))
    return figures


def _table(bench: Bench) -> Table:
    columns = ["broker, rate", *(f"{end} p{percent:g}" for end in ENDS for percent in PERCENTILES)]
    rows: list[list[Cell]] = [
        [
            f"{place.broker}, {place.rate:,}/s",
            *(Spread(_percentiles(bench, place, end, p), "ms") for end in ENDS for p in PERCENTILES),
        ]
        for place in sorted(bench.turns, key=lambda place: place.rate)
    ]
    return Table("Latency", columns, rows)


def _plots(bench: Bench) -> list[Lines]:
    return [
        Lines(
            f"{end.replace(' ', '_')}_{rate}",
            f"Until {'acknowledged' if end == 'acknowledged' else 'read'}, at {rate:,} records/s",
            "ms since the record was due",
            "% of records",
            [_curve(bench, place, end) for place in bench.turns if place.rate == rate],
            log_x=True,
        )
        for rate in SECONDS
        for end in ENDS
    ]


def _curve(bench: Bench, place: Place, end: str) -> Series:
    """How many percent of all rounds' records took at most so long."""
    values = sorted(ms for turn in bench.turns[place] for ms in getattr(turn, ENDS[end]))
    xs = [values[min(len(values) - 1, int(len(values) * percent / 100))] for percent in DRAWN]
    return Series(place.broker, xs, DRAWN)


QUESTION = Question(
    "latency",
    "How long until a record is acknowledged, and until its consumer has it?",
    ask,
    minutes=3.7,
    prepare=rivals.fetch_all,
)

if __name__ == "__main__":
    run(QUESTION)
