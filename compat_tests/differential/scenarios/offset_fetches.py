"""OffsetFetch: of groups and topics that are and that are not, all of them, of members.

Called by `run`, after `offset_commits` if that runs, whose groups it reads too.
Source: KIP-88 (all topics), KIP-447 (stable), KIP-709 (many groups), KIP-848 (members).
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
from wirekafka.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

ALL, STABLE, MANY, MEMBERS, IDS = 2, 7, 8, 9, 10
GROUP, NOBODY = "fetches", "nobodys"
Wanted = Sequence[tuple[Topic, Sequence[int]]]


def offset_fetches(side: Side) -> None:
    """Read committed offsets in every version."""
    await_groups(side)
    one, two = create_topic(side, "asked-for", 2), create_topic(side, "never-committed", 2)
    _commit(side, one)
    for version in every(OffsetFetchRequest):
        _places(side, version, one, two)
        if version >= ALL:
            for label, group in (("all", GROUP), ("all of nobody", NOBODY), ("all of empty group", "")):
                side.ask(label, _of(version, None, group), version)
        if version >= STABLE:
            side.ask("stable", _of(version, [(one, [0, 1])], stable=True), version)
            side.ask("all, stable", _of(version, None, stable=True), version)
        if version >= MANY:
            _groups(side, version)
        if version >= MEMBERS:
            _members(side, version, one)


def _commit(side: Side, topic: Topic) -> None:
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=p, committed_offset=10 + p, committed_leader_epoch=p, committed_metadata="m" * p
        )
        for p in (0, 1)
    ]
    wanted = OffsetCommitRequestTopic(name=topic.name, partitions=partitions)
    side.ask("commit", OffsetCommitRequest(group_id=GROUP, member_id="", topics=[wanted]), 9)


def _of(
    version: int, wanted: Wanted | None, group: str = GROUP, *, stable: bool = False, **member: Any
) -> OffsetFetchRequest:
    if version < MANY:
        named = None
        if wanted is not None:
            named = [OffsetFetchRequestTopic(name=t.name, partition_indexes=list(p)) for t, p in wanted]
        return OffsetFetchRequest(group_id=group, topics=named, require_stable=stable)
    topics = None
    if wanted is not None:
        topics = [
            OffsetFetchRequestTopics(partition_indexes=list(p), **t.named(version >= IDS)) for t, p in wanted
        ]
    one = OffsetFetchRequestGroup(group_id=group, topics=topics, **member)
    return OffsetFetchRequest(groups=[one], require_stable=stable)


def _places(side: Side, version: int, one: Topic, two: Topic) -> None:
    cases: dict[str, tuple[Wanted, str]] = {
        "good": ([(one, [0, 1])], GROUP),
        "never committed": ([(two, [0, 1])], GROUP),
        "unknown topic": ([(UNKNOWN, [0])], GROUP),
        "unknown partitions": ([(one, [9, -1])], GROUP),
        "empty topic": ([(EMPTY, [0])], GROUP),
        "invalid topic": ([(INVALID, [0])], GROUP),
        "of nobody": ([(one, [0]), (UNKNOWN, [0])], NOBODY),
        "of empty group": ([(one, [0])], ""),
        "nothing": ([], GROUP),
        "nothing of nobody": ([], NOBODY),
        "no partitions": ([(one, [])], GROUP),
        "twice": ([(one, [0, 0]), (one, [0])], GROUP),
        "three topics": ([(one, [0]), (UNKNOWN, [0]), (two, [0])], GROUP),
    }
    for label, (wanted, group) in cases.items():
        side.ask(label, _of(version, wanted, group), version)


def _groups(side: Side, version: int) -> None:
    side.ask("no groups", OffsetFetchRequest(groups=[]), version)
    wanted = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in (GROUP, NOBODY, "", GROUP)]
    side.ask("four groups", OffsetFetchRequest(groups=wanted), version)


def _members(side: Side, version: int, one: Topic) -> None:
    wanted = [(one, [0])]
    side.ask_each(
        {
            "member and epoch": _of(version, wanted, member_id="x", member_epoch=3),
            "member and epoch of nobody": _of(version, wanted, NOBODY, member_id="x", member_epoch=3),
            "epoch alone": _of(version, wanted, member_epoch=0),
            "member alone": _of(version, wanted, member_id="x"),
            "empty member": _of(version, wanted, member_id="", member_epoch=1),
            "all, member and epoch": _of(version, None, member_id="x", member_epoch=3),
        },
        version,
    )
