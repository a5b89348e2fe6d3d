"""Topics with a codec of their own: each codec sent to each, right batches and wrong ones.

Called by `run`. What is stored is compared unpacked, for no two libraries compress alike.
Source: KIP-110, KIP-390 (levels); Kafka's LogValidator.validateMessagesAndAssignOffsetsCompressed.
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.batches import (
    CONTROL,
    GZIP,
    LOG_APPEND_TIME,
    LZ4,
    NOW_MS,
    SNAPPY,
    ZSTD,
    Producer,
    Record,
    batch,
    records_of,
    sealed,
    unpacked,
    with_byte,
)
from compat_tests.differential.requests import at, fetch, fetch_topic, list_offsets, part, produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic, create_topic

DAY_MS = 86_400_000
TARGETS = ("uncompressed", "gzip", "snappy", "lz4", "zstd", "producer")
SOURCES = (0, GZIP, SNAPPY, LZ4, ZSTD)
OLDEST, BEFORE_ZSTD, NEWEST = 3, 6, 12


def recompressing(side: Side) -> None:
    """Produce each codec to topics of each codec, and read what became of it."""
    for target in TARGETS:
        topic = create_topic(side, f"packed-{target}", 3, compression_type=target, retention_ms="-1")
        for version in (OLDEST, BEFORE_ZSTD, NEWEST):
            for source in SOURCES:
                data = batch(_mixed(source), codec=source)
                side.ask(f"{target}, codec {source}", produce(version, topic, (0, data)), version)
        _strange(side, target, topic)
        _read(side, topic, 3)
        for timestamp in (NOW_MS, NOW_MS + 5, NOW_MS + 6, -3):
            told = f"now {timestamp - NOW_MS:+}" if timestamp > 0 else str(timestamp)
            side.ask(f"{target}, at {told}", list_offsets(topic.name, at(timestamp)), 7)
    _stamped(side)
    _compacted(side)
    _limited(side)
    _leveled(side)


def _mixed(number: int) -> list[Record]:
    return [
        Record(b"k", b"v" * 200, NOW_MS + number),
        Record(None, None, NOW_MS - 3, (("h", b"x"), ("", None))),
        Record(b"", b"", NOW_MS + 5),
    ]


def _strange(side: Side, target: str, topic: Topic) -> None:
    """What is stored otherwise than it was sent, or not at all; all good ones go to partition 1."""
    producer = Producer(44_000 + len(target), 0, 0)
    for source in (0, LZ4):
        cases = {
            "idempotent": batch(records_of(2), codec=source, producer=producer),
            "idempotent again": batch(records_of(2), codec=source, producer=producer),
            "next": batch(records_of(1), codec=source, producer=Producer(producer.producer_id, 0, 2)),
            "out of order": batch(records_of(1), codec=source, producer=Producer(producer.producer_id, 0, 9)),
            "no time": batch([Record(timestamp_ms=-1)] * 2, codec=source),
            "claims append time": batch(records_of(2), codec=source, attributes=LOG_APPEND_TIME),
            "control": batch(records_of(1), codec=source, attributes=CONTROL),
            "base offset 5": batch(records_of(1), codec=source, base_offset=5),
            "wrong CRC": with_byte(batch(records_of(1), codec=source), 62, 9),
            "late": batch([Record(), Record(timestamp_ms=NOW_MS + DAY_MS)], codec=source),
        }
        for label, data in cases.items():
            if target == "producer" and label == "claims append time":
                continue
            side.ask(f"{target}, {label}, from {source}", produce(9, topic, (1, data)), 9)


def _read(side: Side, topic: Topic, count: int) -> None:
    for partition in range(count):
        wanted = fetch_topic(18, topic, part(partition, 0))
        side.ask(f"read {topic.name} {partition}", fetch(wanted), 18, keep=_unpack)


# Any: a FetchResponse.
def _unpack(answer: Any) -> None:
    for topic in answer.responses:
        for partition in topic.partitions:
            partition.records = unpacked(bytes(partition.records))


def _stamped(side: Side) -> None:
    configs = {"compression_type": "zstd", "message_timestamp_type": "LogAppendTime"}
    topic = create_topic(side, "packed-stamped", 1, **configs)
    for source in SOURCES:
        side.ask(f"stamped, codec {source}", produce(9, topic, (0, batch(_mixed(1), codec=source))), 9)
    claims = batch(records_of(2), attributes=LOG_APPEND_TIME, codec=GZIP)
    side.ask("stamped, claims append time", produce(9, topic, (0, claims)), 9)
    _read(side, topic, 1)


def _compacted(side: Side) -> None:
    configs = {"compression_type": "gzip", "cleanup_policy": "compact"}
    configs |= {"message_timestamp_before_max_ms": str(DAY_MS)}
    topic = create_topic(side, "packed-compacted", 1, **configs)
    old = NOW_MS - 2 * DAY_MS
    for source in SOURCES:
        cases = {
            "good": [Record(), Record(b"", None)],
            "keyless": [Record(), Record(None), Record(None)],
            "old": [Record(), Record(timestamp_ms=old), Record()],
            "keyless, and old": [Record(None), Record(timestamp_ms=old), Record(None, timestamp_ms=old)],
        }
        for label, records in cases.items():
            request = produce(9, topic, (0, batch(records, codec=source)))
            side.ask(f"compacted, {label}, from {source}", request, 9)
    lying = bytearray(batch([Record()]))
    lying[35:43] = (NOW_MS + 9 * DAY_MS).to_bytes(8, "big")
    side.ask("compacted, largest time too large", produce(9, topic, (0, sealed(bytes(lying)))), 9)
    lying[35:43] = (NOW_MS - 5).to_bytes(8, "big")
    side.ask("compacted, largest time too small", produce(9, topic, (0, sealed(bytes(lying)))), 9)
    _read(side, topic, 1)


def _limited(side: Side) -> None:
    """Sizes: before, after, and within."""
    for target in ("uncompressed", "zstd"):
        topic = create_topic(
            side, f"packed-limited-{target}", 1, compression_type=target, max_message_bytes="300"
        )
        for source in SOURCES:
            data = batch([Record(value=bytes(1000))], codec=source)
            side.ask(f"limited {target}, codec {source}", produce(9, topic, (0, data)), 9)
        _read(side, topic, 1)
    topic = create_topic(side, "packed-short", 1, max_decompressed_message_bytes="100")
    for source in SOURCES:
        for size in (80, 120):
            data = batch([Record(value=b"v" * size)], codec=source)
            side.ask(f"records of {size}, codec {source}", produce(9, topic, (0, data)), 9)
    _read(side, topic, 1)


def _leveled(side: Side) -> None:
    levels = {"gzip": "9", "lz4": "17", "zstd": "19"}
    for target, level in levels.items():
        configs = {"compression_type": target, f"compression_{target}_level": level}
        topic = create_topic(side, f"packed-level-{target}", 1, **configs)
        side.ask(f"level of {target}", produce(9, topic, (0, batch(_mixed(0)))), 9)
        _read(side, topic, 1)
