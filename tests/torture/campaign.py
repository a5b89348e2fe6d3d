"""One data folder, one load, many deaths: after each the broker has to be whole again.

`Campaign` runs the rounds; `Death` says how the broker dies (`Kill` here, `PowerCut` in `power`). Used
by the tests and by `python -m tests.torture`.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.torture import topics
from tests.torture.churn import found_wrong_with_topics
from tests.torture.judging import Rule, found_wrong
from tests.torture.load import PARTITIONS, Load
from tests.torture.oracle import OracleFile
from tests.torture.patience import allowed
from tests.torture.process import BrokerProcess, DidNotStart

TOPIC = "tortured"
READY_SECONDS = 2.0
"""How soon after its start a broker has to answer, as the issue has it."""
_LONGEST_LIFE_SECONDS = 0.8
_KILLED_WHILE_STARTING = 0.15
_LONGEST_START_SECONDS = 0.8


@dataclass(frozen=True, slots=True)
class Variant:
    """What the topic is like, and so what the broker is at when it dies."""

    name: str
    rule: Rule = Rule.KEPT
    configs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    keys: int = 0
    """How many keys each producer has in a partition; 0 for records without."""
    value_bytes: int = 100
    """How large values are in the middle."""


@dataclass(slots=True)
class Report:
    """What a campaign came to."""

    seed: int
    rounds: int = 0
    killed_while_starting: int = 0
    acknowledged: int = 0
    read: int = 0
    ready_seconds: list[float] = field(default_factory=list)
    ready_cpu_seconds: list[float] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    def sentence(self) -> str:
        slowest = max(self.ready_seconds, default=0.0)
        return (
            f"seed {self.seed}: {self.rounds} deaths ({self.killed_while_starting} while starting), "
            f"{self.acknowledged} acknowledged, {self.read} read, "
            f"ready after {_middle(self.ready_seconds):.2f} s ({_middle(self.ready_cpu_seconds):.2f} s of "
            f"processor), at most {slowest:.2f} s, {len(self.findings)} findings"
        )


def _middle(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 2] if seconds else 0.0


class Death(Protocol):
    """How the broker dies, and what is to be done before it can live again."""

    def strike(self, broker: BrokerProcess, load: Load) -> None:
        """Let it die; when this returns it has, and its data folder can be used.

        The load may be left frozen.
        """


class Kill:
    """kill -9."""

    def strike(self, broker: BrokerProcess, load: Load) -> None:
        broker.kill()


class Campaign:
    """The rounds on one data folder."""

    def __init__(
        self,
        work_dir: Path,
        data_dir: Path,
        variant: Variant,
        *,
        death: Death,
        seed: int,
        ready_seconds: float = READY_SECONDS,
        told: Callable[[Report], None] = lambda report: None,
    ) -> None:
        self._variant, self._death, self._told = variant, death, told
        self._work_dir = work_dir
        self._random = random.Random(seed)
        self._ready_seconds = ready_seconds
        self._broker = BrokerProcess(data_dir, work_dir / "broker.log", settings=variant.settings)
        self._oracle = OracleFile(work_dir / "acknowledged")
        self._seen = OracleFile(work_dir / "seen")
        self.report = Report(seed)

    def run(self, rounds: int, *, check_every: int) -> Report:
        """Let it die so often; after every `check_every`th death, and at the end, all is read and judged."""
        bootstrap, variant = self._broker.bootstrap, self._variant
        options = {"seed": self.report.seed, "keys": variant.keys, "value_bytes": variant.value_bytes}
        try:
            with self._broker:
                self._broker.start()
                topics.create(bootstrap, TOPIC, PARTITIONS, variant.configs)
                with Load(bootstrap, TOPIC, self._work_dir, **options) as load:
                    topics.wait_for(lambda: self._oracle.look().count > 0, "the first acknowledgement")
                    self._live_and_die(load, rounds, check_every)
        except (DidNotStart, topics.NotReadable) as error:
            self._found(f"after {self.report.rounds} deaths: {error}")
        if "Traceback" in self._broker.log():
            self._found(f"a traceback in the broker's log, which ends:\n{self._broker.log_end()}")
        return self.report

    def _live_and_die(self, load: Load, rounds: int, check_every: int) -> None:
        checked = 0
        while self.report.rounds < rounds and not self.report.findings:
            self._round(load)
            if not load.alive:
                break
            if self.report.rounds - checked >= check_every:
                load.freeze()
                self._judge()
                checked = self.report.rounds
            load.thaw()
            self._told(self.report)
        if not self.report.findings:
            if failure := load.stop():
                self._found(f"a producer gave up: {failure}")
            self._judge()

    def _round(self, load: Load) -> None:
        time.sleep(self._random.uniform(0.02, _LONGEST_LIFE_SECONDS))
        self._die(load)
        if self._random.random() < _KILLED_WHILE_STARTING:
            self._broker.exec()
            time.sleep(self._random.uniform(0.02, _LONGEST_START_SECONDS))
            self._die(load)
            self.report.killed_while_starting += 1
        self._start()

    def _start(self) -> None:
        if self._broker.prefix and not self._starts_hindered():
            self._broker.prefix = []
        if self._broker.prefix:
            return
        seconds = self._broker.start()
        self.report.ready_seconds.append(seconds)
        self.report.ready_cpu_seconds.append(self._broker.cpu_seconds())
        if seconds > self._ready_seconds and not self._was_held_up(seconds):
            self._found(f"ready only {seconds:.2f} s after its start")

    def _was_held_up(self, seconds: float) -> bool:
        """Whether others had the processors meanwhile, and the start used no more than it may take."""
        within = self.report.ready_cpu_seconds[-1] < self._ready_seconds
        return within and seconds < allowed(self._ready_seconds)

    def _starts_hindered(self) -> bool:
        """Start under what fails its calls, which it may not survive; whether it has."""
        try:
            self._broker.start()
        except DidNotStart:
            self._broker.kill()
            self.report.killed_while_starting += 1
            return False
        return True

    def _die(self, load: Load) -> None:
        self._death.strike(self._broker, load)
        self.report.rounds += 1

    def _judge(self) -> None:
        """Read everything, and hold it to what was acknowledged, and seen, before the reading began."""
        if self._broker.prefix:
            self._broker.kill()
            self._broker.prefix = []
            self._start()
        acknowledged, seen = self._oracle.look(), self._seen.look()
        read = topics.read_all(self._broker.bootstrap, TOPIC, PARTITIONS)
        self.report.acknowledged, self.report.read = acknowledged.count, read.count
        churn = self._work_dir / "churn"
        told = churn.read_text() if churn.exists() else ""
        there = topics.names(self._broker.bootstrap)
        set_aside = [folder.name for folder in self._broker.data_dir.glob("*-stray")]
        for finding in found_wrong_with_topics(told, there, set_aside):
            self._found(finding)
        rule, keys = self._variant.rule, self._variant.keys
        for finding in found_wrong(acknowledged, read, rule, keys=keys):
            self._found(finding)
        for finding in found_wrong(seen, read, rule, keys=keys):
            self._found(f"what a consumer had seen: {finding}")

    def _found(self, finding: str) -> None:
        self.report.findings.append(finding)


_BUSY = {
    "log.flush.offset.checkpoint.interval.ms": "150",
    "log.retention.check.interval.ms": "100",
    "log.cleaner.backoff.ms": "100",
    "log.initial.task.delay.ms": "10",
}
"""Checkpoints, retention and compaction are at work whenever the broker dies."""
_SMALL_SEGMENTS = {"segment.index.bytes": "48", "index.interval.bytes": "0", "file.delete.delay.ms": "50"}
"""A segment ends after a handful of batches."""

VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("plain"),
        Variant("rolling", configs=_SMALL_SEGMENTS, settings=_BUSY),
        Variant(
            "retention",
            rule=Rule.RETAINED,
            configs={**_SMALL_SEGMENTS, "retention.bytes": "20000"},
            settings=_BUSY,
        ),
        Variant(
            "compaction",
            rule=Rule.COMPACTED,
            configs={**_SMALL_SEGMENTS, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"},
            settings=_BUSY,
            keys=20,
        ),
        Variant("fsync", settings={**_BUSY, "wirekafka.durability": "fsync"}),
        Variant(
            "fsync-rolling", configs=_SMALL_SEGMENTS, settings={**_BUSY, "wirekafka.durability": "fsync"}
        ),
    )
}
