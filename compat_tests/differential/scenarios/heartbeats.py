"""ConsumerGroupHeartbeat of one member: every mistake, its life, and ConsumerGroupDescribe on the way.

Called by `run`. Source: KIP-848; Kafka's GroupCoordinatorService and GroupMetadataManager.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.consumer_groups import (
    FIRST_WITH_PATTERNS,
    LEAVES,
    LEAVES_FOR_A_WHILE,
    ConsumerGroup,
    create_topic_for_groups,
    held,
)
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from wirekafka.protocol.apis.consumer_group_describe import ConsumerGroupDescribeRequest
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def heartbeats(side: Side) -> None:
    """Join, beat, fall behind and leave in every version."""
    await_groups(side)
    topic = create_topic_for_groups(side, "beaten", 3)
    for version in every(ConsumerGroupHeartbeatRequest):
        side.stands.begin()
        group = ConsumerGroup(side, f"beaten-{version}", version)
        _refused(group, topic)
        _unknown(group)
        _joined(group, topic)
        _behind(group, topic)
        _left(group, topic)
        _member_ids(group, topic)
        _assignors(group, topic)


def _refused(group: ConsumerGroup, topic: Topic) -> None:
    """What is wrong whatever the group."""
    name = topic.name
    group.join("empty group", "m", name, group="")
    group.join("empty instance", "m", name, instance="")
    group.join("empty rack", "m", name, rack="")
    group.join("no rebalance timeout", "m", name, timeout_ms=-1)
    group.join("no owned partitions", "m", name, owned=None)
    group.join("owned partitions", "m", name, owned=[held(topic, 0)])
    group.join("no subscription", "m", topics=None)
    group.join("unknown assignor", "m", name, assignor="sticky")
    group.join("empty assignor", "m", name, assignor="")
    group.join("everything wrong", "m", topics=None, timeout_ms=-1, assignor="sticky", instance="")
    group.beat("epoch -3", "m", -3)
    group.beat("leaves for a while without instance", "m", LEAVES_FOR_A_WHILE)
    group.beat("empty member beats", "", 5)
    group.beat("empty member leaves", "", LEAVES)
    group.beat("unknown assignor later", "m", 4, assignor="sticky")
    group.describe("describe before anybody is in")


def _unknown(group: ConsumerGroup) -> None:
    """What is right, but of a group that is not there."""
    unknown = f"{group.name}-unknown"
    group.beat("beat of unknown group", "m", 1, group=unknown)
    group.beat("leave of unknown group", "m", LEAVES, group=unknown)
    group.beat("leave for a while of unknown group", "m", LEAVES_FOR_A_WHILE, group=unknown, instance="i")
    group.describe("describe unknown and empty", unknown, "", operations=True)
    group.side.ask("describe none", ConsumerGroupDescribeRequest(group_ids=[]), group.version)


def _joined(group: ConsumerGroup, topic: Topic) -> None:
    member = group.member("m-joined")
    member.join("join", topic.name)
    group.describe("describe after join")
    group.beat("join again", member.member_id, 0, topics=[topic.name], owned=(), timeout_ms=60_000)
    member.beat("beat")
    member.report("report")
    member.beat("beat after report")
    group.describe("describe after report", group.name, operations=True)
    group.describe("describe twice, and an unknown", group.name, "unknown", group.name)
    member.beat("beat with everything", topics=[topic.name], owned=member.assigned, timeout_ms=60_000)
    member.beat("beat with another timeout", timeout_ms=30_000)
    member.beat("beat with timeout 0", timeout_ms=0)
    member.beat("beat with timeout -2", timeout_ms=-2)
    member.beat("beat with a rack", rack="r1")
    member.beat("beat with an instance", instance="i-late")
    member.beat("beat holding nothing", owned=())
    member.beat("beat holding less", owned=[held(topic, 0)])
    member.beat("beat holding too much", owned=[held(topic, 0, 1, 2, 7)])
    member.beat("beat holding an unknown topic", owned=[held(Topic("unknown"), 0)])
    member.beat("beat holding one twice", owned=[held(topic, 0, 0), held(topic, 1)])
    group.describe("describe after odd beats")
    member.leave("leave of another group", group="unknown")
    member.leave("leave")


def _behind(group: ConsumerGroup, topic: Topic) -> None:
    """Epochs that are too low, too high, and of members nobody knows."""
    member = group.member("m-behind")
    member.join("join for epochs", topic.name)
    member.report("report for epochs")
    name = member.member_id
    before = member.epoch
    group.beat("unknown member", "m-nobody", 1)
    group.beat("epoch too high", name, before + 3)
    member.beat("subscribe to one more", topics=[topic.name, "beaten-unknown"])
    group.beat("the epoch before", name, member.epoch - 1, owned=member.assigned)
    group.beat("the epoch before, holding nothing", name, member.epoch - 1, owned=())
    group.beat("the epoch before, holding an unknown one", name, member.epoch - 1, owned=[held(topic, 9)])
    group.beat("the epoch before, silent about partitions", name, member.epoch - 1)
    group.beat("two epochs before", name, member.epoch - 2, owned=member.assigned)
    group.describe("describe for epochs")
    group.beat("rejoin with epoch 0", name, 0, topics=[topic.name], owned=(), timeout_ms=60_000)
    group.describe("describe after rejoin")
    member.leave("leave after epochs")


def _left(group: ConsumerGroup, topic: Topic) -> None:
    member = group.member("m-left")
    member.join("join to leave", topic.name)
    group.beat("leave of unknown member", "m-nobody", LEAVES)
    member.leave("leave with an instance nobody has", instance="i-nobody")
    member.leave("leave at last")
    member.leave("leave again")
    member.beat("beat after leaving")
    group.describe("describe the empty group", operations=True)
    member.join("join after leaving", topic.name)
    group.describe("describe after coming back")
    member.leave("leave for good")


def _member_ids(group: ConsumerGroup, topic: Topic) -> None:
    """Before version 1 the broker makes a member id where there is none."""
    other = ConsumerGroup(group.side, f"{group.name}-ids", group.version)
    answer = other.join("join without member id", "", topic.name)
    if answer is not None and answer.member_id:
        other.beat("beat with the member id given", answer.member_id, answer.member_epoch)
        other.describe("describe a member id given")
        other.beat("leave with the member id given", answer.member_id, LEAVES)
    other.join("join with a long member id", "long-" * 40, topic.name)
    other.describe("describe a long member id")


def _assignors(group: ConsumerGroup, topic: Topic) -> None:
    for assignor in ("uniform", "range"):
        other = ConsumerGroup(group.side, f"{group.name}-{assignor}", group.version)
        member = other.member("m")
        member.join(f"join for {assignor}", topic.name, assignor=assignor)
        other.describe(f"describe {assignor}")
        member.beat(f"from {assignor} to range", assignor="range")
        other.describe(f"describe {assignor}, then range")
        second = other.member("m-second")
        second.join(f"join as second of {assignor}", topic.name, assignor="uniform")
        third = other.member("m-third")
        third.join(f"join as third of {assignor}", topic.name, assignor="uniform")
        other.describe(f"describe a vote against {assignor}")
    none = ConsumerGroup(group.side, f"{group.name}-none", group.version)
    none.join("join for no topic", "m")
    none.describe("describe a member for no topic")
    none.join("join for one topic twice", "m-twice", topic.name, topic.name)
    none.join("join for an empty name", "m-empty", "")
    none.join("join for an invalid name", "m-invalid", "not/valid")
    none.describe("describe members for odd topics")
    if group.version >= FIRST_WITH_PATTERNS:
        none.join("join for a name and a pattern", "m-both", topic.name, pattern="beate.")
