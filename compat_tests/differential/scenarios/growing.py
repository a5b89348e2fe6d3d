"""CreatePartitions: more, fewer, as many, assigned, twice.

Called by `run`. Source: KIP-195; Kafka's ReplicationControlManager.createPartitions.
"""

from __future__ import annotations

from collections.abc import Sequence

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.topics import await_topic, create_topic
from wirekafka.protocol.apis.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)


def growing(side: Side) -> None:
    """Ask for partitions in every version, checked only and for real."""
    for version in every(CreatePartitionsRequest):
        name = create_topic(side, f"growing-{version}", 2).name
        for only in (True, False):
            told = ", only checked" if only else ""
            for label, topics in _refused(name).items():
                _ask(side, f"{label}{told}", version, topics, only)
        _ask(side, "many, only checked", version, [_to(name, 10_003)], True)
        _ask(side, "more, only checked", version, [_to(name, 5)], True)
        _ask(side, "more, and an unknown", version, [_to(name, 3), _to("unknown", 3)], False)
        await_topic(side, name, 3)
        _ask(side, "as many as now", version, [_to(name, 3)], False)
        _ask(side, "assigned", version, [_to(name, 5, [[1], [1]])], False)
        await_topic(side, name, 5)


def _to(name: str, count: int, assignments: Sequence[list[int]] | None = None) -> CreatePartitionsTopic:
    assigned = None
    if assignments is not None:
        assigned = [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=assigned)


def _ask(side: Side, label: str, version: int, topics: Sequence[CreatePartitionsTopic], only: bool) -> None:
    request = CreatePartitionsRequest(topics=list(topics), timeout_ms=10_000, validate_only=only)
    side.ask(label, request, version)


def _refused(name: str) -> dict[str, list[CreatePartitionsTopic]]:
    return {
        "none": [],
        "as many": [_to(name, 2)],
        "fewer": [_to(name, 1)],
        "0": [_to(name, 0)],
        "-1": [_to(name, -1)],
        "unknown": [_to("unknown", 4)],
        "invalid name": [_to("not/valid", 4)],
        "empty name": [_to("", 4)],
        "twice": [_to(name, 4), _to(name, 5)],
        "unknown twice": [_to("unknown", 4), _to("unknown", 5), _to(name, 1)],
        "assigned too few": [_to(name, 4, [[1]])],
        "assigned too many": [_to(name, 3, [[1], [1]])],
        "assigned to an unknown broker": [_to(name, 3, [[7]])],
        "assigned to nobody": [_to(name, 3, [[]])],
        "no assignments": [_to(name, 3, [])],
        "assigned to one broker twice": [_to(name, 3, [[1, 1]])],
        "assigned to two brokers": [_to(name, 3, [[1, 2]])],
        "as many, assigned": [_to(name, 2, [])],
        "fewer, assigned": [_to(name, 1, [[1]])],
    }
