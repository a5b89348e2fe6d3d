"""Members of consumer groups for the scenarios: what one sends, and what it holds.

Called by the scenarios with consumer groups. Source: KIP-848; KIP-1082 (member ids made by the client).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic, create_topic
from wirekafka.protocol.apis.consumer_group_describe import ConsumerGroupDescribeRequest
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatTopicPartitions,
)

REBALANCE_MS = 60_000
COORDINATOR_PARTS = 4
"""How many partitions __consumer_offsets has in the brokers that are compared."""
JOINS, LEAVES, LEAVES_FOR_A_WHILE = 0, -1, -2
"""Epochs that say what a member does; the last is for static members."""
FIRST_WITH_PATTERNS = 1
Owned = Sequence[HeartbeatTopicPartitions]


def held(topic: Topic, *partitions: int) -> HeartbeatTopicPartitions:
    """Name partitions of a topic as a member that holds them does."""
    return HeartbeatTopicPartitions(topic_id=topic.topic_id, partitions=list(partitions))


def beat_of(
    group: str,
    member_id: str,
    epoch: int,
    *,
    topics: Sequence[str] | None = None,
    pattern: str | None = None,
    owned: Owned | None = None,
    timeout_ms: int = -1,
    instance: str | None = None,
    rack: str | None = None,
    assignor: str | None = None,
) -> ConsumerGroupHeartbeatRequest:
    """Make a heartbeat; what is left out has not changed since the last."""
    return ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member_id,
        member_epoch=epoch,
        instance_id=instance,
        rack_id=rack,
        rebalance_timeout_ms=timeout_ms,
        subscribed_topic_names=None if topics is None else list(topics),
        subscribed_topic_regex=pattern,
        server_assignor=assignor,
        topic_partitions=None if owned is None else list(owned),
    )


def create_topic_for_groups(side: Side, name: str, partition_count: int = 1) -> Topic:
    """Create a topic, and wait until every part of the coordinator knows it; they hear of it a moment later.

    One-letter groups, one for each part, are asked to assign it.
    """
    topic = create_topic(side, name, partition_count)
    for number in range(COORDINATOR_PARTS):
        group = chr(ord("a") + number)
        first: dict[str, Any] = {"topics": (name,), "owned": (), "timeout_ms": REBALANCE_MS}
        request = beat_of(group, "m-asks", JOINS, **first)
        side.arrange_until(
            request, 1, lambda answer: bool(answer.assignment and answer.assignment.topic_partitions)
        )
        side.arrange(beat_of(group, "m-asks", LEAVES), 1)
    return topic


@dataclass(slots=True)
class ConsumerGroup:
    """Asks a broker about one group, all in one version."""

    side: Side
    name: str
    version: int

    # Any: a response, or None; the arguments are those of `beat_of`. As for Side.ask.
    def beat(self, label: str, member_id: str, epoch: int, *, group: str | None = None, **fields: Any) -> Any:
        request = beat_of(self.name if group is None else group, member_id, epoch, **fields)
        return self.side.ask(label, request, self.version)

    # Any: as for `beat`.
    def join(self, label: str, member_id: str, *topics: str, **fields: Any) -> Any:
        first: dict[str, Any] = {"topics": topics, "owned": (), "timeout_ms": REBALANCE_MS}
        return self.beat(label, member_id, JOINS, **first | fields)

    # Any: as for `beat`.
    def describe(self, label: str, *groups: str, operations: bool = False) -> Any:
        request = ConsumerGroupDescribeRequest(
            group_ids=list(groups or (self.name,)), include_authorized_operations=operations
        )
        return self.side.ask(label, request, self.version)

    def member(self, member_id: str) -> ConsumerMember:
        return ConsumerMember(self, member_id)


@dataclass(slots=True)
class ConsumerMember:
    """One member, which keeps its epoch and what it was told to hold."""

    group: ConsumerGroup
    member_id: str
    epoch: int = 0
    assigned: Owned = field(default_factory=tuple)

    # Any: as for ConsumerGroup.beat.
    def join(self, label: str, *topics: str, **fields: Any) -> Any:
        return self.hear(self.group.join(label, self.member_id, *topics, **fields))

    # Any: as for ConsumerGroup.beat.
    def beat(self, label: str, **fields: Any) -> Any:
        """Say that nothing has changed, but for what is named."""
        return self.hear(self.group.beat(label, self.member_id, self.epoch, **fields))

    def report(self, label: str) -> Any:
        """Say that it holds what it was last told to."""
        return self.beat(label, owned=self.assigned)

    def leave(self, label: str, epoch: int = LEAVES, **fields: Any) -> Any:
        return self.group.beat(label, self.member_id, epoch, **fields)

    def await_news(self) -> None:
        """Beat, unseen, until the group has moved on: the broker hears of topics a moment later."""
        request = beat_of(self.group.name, self.member_id, self.epoch)

        # Any: a ConsumerGroupHeartbeatResponse.
        def is_news(answer: Any) -> bool:
            return bool(answer.error_code or answer.assignment or answer.member_epoch != self.epoch)

        self.hear(self.group.side.arrange_until(request, self.group.version, is_news))

    # Any: a ConsumerGroupHeartbeatResponse, or None.
    def hear(self, answer: Any) -> Any:
        """Keep what an answer says."""
        if answer is not None and answer.error_code == 0:
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.assigned = answer.assignment.topic_partitions
        return answer
