"""OffsetCommit without members: to what is there, what is not, too much of it.

Called by `run`. Source: KIP-211, KIP-320 (epochs), KIP-848 (errors of v9), KIP-848 and KIP-516 (ids in v10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from compat_tests.differential.topics import EMPTY, INVALID, UNKNOWN, Topic, create_topic
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

IDS, EPOCHS, INSTANCES = 10, 6, 7
LAST_WITH_RETENTION = 4
LARGEST_METADATA = 4096
Wanted = Sequence[tuple[Topic, Sequence[int]]]


def offset_commits(side: Side) -> None:
    """Commit in every version."""
    await_groups(side)
    one, two = create_topic(side, "committed", 2), create_topic(side, "committed-too", 2)
    for version in every(OffsetCommitRequest):
        group = f"commits-{version}"
        _groups(side, version, group, one)
        _places(side, version, group, one, two)
        _values(side, version, group, one)


# Any: the arguments go to message classes that check them.
def _of(
    version: int,
    group: str,
    wanted: Wanted,
    *,
    generation: int = -1,
    member: str = "",
    partition: dict[str, Any] | None = None,
    **more: Any,
) -> OffsetCommitRequest:
    values: dict[str, Any] = {"committed_offset": 5, "committed_metadata": "m"} | (partition or {})
    topics = [
        OffsetCommitRequestTopic(
            partitions=[OffsetCommitRequestPartition(partition_index=p, **values) for p in partitions],
            **topic.named(version >= IDS),
        )
        for topic, partitions in wanted
    ]
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        topics=topics,
        **more,
    )


def _groups(side: Side, version: int, group: str, one: Topic) -> None:
    wanted = [(one, [0])]
    side.ask_each(
        {
            "empty group": _of(version, "", wanted),
            "member of a group that is not": _of(version, f"{group}-x", wanted, generation=1, member="x"),
            "generation of a group that is not": _of(version, f"{group}-x", wanted, generation=1),
            "member without generation": _of(version, f"{group}-y", wanted, member="x"),
            "generation -2": _of(version, f"{group}-z", wanted, generation=-2),
            "good": _of(version, group, wanted),
            "generation of an empty group": _of(version, group, wanted, generation=5, member="x"),
            "member of an empty group": _of(version, group, wanted, member="x"),
            "nothing, to a group that is not": _of(version, f"{group}-n", []),
        },
        version,
    )
    if version >= INSTANCES:
        side.ask("instance", _of(version, group, wanted, group_instance_id="i"), version)
        side.ask("empty instance", _of(version, group, wanted, group_instance_id=""), version)
    if version <= LAST_WITH_RETENTION:
        side.ask("retention 1 ms", _of(version, f"{group}-r", wanted, retention_time_ms=86_400_000), version)


def _places(side: Side, version: int, group: str, one: Topic, two: Topic) -> None:
    cases: dict[str, Wanted] = {
        "unknown topic": [(UNKNOWN, [0])],
        "unknown topic, two partitions": [(UNKNOWN, [0, 1])],
        "unknown partitions": [(one, [0, 9, -1])],
        "empty topic": [(EMPTY, [0])],
        "invalid topic": [(INVALID, [0])],
        "nothing": [],
        "no partitions": [(one, [])],
        "partition twice": [(one, [0, 0])],
        "topic twice": [(one, [0]), (one, [1])],
        "two topics and an unknown": [(two, [0]), (one, [1]), (UNKNOWN, [0, 1])],
    }
    side.ask_each({label: _of(version, group, wanted) for label, wanted in cases.items()}, version)


def _values(side: Side, version: int, group: str, one: Topic) -> None:
    cases: dict[str, dict[str, Any]] = {
        "offset -1": {"committed_offset": -1},
        "offset -5": {"committed_offset": -5},
        "offset largest": {"committed_offset": 2**63 - 1},
        "null metadata": {"committed_metadata": None},
        "empty metadata": {"committed_metadata": ""},
        "largest metadata": {"committed_metadata": "x" * LARGEST_METADATA},
        "metadata too large": {"committed_metadata": "x" * (LARGEST_METADATA + 1)},
        "metadata of wide letters": {"committed_metadata": "ä" * (LARGEST_METADATA // 2 + 1)},
    }
    if version >= EPOCHS:
        cases |= {"epoch 7": {"committed_leader_epoch": 7}, "epoch -5": {"committed_leader_epoch": -5}}
    for label, values in cases.items():
        side.ask(label, _of(version, group, [(one, [1])], partition=values), version)
