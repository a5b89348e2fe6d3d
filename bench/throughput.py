"""How fast do stock clients write and read, and what does it cost the broker? Against Apache Kafka.

    python bench/throughput.py [--rounds N] [--quick] [--results FOLDER]

Both brokers run side by side with their defaults and have their turns one right after the other, so that a
ratio is one of two neighbours. From one point (1 KiB, one partition, acks=all, no compression, one client)
one thing at a time is changed. Clients are programs of their own (`clients`) with their defaults. Nothing is
pinned: a developer pins nothing either. Every point of every round has topics of its own, which are
deleted after it.

Before anything is counted both brokers do the first point several times, and then every point. Java compiles
what is hot while it runs, in the clients too: kafka-consumer-perf-test takes 15 CPU-s for its first GB and
0.8 for its seventh, and Apache Kafka 4.7 and 0.3. So counted turns are of the steady state, where their
length does not matter, and the first ones are drawn in a plot of their own. wirekafka is warmed up first, so
that the clients are warm when Apache Kafka begins.

The other rivals are started anew in each round and do the first point with confluent-kafka.
"""

import itertools
import re
from collections.abc import Sequence
from contextlib import ExitStack

import rivals
from clients import MANY, Fleet, Point, Side, fleets
from clients.fleet import CLIENTS
from clients.measured import BASE, BATCHING, DIRECTIONS, IN, KAFKA, OURS, OUT, POINTS, Measured, Place, points
from clients.telling import OTHERS, OTHERS_CLIENT, answer
from instrument.answers import Answer
from instrument.question import Options, Question, progress, run

SETTINGS = {"log.segment.delete.delay.ms": 100, "group.initial.rebalance.delay.ms": 0}
"""A deleted topic's bytes are gone before the disk has to take them; kafka-consumer-perf-test, which joins a
group, does not wait 3 s for others, which it would not count."""
QUICK_SHARE = 0.1
WARMING_LAPS, QUICK_WARMING_LAPS = 8, 2
WARMING_SHARE = 0.5
"""Of a turn, where none is counted."""


class Bench:
    """The clients' programs and both brokers, and what was measured so far."""

    def __init__(self, programs: dict[str, Fleet], sides: Sequence[Side], options: Options) -> None:
        self.measured = Measured()
        self._programs = programs
        self._sides = sides
        self._options = options
        self._share = QUICK_SHARE if options.quick else 1.0

    def warm_up(self) -> None:
        """Do what is going to be done, until it takes no longer than it always will."""
        laps = QUICK_WARMING_LAPS if self._options.quick else WARMING_LAPS
        for side, lap in itertools.product(self._sides, range(laps)):
            progress(f"warming up {side.name}: {lap + 1} of {laps}")
            self._warm_up_at(side, BASE, f"lap {lap}", self._share)
        for point, side in itertools.product(POINTS[1:], self._sides):
            progress(f"warming up {side.name}: {point.name}")
            self._warm_up_at(side, point, "warm-up", self._share * WARMING_SHARE)

    def _warm_up_at(self, side: Side, point: Point, suffix: str, share: float) -> None:
        topic = _topic_name(point, suffix)
        with side.topic(topic, point.partitions):
            for verb, client in itertools.product(DIRECTIONS, BATCHING):
                turn = side.turn(self._programs[client], point, verb, topic, share=share)
                if client == "perf-test" and point is BASE:
                    self.measured.warming[side.name, verb].append(turn)

    def do_point(self, point: Point, number: int) -> None:
        """Let both brokers have their turns with every client, in a round."""
        topic = _topic_name(point, str(number))
        # With an odd number of rounds, too, each side begins as often as the other, taken over all points.
        order = self._sides if (number + POINTS.index(point)) % 2 == 0 else self._sides[::-1]
        with ExitStack() as topics:
            for side in order:
                topics.enter_context(side.topic(topic, point.partitions))
            # All write before any reads, so that a consumer that is quicker finds enough.
            for client, side in itertools.product(CLIENTS, order):
                self._turn(side, client, point, IN, topic)
            for client in CLIENTS if point in points(OUT) else ():
                self._read(order, client, point, topic)
            for side in order:
                self.measured.resident_mib[point.name, side.name].append(side.broker.resident_mib())

    def _read(self, order: Sequence[Side], client: str, point: Point, topic: str) -> None:
        """Let both have their turns, with a client that has targets twice: A B, B A.

        Who reads first after much was written is now slower, now quicker: that turn is not counted.
        """
        if client in BATCHING:
            share = self._share * WARMING_SHARE
            order[0].turn(self._programs[client], point, OUT, topic, share=share)
            order = [*order, *order[::-1]]
        for side in order:
            self._turn(side, client, point, OUT, topic)

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
    return answer(bench.measured)


QUESTION = Question(
    "throughput",
    "How fast do stock clients write and read, and what does it cost the broker?",
    ask,
    minutes=8,
    prepare=rivals.fetch_all,
)

if __name__ == "__main__":
    run(QUESTION)
