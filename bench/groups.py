"""How soon do consumers read, alone and after a second one comes? What do 3,000 members cost that only beat?

    python bench/groups.py [--rounds N] [--quick]

Against Apache Kafka, in one run, taking turns; where that cannot be had wirekafka alone is told. Consumers
are confluent-kafka's with its defaults, by both protocols.

*lone*: from a member's subscribe to its first record. *second*: from a second member's subscribe until every
partition has one of the two and both read, the first having been there for some seconds; *taken over* is the
part of it until every partition has its owner and the second one reads; *soon* is *second* with the first
having been there for one second. Each with both brokers at their defaults, and with no initial delay:
group.initial.rebalance.delay.ms=0, and for the consumer protocol group.consumer.assignment.interval.ms=0.

*beats*: processor time of the broker while 1,000 groups of 3 members each send nothing but heartbeats, over
3,000 connections, by the classic protocol every 3 s, by the consumer protocol as often as the broker says.
"""

import functools
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import rivals
from beating import CLASSIC, CONSUMER, BeatingGroups
from group_members import GroupMember, Writer, make_topic, until_shared
from instrument.answers import Answer
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, progress, run
from rivals import NotAvailable, RunningBroker

PROTOCOLS = (CLASSIC, CONSUMER)
NO_DELAY = {"group.initial.rebalance.delay.ms": "0", "group.consumer.assignment.interval.ms": "0"}
DEFAULTS, WITHOUT_DELAY = "defaults", "no delay"
OURS, KAFKAS = "wirekafka", "apache-kafka"
_FIRST_ALONE_S = (4.0, 4.7, 5.4, 6.1, 6.8)
"""How long the first member is alone: past its first heartbeat, and not always as long."""
_FIRST_ALONE_SOON_S = 1.0
"""Before its first heartbeat, by which alone it can hear of the second."""
LONE, TAKEN_OVER, SECOND = "lone", "second, taken over", "second"
SOON_TAKEN_OVER, SOON = "soon, taken over", "soon"
_WITH_TARGET = (LONE, SECOND)
_MOST_OF_A_PROCESSOR = 25.0
_AT_MOST_KAFKAS = 1.0
_A_TENTH = 0.1


Times = dict[tuple[str, str, str, str], list[float]]
"""Seconds, by what was timed, protocol, settings and broker."""


@dataclass(frozen=True, slots=True)
class Place:
    """A broker to be asked."""

    settings: str
    broker: RunningBroker

    @property
    def name(self) -> str:
        return self.broker.name

    @property
    def bootstrap(self) -> str:
        return self.broker.bootstrap


@contextmanager
def brokers(folder: Path) -> Iterator[list[Place]]:
    """Both brokers with both settings, where Kafka can be had."""
    with ExitStack() as stack:
        places = []
        for name in (OURS, KAFKAS):
            for settings, values in ((DEFAULTS, {}), (WITHOUT_DELAY, NO_DELAY)):
                try:
                    broker = stack.enter_context(rivals.start(name, folder / name / settings, values))
                except NotAvailable as reason:
                    progress(str(reason))
                else:
                    places.append(Place(settings, broker))
        yield places


def measure_rebalances(places: Sequence[Place], rounds: int, *, quick: bool) -> list[Figure]:
    """Let every broker have its turn in every round; one round to warm up is not counted."""
    waits = (_FIRST_ALONE_SOON_S,) if quick else _FIRST_ALONE_S
    topic = "bench"
    times: Times = {}
    with ExitStack() as stack:
        for place in places:
            make_topic(place.bootstrap, topic)
            stack.callback(Writer(place.bootstrap, topic).stop)
        for number in range(1 if quick else 0, rounds + 1):
            progress(f"round {number} of {rounds}")
            alone_s = waits[number % len(waits)]
            for protocol in PROTOCOLS:
                for place in places:
                    measured = _one_turn(place, protocol, topic, alone_s)
                    for what, seconds in measured.items() if number else ():
                        times.setdefault((what, protocol, place.settings, place.name), []).append(seconds)
    return list(_figures(times))


def _one_turn(place: Place, protocol: str, topic: str, alone_s: float) -> dict[str, float]:
    lone, taken_over, second = _one_group(place, protocol, topic, alone_s)
    _, soon_taken_over, soon = _one_group(place, protocol, topic, _FIRST_ALONE_SOON_S)
    return {
        LONE: lone,
        TAKEN_OVER: taken_over,
        SECOND: second,
        SOON_TAKEN_OVER: soon_taken_over,
        SOON: soon,
    }


def _one_group(place: Place, protocol: str, topic: str, alone_s: float) -> tuple[float, float, float]:
    group_id = f"bench-{uuid.uuid4()}"
    with ExitStack() as stack:
        first = GroupMember(place.bootstrap, group_id, protocol, topic)
        stack.callback(first.close)
        lone = until_shared([first]).all_read - first.begun
        first.poll_for(alone_s)
        second = GroupMember(place.bootstrap, group_id, protocol, topic)
        stack.callback(second.close)
        shared = until_shared([first, second])
        return lone, shared.last_reads - second.begun, shared.all_read - second.begun


def _figures(times: Times) -> Iterator[Figure]:
    for what in (LONE, SECOND, TAKEN_OVER, SOON, SOON_TAKEN_OVER):
        for protocol in PROTOCOLS:
            for settings in (DEFAULTS, WITHOUT_DELAY):
                yield from _compared(times, what, protocol, settings)


def _compared(times: Times, what: str, protocol: str, settings: str) -> Iterator[Figure]:
    """Ours by Kafka's own time, and by its classic time where both have their defaults."""
    name = f"{protocol}, {what}, {settings}"
    has_target = what in _WITH_TARGET
    ours = times[what, protocol, settings, OURS]
    kafkas = times.get((what, protocol, settings, KAFKAS))
    if kafkas is not None:
        target = _AT_MOST_KAFKAS if has_target else None
        yield Figure(f"{name} / Kafka", ratios(ours, kafkas), target, at_most=True)
    kafkas_classic = times.get((what, CLASSIC, settings, KAFKAS))
    if kafkas_classic is not None and settings == DEFAULTS:
        target = _A_TENTH if has_target else None
        yield Figure(f"{name} / Kafka's classic", ratios(ours, kafkas_classic), target, at_most=True)
    yield Figure(name, ours, unit="s")
    if kafkas is not None:
        yield Figure(f"{name}, Kafka", kafkas, unit="s")


def measure_beats(places: Sequence[Place], rounds: int, seconds: float) -> list[Figure]:
    """What of a processor the broker needs while all members beat."""
    figures = []
    for protocol in PROTOCOLS:
        for place in (each for each in places if each.settings == WITHOUT_DELAY):
            progress(f"{protocol} heartbeats at {place.name}")
            shares, rates = [], []
            with BeatingGroups(place.bootstrap, protocol) as groups:
                groups.beat(seconds)
                for _ in range(rounds):
                    before = place.broker.cpu_seconds()
                    beats = groups.beat(seconds)
                    used_seconds = place.broker.cpu_seconds() - before
                    rates.append(beats.answers / beats.seconds)
                    shares.append(100 * used_seconds / beats.seconds)
            ours = place.name == OURS
            name = f"{protocol}, 1,000 groups of 3" + ("" if ours else f", {place.name}")
            detail = f"{sum(rates) / len(rates):.0f} heartbeats/s"
            target = _MOST_OF_A_PROCESSOR if ours else None
            figures.append(Figure(name, shares, target, at_most=True, unit="% of a core", detail=detail))
    return figures


def ask(options: Options) -> Answer:
    """Rebalances, then heartbeats."""
    seconds = 3.0 if options.quick else 12.0
    with brokers(options.folder) as places:
        figures = measure_rebalances(places, options.rounds, quick=options.quick)
        return Answer(figures + measure_beats(places, options.rounds, seconds))


QUESTION = Question(
    "groups",
    "How soon do consumers read, alone and after a second one comes, and what do 3,000 members cost?",
    ask,
    minutes=20,
    usual=False,
    prepare=functools.partial(rivals.fetch, OURS, KAFKAS),
)

if __name__ == "__main__":
    run(QUESTION)
