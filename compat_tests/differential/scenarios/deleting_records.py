"""DeleteRecords. Called by `run`. Source: KIP-107, KIP-204."""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.batches import batch, records_of
from compat_tests.differential.requests import list_offsets, produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from wirekafka.protocol.apis.list_offsets import ListOffsetsPartition

FULL, VOID = 0, 1
EARLIEST = -2
OFFSETS = (0, 3, 2, 11, -2, -(2**63), 2**63 - 1, 10, -1, 0)
"""In this order: forwards, back, behind the end, no offset at all, to the end."""


def deleting_records(side: Side) -> None:
    """Move the start of logs with each kind of offset, and look where they begin then."""
    for version in every(DeleteRecordsRequest):
        topic = create_topic(side, f"shortened-{version}", 2)
        side.arrange(produce(9, topic, (FULL, batch(records_of(10)))), 9)
        for partition in (FULL, VOID, 9, -1):
            for number, offset in enumerate(OFFSETS):
                label = f"partition {partition}, {number}: offset {offset}"
                side.ask(label, _of(topic.name, (partition, offset)), version)
                _ask_start(side, f"start after v{version}, {label}", topic.name)
        _policies(side, version)
        _shapes(side, version)


def _policies(side: Side, version: int) -> None:
    """Topics that are compacted, with and without retention, and Kafka's own."""
    for policy in ("compact", "compact,delete", "delete"):
        name = f"{policy.replace(',', '-')}-{version}"
        topic = create_topic(side, name, cleanup_policy=policy)
        side.arrange(produce(9, topic, (FULL, batch(records_of(4)))), 9)
        for offset in (2, -1, 9):
            side.ask(f"policy {policy}: offset {offset}", _of(name, (FULL, offset)), version)
    for name in ("__cluster_metadata", "unknown", "not/valid", ""):
        side.ask(f"topic {name!r}", _of(name, (FULL, 0)), version)


def _shapes(side: Side, version: int) -> None:
    name = f"shapes-{version}"
    topic = create_topic(side, name, 3)
    records = batch(records_of(10))
    side.arrange(produce(9, topic, *((index, records) for index in range(3))), 9)
    side.ask_each(
        {
            "no topics": DeleteRecordsRequest(topics=[], timeout_ms=1000),
            "no partitions": _of(name),
            "good and bad partitions": _of(name, (0, 1), (1, 99), (7, 0), (2, -1)),
            "partition twice": _of(name, (0, 4), (0, 3)),
            "topic twice": DeleteRecordsRequest(
                topics=[*_of(name, (0, 5)).topics, *_of(name, (1, 5)).topics], timeout_ms=1000
            ),
            "no time": DeleteRecordsRequest(topics=_of(name, (1, 6)).topics, timeout_ms=0),
            "time below zero": DeleteRecordsRequest(topics=_of(name, (1, 7)).topics, timeout_ms=-1),
        },
        version,
    )
    for index in range(3):
        _ask_start(side, f"start of {index} after all, v{version}", name, index)


def _ask_start(side: Side, label: str, topic: str, index: int = FULL) -> None:
    wanted = ListOffsetsPartition(partition_index=index, timestamp=EARLIEST)
    side.ask(label, list_offsets(topic, wanted), 7)


def _of(topic: str, *partitions: tuple[int, int]) -> DeleteRecordsRequest:
    wanted = [DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in partitions]
    return DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=wanted)], timeout_ms=1000)
