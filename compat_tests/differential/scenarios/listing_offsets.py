"""ListOffsets: by time, and by each special timestamp, for full, empty and timeless partitions.

Called by `run`. Source: KIP-79, KIP-320 (epochs), KIP-734 (max timestamp), KIP-405 and KIP-1005 (tiers).
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.batches import NOW_MS, Record, batch, records_of
from compat_tests.differential.requests import at, list_offsets, produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.list_offsets import ListOffsetsRequest

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
SPECIAL = (-1, -2, -3, -4, -5, -6, -7, -100)
TIMES = tuple(NOW_MS + delta for delta in (0, 1000, 1001, 1002, 1500, 3000, 3001, 3002))
FULL, VOID, TIMELESS = 0, 1, 2
EPOCHS = 4


def listing_offsets(side: Side) -> None:
    """Ask for offsets in every version."""
    name = _filled(side)
    for version in every(ListOffsetsRequest):
        for timestamp in (*SPECIAL, 0, 1, 2**63 - 1, *TIMES):
            told = f"now {timestamp - NOW_MS:+}" if timestamp in TIMES else str(timestamp)
            side.ask(f"at {told}", list_offsets(name, at(timestamp)), version)
            if timestamp < NOW_MS + 1000:
                side.ask(f"at {told}, empty", list_offsets(name, at(timestamp, VOID)), version)
                side.ask(f"at {told}, timeless", list_offsets(name, at(timestamp, TIMELESS)), version)
        _nowhere(side, version)
        _flags(side, version, name)
        if version >= EPOCHS:
            _epochs(side, version, name)


def _filled(side: Side) -> str:
    topic = create_topic(side, "listed", 3)
    for delta_ms in (1000, 3000, 2000, 3000):
        data = batch(records_of(2, timestamp_ms=NOW_MS + delta_ms))
        side.arrange(produce(9, topic, (FULL, data)), 9)
    side.arrange(produce(9, topic, (TIMELESS, batch([Record(timestamp_ms=-1)]))), 9)
    return topic.name


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
