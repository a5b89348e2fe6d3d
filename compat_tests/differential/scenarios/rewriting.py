"""Topics that change or refuse what they are sent: log append time, compaction, another codec.

Called by `run`. Source: KIP-32 (timestamps), KIP-110 (zstd), KIP-390; Kafka's LogValidator.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import spread
from compat_tests.differential.batches import (
    GZIP,
    LOG_APPEND_TIME,
    LZ4,
    NOW_MS,
    Producer,
    Record,
    batch,
    records_of,
)
from compat_tests.differential.requests import at, fetch, fetch_topic, list_offsets, part, produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic, create_topic
from wirekafka.protocol.apis.produce import ProduceRequest

DAY_MS = 86_400_000
CASES = 8
"""At most so many for one topic; each has a partition of its own."""
IDEMPOTENT = 6


def rewriting(side: Side) -> None:
    """Produce to topics with configs of their own, and read what they made of it."""
    stamped = create_topic(side, "stamped", CASES, message_timestamp_type="LogAppendTime")
    compacted = create_topic(side, "compacted", CASES, cleanup_policy="compact")
    bounded = create_topic(
        side,
        "bounded",
        CASES,
        message_timestamp_before_max_ms=str(DAY_MS),
        message_timestamp_after_max_ms="1000",
    )
    for version in spread(ProduceRequest):
        _ask(side, version, stamped, "stamped", _stamped(version))
        again = produce(version, stamped, (IDEMPOTENT, _stamped(version)["idempotent"]))
        side.ask("stamped, idempotent again", again, version)
        _ask(side, version, compacted, "compacted", _compacted())
        _ask(side, version, bounded, "bounded", _bounded())
    for topic in (stamped, compacted, bounded):
        for partition in range(CASES):
            wanted = fetch_topic(18, topic, part(partition, 0))
            side.ask(f"read {topic.name} {partition}", fetch(wanted), 18)
    for timestamp in (-1, -2):
        side.ask(f"stamped, offset {timestamp}", list_offsets(stamped.name, at(timestamp)), 7)


def _ask(side: Side, version: int, topic: Topic, name: str, cases: dict[str, bytes]) -> None:
    for partition, (label, data) in enumerate(cases.items()):
        side.ask(f"{name}, {label}", produce(version, topic, (partition, data)), version)


def _stamped(version: int) -> dict[str, bytes]:
    producer = Producer(33_000 + version, 0, 0)
    return {
        "good": batch(records_of(3)),
        "gzip": batch(records_of(3), codec=GZIP),
        "with the bit": batch(records_of(2), attributes=LOG_APPEND_TIME),
        "old": batch([Record(timestamp_ms=5)]),
        "late": batch([Record(timestamp_ms=NOW_MS + DAY_MS)]),
        "timestamp -1": batch([Record(timestamp_ms=-1)]),
        "idempotent": batch(records_of(2), producer=producer),
    }


def _compacted() -> dict[str, bytes]:
    keyless = Record(key=None)
    return {
        "good": batch(records_of(2)),
        "no key": batch([keyless]),
        "two of three without key": batch([Record(), keyless, keyless]),
        "tombstone": batch([Record(value=None)]),
        "empty key": batch([Record(key=b"")]),
        "gzip, second without key": batch([Record(), keyless], codec=GZIP),
        "lz4, good": batch(records_of(2), codec=LZ4),
    }


def _bounded() -> dict[str, bytes]:
    def stamped(*deltas_ms: int) -> list[Record]:
        return [Record(timestamp_ms=NOW_MS + delta_ms) for delta_ms in deltas_ms]

    return {
        "good": batch(stamped(0)),
        "too old": batch(stamped(-2 * DAY_MS)),
        "too late": batch(stamped(DAY_MS)),
        "second too old": batch(stamped(0, -2 * DAY_MS)),
        "second too old, third too late": batch(stamped(0, -2 * DAY_MS, DAY_MS)),
        "gzip, second too late": batch(stamped(0, DAY_MS), codec=GZIP),
        "timestamp -1": batch([Record(timestamp_ms=-1)]),
    }
