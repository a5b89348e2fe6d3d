"""OffsetCommit and OffsetFetch of members of consumer groups: whose epoch is too old, and who nobody knows.

Called by `run`. Source: KIP-848 (errors 110 and 113 in place of 22); KIP-1251 (commits during a change).
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.consumer_groups import (
    LEAVES_FOR_A_WHILE,
    ConsumerGroup,
    ConsumerMember,
    create_topic_for_groups,
)
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from wirekafka.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

COMMITS, FETCHES = (2, 7, 8, 9, 10), (8, 9, 10)
IDS = 10
INSTANCES, MEMBERS = 7, 9


def member_offsets(side: Side) -> None:
    """Commit and fetch with every epoch a member can have, and with those it cannot."""
    await_groups(side)
    topic = create_topic_for_groups(side, "members-offsets", 2)
    group = ConsumerGroup(side, "members-offsets", 1)
    first, second = group.member("m-a"), group.member("m-b")
    first.join("first joins", topic.name)
    first.report("first reports")
    _commits(group, topic, first, "alone")
    second.join("second joins", topic.name)
    _commits(group, topic, first, "before it hears of the second")
    first.beat("first hears")
    _commits(group, topic, first, "while giving up")
    _commits(group, topic, second, "while waiting")
    first.report("first has given up")
    _commits(group, topic, first, "after giving up")
    second.beat("second gets its part")
    second.report("second reports")
    _commits(group, topic, second, "with its part")
    _fetches(group, topic, first)
    _static(side, topic)
    first.leave("first leaves")
    second.leave("second leaves")
    _commits(group, topic, first, "after leaving")
    _fetches(group, topic, first, "after leaving: ")


def _commit(group: ConsumerGroup, topic: Topic, version: int, **fields: Any) -> OffsetCommitRequest:
    partitions = [
        OffsetCommitRequestPartition(partition_index=p, committed_offset=5 + p, committed_metadata="m")
        for p in (0, 1)
    ]
    wanted = OffsetCommitRequestTopic(partitions=partitions, **topic.named(version >= IDS))
    return OffsetCommitRequest(group_id=group.name, topics=[wanted], **fields)


def _commits(group: ConsumerGroup, topic: Topic, member: ConsumerMember, when: str) -> None:
    epochs = {
        "its epoch": (member.member_id, member.epoch),
        "the epoch before": (member.member_id, member.epoch - 1),
        "an epoch to come": (member.member_id, member.epoch + 1),
        "epoch 0": (member.member_id, 0),
        "epoch -1": (member.member_id, -1),
        "epoch -2": (member.member_id, -2),
        "nobody's id": ("m-nobody", member.epoch),
        "no id": ("", member.epoch),
        "neither id nor epoch": ("", -1),
    }
    for version in COMMITS:
        for label, (member_id, epoch) in epochs.items():
            request = _commit(group, topic, version, member_id=member_id, generation_id_or_member_epoch=epoch)
            group.side.ask(f"{member.member_id} commits {when}, {label}", request, version)
        if version >= INSTANCES:
            request = _commit(
                group,
                topic,
                version,
                member_id=member.member_id,
                generation_id_or_member_epoch=member.epoch,
                group_instance_id="i-nobody",
            )
            group.side.ask(f"{member.member_id} commits {when}, an instance nobody has", request, version)


def _fetches(group: ConsumerGroup, topic: Topic, member: ConsumerMember, when: str = "") -> None:
    wanted = {
        "its epoch": (member.member_id, member.epoch),
        "the epoch before": (member.member_id, member.epoch - 1),
        "an epoch to come": (member.member_id, member.epoch + 1),
        "epoch -1": (member.member_id, -1),
        "nobody's id": ("m-nobody", member.epoch),
        "no id": ("", member.epoch),
        "null id": (None, member.epoch),
        "null id and no epoch": (None, -1),
    }
    for version in FETCHES:
        for label, (member_id, epoch) in wanted.items() if version >= MEMBERS else [("", (None, -1))]:
            for what, everything in (("all", True), ("one", False)):
                topics = [OffsetFetchRequestTopics(partition_indexes=[0, 1], **topic.named(version >= IDS))]
                asked = OffsetFetchRequestGroup(
                    group_id=group.name,
                    topics=None if everything else topics,
                    member_id=member_id,
                    member_epoch=epoch,
                )
                group.side.ask(f"{when}fetch {what}, {label}", OffsetFetchRequest(groups=[asked]), version)


def _static(side: Side, topic: Topic) -> None:
    """A static member that is away may not commit, nor may anybody by its name."""
    group = ConsumerGroup(side, "members-offsets-static", 1)
    member = group.member("m-static")
    member.join("static joins", topic.name, instance="i")
    _commits(group, topic, member, "as static")
    member.leave("static goes for a while", LEAVES_FOR_A_WHILE, instance="i")
    _commits(group, topic, member, "while away")
