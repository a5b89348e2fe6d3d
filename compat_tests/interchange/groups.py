"""Makes groups of every kind in a broker, and takes down what is told of them.

Called by `test_groups`; asks by raw requests, as `compat_tests/differential` does.
Source: none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from compat_tests.differential.consumer_groups import LEAVES_FOR_A_WHILE, ConsumerGroup, ConsumerMember
from compat_tests.differential.fields import Plain, Stands, Text
from compat_tests.differential.groups import Asker, assignment, await_groups, subscription
from compat_tests.differential.plain import plain
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic, await_topic, create_topic
from wirekafka.protocol.apis.consumer_group_describe import ConsumerGroupDescribeRequest
from wirekafka.protocol.apis.describe_groups import DescribeGroupsRequest
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from wirekafka.protocol.message import Message

SETTINGS = {
    "offsets.topic.num.partitions": "4",
    "group.consumer.heartbeat.interval.ms": "5000",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.assignor.offload.enable": "false",
}
"""Both brokers have these: assignments are made within the heartbeat that asks for them."""
TOPICS = {"interchanged-one": 4, "interchanged-two": 1}
CLASSIC, STATIC, SIMPLE, SHARED, AWAY, SOUGHT, EMPTY, MIXED = GROUPS = tuple(
    f"interchanged-{kind}"
    for kind in ("classic", "static", "simple", "shared", "away", "sought", "empty", "mixed")
)
LOOKS = 200
"""How often it is looked whether a pattern has been looked up."""


@dataclass(slots=True)
class Made:
    """The members that hold on when the brokers change."""

    classic: str = ""
    static: str = ""
    mixed: str = ""
    newer: tuple[ConsumerMember, ...] = ()


@contextmanager
def side_of(name: str, bootstrap: str) -> Iterator[Side]:
    """Give a broker as raw requests see it."""
    side = Side(name, bootstrap)
    try:
        yield side
    finally:
        side.close()


def make_topics(side: Side) -> None:
    """Make the topics, the internal one too."""
    await_groups(side)
    for name, count in TOPICS.items():
        create_topic(side, name, count)


def make(side: Side) -> Made:
    """Make the groups, on topics that are there."""
    await_groups(side)
    one, two = (await_topic(side, name, count) for name, count in TOPICS.items())
    made = Made()
    made.classic = _classic(side, CLASSIC, one, None)
    made.static = _classic(side, STATIC, one, "i-classic")
    _commit(side, SIMPLE, one, "", -1)
    made.newer = (*_shared(side, one, two), _sought(side))
    _away(side, one)
    _emptied(side, one)
    made.mixed = _mixed(side, one)
    return made


def _classic(side: Side, group: str, topic: Topic, instance: str | None) -> str:
    asker = Asker(side, group, 9)
    protocols = (("range", subscription(topic.name)), ("sticky", subscription(topic.name)))
    member = str(asker.join_fully("join", protocols=protocols, instance=instance).member_id)
    asker.sync("sync", member, instance=instance, assignments=[(member, assignment((topic.name, [0, 1])))])
    _commit(side, group, topic, member, 1, instance)
    return member


def _shared(side: Side, one: Topic, two: Topic) -> tuple[ConsumerMember, ConsumerMember]:
    """Two members: one gives up what the other waits for.

    By the range assignor, for the uniform one takes topics in an order that goes by the hashes of their ids.
    """
    group = ConsumerGroup(side, SHARED, 1)
    first, second = group.member("m-a"), group.member("m-b")
    first.join("first joins", one.name, two.name, instance="i-a", rack="r", assignor="range")
    first.report("first reports")
    _commit(side, SHARED, one, first.member_id, first.epoch)
    second.join("second joins", one.name, two.name, assignor="range")
    first.beat("first hears")
    return first, second


def _away(side: Side, one: Topic) -> None:
    group = ConsumerGroup(side, AWAY, 1)
    first = group.member("m-away")
    first.join("joins", one.name, instance="i", assignor="range")
    first.leave("goes for a while", LEAVES_FOR_A_WHILE, instance="i")


def _sought(side: Side) -> ConsumerMember:
    group = ConsumerGroup(side, SOUGHT, 1)
    member = group.member("m-sought")
    member.join("joins by pattern", topics=None, pattern="interchanged-.*")
    for _ in range(LOOKS):
        member.beat("beats")
        if member.assigned:
            break
    member.report("reports")
    return member


def _emptied(side: Side, one: Topic) -> None:
    group = ConsumerGroup(side, EMPTY, 1)
    member = group.member("m")
    member.join("joins", one.name)
    _commit(side, EMPTY, one, member.member_id, member.epoch)
    member.leave("leaves")


def _mixed(side: Side, one: Topic) -> str:
    """A classic group to which a member of the new protocol has come."""
    member = _classic(side, MIXED, one, None)
    ConsumerGroup(side, MIXED, 1).join("newer joins", "m-new", one.name)
    return member


def _commit(
    side: Side, group: str, topic: Topic, member_id: str, epoch: int, instance: str | None = None
) -> None:
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata="m")]
    request = OffsetCommitRequest(
        group_id=group,
        member_id=member_id,
        generation_id_or_member_epoch=epoch,
        group_instance_id=instance,
        topics=[OffsetCommitRequestTopic(name=topic.name, partitions=partitions)],
    )
    side.ask("commit", request, 9)


def told(side: Side) -> dict[str, Plain]:
    """Ask for all that a broker tells of the groups."""
    await_groups(side)
    for name, count in TOPICS.items():
        await_topic(side, name, count)
    asked: dict[str, tuple[Message, int]] = {
        "described": (DescribeGroupsRequest(groups=[*GROUPS]), 6),
        "described as new": (ConsumerGroupDescribeRequest(group_ids=[*GROUPS]), 1),
        "listed": (ListGroupsRequest(), 5),
        "offsets": (
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=g, topics=None) for g in GROUPS]),
            9,
        ),
    }
    return {label: _asked(side, message, version) for label, (message, version) in asked.items()}


# Any: the answer's type follows from the request's.
def _asked(side: Side, message: Message, version: int) -> Plain:
    answer: Any = side.arrange(message, version)
    if isinstance(message, ListGroupsRequest):
        answer.groups = [group for group in answer.groups if group.group_id in GROUPS]
    return plain(answer, _AsTheyAre(topics=side.stands.topics))


class _AsTheyAre(Stands):
    """Random ids are told as they are, for they must outlive the broker."""

    def for_text(self, name: str, value: str) -> Plain:
        return Text(value) if name == "error_message" else value


def go_on(side: Side, made: Made) -> list[tuple[str, Plain]]:
    """Let the members go on where they were, and give what they were answered."""
    side.exchanges.clear()
    first, second, sought = (
        ConsumerMember(
            ConsumerGroup(side, member.group.name, 1), member.member_id, member.epoch, member.assigned
        )
        for member in made.newer
    )
    for group, member in ((CLASSIC, made.classic), (STATIC, made.static)):
        asker = Asker(side, group, 9)
        asker.heartbeat(f"{group} beats", member)
        asker.sync(f"{group} syncs", member)
    Asker(side, STATIC, 9).heartbeat("static beats by name", made.static, instance="i-classic")
    Asker(side, MIXED, 9).heartbeat("mixed beats", made.mixed)
    for label in ("once", "twice"):
        second.beat(f"second waits, {label}")
        first.report(f"first has given up, {label}")
    second.beat("second gets its part")
    second.report("second reports")
    sought.beat("sought beats")
    back = ConsumerGroup(side, AWAY, 1)
    back.join("comes back", "m-back", "interchanged-one", instance="i")
    ConsumerGroup(side, SOUGHT, 1).join("second by pattern", "m-2", topics=None, pattern="interchanged-.*")
    ConsumerGroup(side, EMPTY, 1).join("joins the empty one", "m", "interchanged-one")
    return [(exchange.label, exchange.answer) for exchange in side.exchanges]
