"""ListOffsets: by time, and by each special timestamp, for full, empty and timeless partitions.

Called by `run`. Source: KIP-79, KIP-320 (epochs), KIP-734 (max timestamp), KIP-405 and KIP-1005 (tiers).
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.batches import GZIP, LZ4, NOW_MS, SNAPPY, ZSTD, Record, batch, records_of
from compat_tests.differential.requests import at, list_offsets, produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from wirekafka.protocol.apis.list_offsets import ListOffsetsRequest

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
SPECIAL = (-1, -2, -3, -4, -5, -6, -7, -100)
TIMES = tuple(NOW_MS + delta for delta in (0, 1000, 1001, 1002, 1500, 3000, 3001, 3002))
FULL, VOID, TIMELESS = 0, 1, 2
EPOCHS = 4
MAX_TIMESTAMPS = 7
CODECS = (0, GZIP, SNAPPY, LZ4, ZSTD)


def listing_offsets(side: Side) -> None:
    """Ask for offsets in every version."""
    name, packed, stamped = _filled(side), _packed(side), _stamped(side)
    for version in every(ListOffsetsRequest):
        for timestamp in (*SPECIAL, 0, 1, 2**63 - 1, *TIMES):
            told = f"now {timestamp - NOW_MS:+}" if timestamp in TIMES else str(timestamp)
            side.ask(f"at {told}", list_offsets(name, at(timestamp)), version)
            if timestamp < NOW_MS + 1000:
                side.ask(f"at {told}, empty", list_offsets(name, at(timestamp, VOID)), version)
                side.ask(f"at {told}, timeless", list_offsets(name, at(timestamp, TIMELESS)), version)
        _within(side, version, packed, stamped)
        _nowhere(side, version)
        _flags(side, version, name)
        if version >= EPOCHS:
            _epochs(side, version, name)
    _from_a_later_start(side, packed)
    _over_segments(side)


def _filled(side: Side) -> str:
    topic = create_topic(side, "listed", 3)
    for delta_ms in (1000, 3000, 2000, 3000):
        data = batch(records_of(2, timestamp_ms=NOW_MS + delta_ms))
        side.arrange(produce(9, topic, (FULL, data)), 9)
    side.arrange(produce(9, topic, (TIMELESS, batch([Record(timestamp_ms=-1)]))), 9)
    return topic.name


def _within(side: Side, version: int, packed: str, stamped: str) -> None:
    """Records inside batches, which may be compressed, or have the time of their append."""
    for partition in range(len(CODECS)):
        for delta_ms in (0, 1, 2, 3, 4, 9, 10):
            request = list_offsets(packed, at(NOW_MS + delta_ms, partition))
            side.ask(f"codec {CODECS[partition]}, at now {delta_ms:+}", request, version)
        if version >= MAX_TIMESTAMPS:
            side.ask(f"codec {CODECS[partition]}, largest", list_offsets(packed, at(-3, partition)), version)
    for partition in (0, 1):
        for timestamp in (0, -3) if version >= MAX_TIMESTAMPS else (0,):
            request = list_offsets(stamped, at(timestamp, partition))
            side.ask(f"stamped {partition}, at {timestamp}", request, version, keep=_without_time)
    side.ask("stamped, in the future", list_offsets(stamped, at(2 * NOW_MS)), version)


# Any: a ListOffsetsResponse.
def _without_time(answer: Any) -> None:
    """The broker's clock at the append."""
    for partition in answer.topics[0].partitions:
        partition.timestamp = min(partition.timestamp, NOW_MS)


def _packed(side: Side) -> str:
    """A partition a codec, with times that go back in a batch and between batches."""
    topic = create_topic(side, "listed-packed", len(CODECS))
    for partition, codec in enumerate(CODECS):
        for deltas_ms in ((1, 4, 2), (0, 3, 3), (9, 9, 1), (9, 2, 2)):
            records = [Record(timestamp_ms=NOW_MS + delta_ms) for delta_ms in deltas_ms]
            side.arrange(produce(9, topic, (partition, batch(records, codec=codec))), 9)
    return topic.name


def _stamped(side: Side) -> str:
    topic = create_topic(side, "listed-stamped", 2, message_timestamp_type="LogAppendTime")
    for partition, codec in enumerate((0, GZIP)):
        side.arrange(produce(9, topic, (partition, batch(records_of(3, timestamp_ms=5), codec=codec))), 9)
    return topic.name


def _from_a_later_start(side: Side, packed: str) -> None:
    """After DeleteRecords: nothing is listed by time that is before the start."""
    for start in (1, 4, 7, 11, 12):
        wanted = [DeleteRecordsPartition(partition_index=p, offset=start) for p in range(len(CODECS))]
        topics = [DeleteRecordsTopic(name=packed, partitions=wanted)]
        side.arrange(DeleteRecordsRequest(topics=topics, timeout_ms=10_000), 2)
        for partition, codec in enumerate(CODECS):
            for timestamp in (-1, -2, -3, -4, 0, *(NOW_MS + delta_ms for delta_ms in (1, 3, 5, 10))):
                told = f"now {timestamp - NOW_MS:+}" if timestamp > 0 else str(timestamp)
                request = list_offsets(packed, at(timestamp, partition))
                side.ask(f"codec {codec}, from {start}, at {told}", request, 11)


def _over_segments(side: Side) -> None:
    """One batch a segment; the largest time is in the third and again in the fifth."""
    topic = create_topic(side, "listed-segments", 1, segment_bytes=str(1 << 20), retention_ms="-1")
    for deltas_ms in ((50, 1), (2, 2), (90, 3), (4, 60), (90, 5)):
        records = [Record(value=bytes(300_000), timestamp_ms=NOW_MS + delta_ms) for delta_ms in deltas_ms]
        side.arrange(produce(9, topic, (0, batch(records))), 9)
    for start in (0, 1, 3, 5, 9):
        wanted = [DeleteRecordsPartition(partition_index=0, offset=start)]
        topics = [DeleteRecordsTopic(name=topic.name, partitions=wanted)]
        side.arrange(DeleteRecordsRequest(topics=topics, timeout_ms=10_000), 2)
        for timestamp in (-2, -3, *(NOW_MS + delta_ms for delta_ms in (0, 2, 3, 4, 6, 40, 60, 61, 90, 91))):
            told = f"now {timestamp - NOW_MS:+}" if timestamp > 0 else str(timestamp)
            side.ask(f"segments, from {start}, at {told}", list_offsets(topic.name, at(timestamp)), 11)


def _nowhere(side: Side, version: int) -> None:
    requests = {
        "invalid topic": list_offsets("not/valid", at(LATEST)),
        "empty topic": list_offsets("", at(LATEST)),
        "unknown partition": list_offsets("listed", at(LATEST, 9)),
        "partition -1": list_offsets("listed", at(LATEST, -1)),
        "known and unknown partition": list_offsets("listed", at(LATEST, 0), at(LATEST, 9)),
    }
    for timestamp in SPECIAL:
        requests[f"unknown topic at {timestamp}"] = list_offsets("unknown", at(timestamp))
    side.ask_each(requests, version)


def _flags(side: Side, version: int, name: str) -> None:
    twice = list_offsets(name, at(LATEST))
    twice.topics *= 2
    side.ask_each(
        {
            "committed": list_offsets(name, at(LATEST), isolation_level=1),
            "committed, largest time": list_offsets(name, at(MAX_TIMESTAMP), isolation_level=1),
            "isolation 9": list_offsets(name, at(LATEST), isolation_level=9),
            "replica 5": list_offsets(name, at(LATEST), replica_id=5),
            "replica -2": list_offsets(name, at(LATEST), replica_id=-2),
            "replica 1": list_offsets(name, at(LATEST), replica_id=1),
            "no topics": ListOffsetsRequest(replica_id=-1, topics=[]),
            "no partitions": list_offsets(name),
            "partition twice": list_offsets(name, at(LATEST), at(EARLIEST), at(EARLIEST, 1)),
            "topic twice": twice,
            "three partitions": list_offsets(name, *(at(LATEST, p) for p in (2, 0, 1))),
        },
        version,
    )


def _epochs(side: Side, version: int, name: str) -> None:
    for epoch in (-1, 0, 1, 9, -2):
        side.ask(f"epoch {epoch}", list_offsets(name, at(LATEST, epoch=epoch)), version)
        side.ask(f"epoch {epoch} at a time", list_offsets(name, at(NOW_MS, epoch=epoch)), version)
    side.ask("epoch 7, unknown partition", list_offsets(name, at(LATEST, 9, epoch=7)), version)
