"""Runs scenarios against both brokers at once, each in a thread, and compares what they said.

Called by `__main__` and `test_differential`; calls the scenarios, `compare` and `ranges`.
Source: issue "One suite, two brokers", section "Byte for byte".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from compat_tests.apache_kafka.node import CLUSTER_ID, kafka_node
from compat_tests.differential.compare import Comparison, Difference
from compat_tests.differential.purpose import PURPOSES, OnPurpose
from compat_tests.differential.scenarios import SCENARIOS, SETTINGS_OF
from compat_tests.differential.side import NotReady, Side
from wirekafka.testing import running_broker

Say = Callable[[str], None]
SETTINGS = {
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "group.consumer.heartbeat.interval.ms": "5000",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.assignor.offload.enable": "false",
}
"""Both brokers have these: a quick start, Kafka's heartbeats, and assignments made within one of them."""
OF_KAFKA_ALONE = {"log.initial.task.delay.ms": "3600000"}
"""Its retention, which begins 30 s after the start by default, takes no old records from under a scenario."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run's result."""

    comparison: Comparison
    stale: list[OnPurpose]
    scenarios: list[str]
    seconds: float

    @property
    def is_clean(self) -> bool:
        return not self.comparison.unexplained and not self.stale


@contextmanager
def both_brokers(own_settings: Mapping[str, str]) -> Iterator[tuple[Side, Side]]:
    """Run Apache Kafka and wirekafka for the length of the block. Raises NotAvailable."""
    settings = {**SETTINGS, **own_settings}
    theirs = kafka_node(settings | OF_KAFKA_ALONE)
    with theirs as kafka, running_broker(settings=settings | {"node.id": "1"}) as ours:
        sides = Side("Apache Kafka", kafka.bootstrap), Side("wirekafka", ours.bootstrap)
        for side, cluster_id in zip(sides, (CLUSTER_ID, ours.cluster_id), strict=True):
            side.cluster_id = cluster_id
        try:
            yield sides
        finally:
            for side in sides:
                side.close()


def run(chosen: Sequence[str], say: Say) -> Outcome:
    """Run the scenarios named, or all, in their order, and compare. Raises NotAvailable."""
    began = time.monotonic()
    comparison = Comparison()
    names = [name for name in SCENARIOS if not chosen or name in chosen]
    together = [name for name in names if name not in SETTINGS_OF]
    for stage in ([together] if together else []) + [[name] for name in names if name in SETTINGS_OF]:
        _run_stage(stage, comparison, say)
    stale = comparison.stale(PURPOSES, names, whole=not chosen)
    for purpose in stale:
        say(f"no longer true: {purpose.exchanges}, {purpose.field}: {purpose.reason}")
    return Outcome(comparison, stale, names, time.monotonic() - began)


def _run_stage(names: Sequence[str], comparison: Comparison, say: Say) -> None:
    """Run scenarios that the same two brokers do for."""
    began = time.monotonic()
    own_settings = SETTINGS_OF.get(names[0], {})
    with both_brokers(own_settings) as sides, ThreadPoolExecutor(len(sides)) as threads:
        say(f"both brokers answer after {time.monotonic() - began:.1f} s")
        for name in names:
            seen = [len(side.exchanges) for side in sides]
            took = list(threads.map(lambda side, name=name: _run_one(side, name), sides))
            kafka, ours = (side.exchanges[start:] for side, start in zip(sides, seen, strict=True))
            differences = comparison.add(kafka, ours, PURPOSES)
            times = " and ".join(f"{seconds:.1f} s" for seconds in took)
            say(f"{name}: {len(kafka)} exchanges, {len(differences)} differences not on purpose, {times}")
            _tell(differences, say)


def _run_one(side: Side, name: str) -> float:
    began = time.monotonic()
    side.scenario = name
    side.stands.begin()
    try:
        SCENARIOS[name](side)
    except (NotReady, AttributeError, IndexError) as error:
        # A broker that is silent, or answers with less than asked, leaves the scenario without what it needs.
        side.note("the scenario's end", "none", 0, f"{side.name}: {type(error).__name__}: {error}")
    return time.monotonic() - began


def _tell(differences: Sequence[Difference], say: Say) -> None:
    """Print differences, those that are alike in several versions once."""
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for difference in differences:
        label, _, version = difference.exchange.rpartition(" v")
        key = label, difference.place, _cut(difference.kafka), _cut(difference.ours)
        alike.setdefault(key, []).append(version)
    for (label, place, kafka, ours), found in alike.items():
        say(f"  {label} v{' v'.join(found)}")
        say(f"    {place}: Kafka {kafka}, ours {ours}")


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + " ..."
