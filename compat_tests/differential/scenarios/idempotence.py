"""Sequences and epochs of idempotent producers: duplicates, gaps, wraps, old and new epochs.

Called by `run`. Source: KIP-98, KIP-360; Kafka's ProducerAppendInfo and ProducerStateEntry.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import spread
from compat_tests.differential.batches import NOW_MS, Producer, Record, batch, records_of
from compat_tests.differential.requests import produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic, create_topic
from wirekafka.protocol.apis.produce import ProduceRequest

NEWEST_SEQUENCE = 2**31 - 1
Step = tuple[str, int, int, int]
"""Label, epoch, sequence, number of records."""
STEPS: tuple[Step, ...] = (
    ("first", 0, 0, 3),
    ("first again", 0, 0, 3),
    ("gap", 0, 10, 1),
    ("next", 0, 3, 1),
    ("first again, not the newest", 0, 0, 3),
    ("part of the first", 0, 0, 1),
    ("rest of the first", 0, 1, 2),
    ("more than the first", 0, 0, 4),
    ("next but one", 0, 5, 1),
    ("fourth", 0, 4, 1),
    ("fifth", 0, 5, 1),
    ("sixth", 0, 6, 1),
    ("seventh", 0, 7, 1),
    ("eighth", 0, 8, 1),
    ("older than the last five", 0, 0, 3),
    ("oldest of the last five", 0, 4, 1),
    ("new epoch, not from 0", 1, 9, 1),
    ("new epoch", 1, 0, 1),
    ("new epoch again", 1, 0, 1),
    ("old epoch", 0, 9, 1),
    ("old epoch, duplicate", 0, 8, 1),
    ("epoch far ahead", 30_000, 0, 1),
    ("epoch -1", -1, 1, 1),
    ("negative sequence", 30_000, -5, 1),
)
WRAP: tuple[Step, ...] = (
    ("begins at the newest sequence", 0, NEWEST_SEQUENCE, 1),
    ("wraps to 0", 0, 0, 1),
    ("newest sequence again", 0, NEWEST_SEQUENCE, 1),
    ("begins before the end", 1, NEWEST_SEQUENCE - 1, 3),
    ("goes on behind the wrap", 0, 1, 2),
)
WRAP_WITHIN: tuple[Step, ...] = (
    ("wraps within a batch", 0, NEWEST_SEQUENCE - 1, 4),
    ("wraps within a batch, again", 0, NEWEST_SEQUENCE - 1, 4),
    ("goes on after a wrap within", 0, 2, 1),
)


def idempotence(side: Side) -> None:
    """Let producers send in and out of order."""
    topic = create_topic(side, "idempotence", 2)
    for version in spread(ProduceRequest):
        _steps(side, version, topic, 10_000 + version, STEPS)
        _steps(side, version, topic, 20_000 + version, WRAP)
        _steps(side, version, topic, 30_000 + version, WRAP_WITHIN)
        _steps(side, version, topic, 40_000 + version, (("unknown producer at 7", 0, 7, 1),))
        _at_once(side, version, topic, 50_000 + version)


def _steps(side: Side, version: int, topic: Topic, producer_id: int, steps: tuple[Step, ...]) -> None:
    for label, epoch, sequence, count in steps:
        data = batch(records_of(count), producer=Producer(producer_id, epoch, sequence))
        side.ask(label, produce(version, topic, (0, data)), version)


def _at_once(side: Side, version: int, topic: Topic, producer_id: int) -> None:
    one, two = (batch(producer=Producer(producer_id, 0, sequence)) for sequence in (0, 1))
    other = batch([Record(value=b"other", timestamp_ms=NOW_MS)], producer=Producer(producer_id, 0, 0))
    side.ask("two batches of one producer", produce(version, topic, (0, one + two)), version)
    side.ask("to two partitions", produce(version, topic, (0, two), (1, one)), version)
    side.ask("the first, with another record", produce(version, topic, (0, other)), version)
