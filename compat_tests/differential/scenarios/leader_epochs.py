"""OffsetForLeaderEpoch. Called by `run`. Source: KIP-101, KIP-320."""

from __future__ import annotations

import itertools
from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.batches import batch, records_of
from compat_tests.differential.requests import produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

FULL, VOID = 0, 1
FIRST_WITH_REPLICA_ID = 3


def leader_epochs(side: Side) -> None:
    """Ask for each mixture of partition, current epoch and wanted epoch."""
    topic = create_topic(side, "epochs", 2)
    side.arrange(produce(9, topic, (FULL, batch(records_of(2)))), 9)
    for version in every(OffsetForLeaderEpochRequest):
        for partition, current, epoch in itertools.product(
            (FULL, VOID, 9, -1), (-2, -1, 0, 5), (-1, 0, 1, 5)
        ):
            wanted = _partition(partition, epoch, current_leader_epoch=current)
            side.ask(
                f"partition {partition}, current {current}, epoch {epoch}", _of("epochs", wanted), version
            )
        _topics(side, version)


def _partition(partition: int, epoch: int, **more: Any) -> OffsetForLeaderPartition:
    return OffsetForLeaderPartition(partition=partition, leader_epoch=epoch, **more)


def _of(topic: str, *partitions: OffsetForLeaderPartition, **more: Any) -> OffsetForLeaderEpochRequest:
    wanted = [OffsetForLeaderTopic(topic=topic, partitions=list(partitions))]
    return OffsetForLeaderEpochRequest(topics=wanted, **more)


def _topics(side: Side, version: int) -> None:
    one = _partition(0, 0)
    twice = _of("epochs", one)
    twice.topics *= 2
    requests = {
        "unknown topic": _of("unknown", one),
        "invalid topic": _of("not/valid", one),
        "empty topic": _of("", one),
        "no topics": OffsetForLeaderEpochRequest(topics=[]),
        "no partitions": _of("epochs"),
        "partition twice": _of("epochs", one, _partition(0, 5)),
        "topic twice": twice,
        "known and unknown partition": _of("epochs", one, _partition(7, 0)),
    }
    if version >= FIRST_WITH_REPLICA_ID:
        for replica_id in (5, 1, -1, -2):
            requests[f"replica {replica_id}"] = _of("epochs", one, replica_id=replica_id)
    side.ask_each(requests, version)
