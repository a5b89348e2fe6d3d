"""Playbooks of consumer groups: members that follow the new protocol, and topics that come and go.

`ConsumerPlaybook` is a shard with its log, its clock and its topics; a `Consumer` is a client that does
what it is told, and keeps what a client keeps: its epoch, and what it was assigned.

Source: KIP-848, the member's side.
"""

from collections.abc import Iterable

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import Client, GroupConfig, GroupShard
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.topics import TopicFacts
from wirekafka.machine import KeyValue
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatTopicPartitions,
)
from wirekafka.protocol.error_codes import ErrorCode

WALL_LEAD_MS = 1_000_000
"""How far the wall clock is ahead: a stored time of 0 means that there is none."""


class KnownTopics:
    """The topics of the playbook; the id of a topic is never given to another."""

    def __init__(self) -> None:
        self.generation = 0
        self._by_name: dict[str, TopicFacts] = {}
        self._made = 0

    def named(self, name: str) -> TopicFacts | None:
        return self._by_name.get(name)

    def with_id(self, topic_id: bytes) -> TopicFacts | None:
        return next((facts for facts in self._by_name.values() if facts.topic_id == topic_id), None)

    def names(self) -> Iterable[str]:
        return list(self._by_name)

    def put(self, name: str, partition_count: int) -> None:
        """Create a topic, or give it more partitions."""
        known = self._by_name.get(name)
        self._made += known is None
        topic_id = self._made.to_bytes(16, "big") if known is None else known.topic_id
        self._by_name[name] = TopicFacts(name, topic_id, partition_count, (frozenset(),) * partition_count)
        self.generation += 1

    def remove(self, name: str) -> None:
        del self._by_name[name]
        self.generation += 1


class Consumer:
    """A client of the consumer protocol: heartbeats when told to, and says what it has when that changed."""

    def __init__(
        self, play: "ConsumerPlaybook", name: str, topics: Iterable[str], **said: str | None
    ) -> None:
        self.play = play
        self.client = Client(name, "/127.0.0.1")
        self.member_id = name
        self.topics: list[str] | None = list(topics)
        self.regex = said.pop("regex", None)
        self.instance = said.pop("instance", None)
        self.rack = said.pop("rack", None)
        self.assignor = said.pop("assignor", None)
        assert not said
        self.rebalance_ms = 60_000
        self.epoch = 0
        self.assigned: dict[bytes, list[int]] = {}
        self._has_news = False

    @property
    def has(self) -> dict[str, list[int]]:
        """What it was assigned, by topic name."""
        named = {self.play.name_of(topic_id): indexes for topic_id, indexes in self.assigned.items()}
        return dict(sorted(named.items()))

    def join(self) -> ConsumerGroupHeartbeatResponse:
        """Join, or join again, with nothing in hand."""
        self.epoch, self.assigned = 0, {}
        return self.say(
            rebalance_timeout_ms=self.rebalance_ms,
            subscribed_topic_names=self.topics,
            subscribed_topic_regex=self.regex,
            server_assignor=self.assignor,
            rack_id=self.rack,
            topic_partitions=[],
        )

    def beat(self, *, revokes: bool = True) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat; with `revokes` it has by then given up what it was told to."""
        if not self._has_news or not revokes:
            return self.say()
        self._has_news = False
        return self.say(topic_partitions=self.owned())

    def owned(self) -> list[HeartbeatTopicPartitions]:
        return [
            HeartbeatTopicPartitions(topic_id=topic_id, partitions=indexes)
            for topic_id, indexes in self.assigned.items()
        ]

    def leave(self, *, for_a_while: bool = False) -> ConsumerGroupHeartbeatResponse:
        """Send the last heartbeat."""
        self.epoch = -2 if for_a_while else -1
        return self.say()

    def say(self, **fields: object) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat with these fields of its request, and heed the answer."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.play.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance,
        )
        for name, value in fields.items():
            setattr(request, name, value)
        response = self.play.heartbeat_of(request, self.client)
        if response.error_code == ErrorCode.NONE:
            self.member_id, self.epoch = response.member_id or "", response.member_epoch
            if response.assignment is not None:
                topics = response.assignment.topic_partitions
                self.assigned = {topic.topic_id: topic.partitions for topic in topics}
                self._has_news = True
        return response


class ConsumerPlaybook(GroupPlaybook):
    """A group shard that knows of topics; with `topics`, by name and number of partitions."""

    def __init__(self, config: GroupConfig | None = None, **topics: int) -> None:
        super().__init__(config)
        self.topics = KnownTopics()
        self.overrides: dict[str, object] = {}
        self.member_id_required = True
        self._names: dict[bytes, str] = {}
        self._open(self.shard)
        for name, partition_count in topics.items():
            self.create(name, partition_count)

    def _open(self, shard: GroupShard) -> None:
        shard.topics = self.topics
        shard.overrides_of = lambda group_id: self.overrides
        shard.wall_lead_ms = WALL_LEAD_MS

    def restart(self, *, after_ms: int = 0) -> None:
        """Stop as if killed, and start from the log."""
        self.shard = GroupShard(0, self.config)
        self._open(self.shard)
        self.replay(self.shard)
        self.now_ms += after_ms
        self.shard.loaded(self.now_ms)

    def create(self, name: str, partition_count: int) -> None:
        """Create a topic, or give it more partitions."""
        self.topics.put(name, partition_count)
        facts = self.topics.named(name)
        assert facts is not None
        self._names[facts.topic_id] = name
        self.shard.topics_changed([name], self.now_ms)

    def delete(self, name: str) -> None:
        """Delete a topic."""
        self.topics.remove(name)
        self.shard.topics_changed([name], self.now_ms)

    def name_of(self, topic_id: bytes) -> str:
        """Name a topic, also one that is gone."""
        return self._names[topic_id]

    def id_of(self, name: str) -> bytes:
        facts = self.topics.named(name)
        assert facts is not None
        return facts.topic_id

    def consumer(self, name: str, *topics: str, **said: str | None) -> Consumer:
        """A client that has not joined yet; `said`: regex, instance, rack, assignor."""
        return Consumer(self, name, topics, **said)

    def settled(self, *names: str, topic: str = "t") -> list[Consumer]:
        """Consumers of one topic that have joined and shared its partitions."""
        consumers = [self.consumer(name, topic) for name in names]
        for consumer in consumers:
            consumer.join()
            self.pass_ms(1_000)
        self.settle(*consumers)
        return consumers

    def pass_ms(self, ms: int) -> None:
        """Let time go by."""
        self.at(self.now_ms + ms)

    def settle(self, *consumers: Consumer) -> None:
        """Let everybody send heartbeats, a second apart, until nothing is new."""
        for _ in range(12):
            before = [(consumer.epoch, consumer.has) for consumer in consumers]
            self.pass_ms(1_000)
            for consumer in consumers:
                consumer.beat()
            if before == [(consumer.epoch, consumer.has) for consumer in consumers]:
                return
        raise AssertionError("the group does not settle")

    def heartbeat_of(
        self, request: ConsumerGroupHeartbeatRequest, client: Client
    ) -> ConsumerGroupHeartbeatResponse:
        """Send a ConsumerGroupHeartbeat; its answer never waits."""
        ticket = self.draw()
        decision = self.shard.consumer_heartbeat(
            request,
            ticket=ticket,
            now_ms=self.now_ms,
            client=client,
            new_member_uuid=f"made-{ticket}",
            member_id_required=self.member_id_required,
        )
        self.run(decision)
        response = self.answers[ticket]
        assert isinstance(response, ConsumerGroupHeartbeatResponse)
        return response

    @property
    def group(self) -> ConsumerGroup:
        return self.shard.durable.consumer_groups[self.group_id]

    def member(self, consumer: Consumer) -> ConsumerMember:
        """A member as the group has it."""
        return self.group.members[consumer.member_id]

    def written_since(self, length: int) -> list[KeyValue]:
        """What went into the log since it was so long."""
        return self.log[length:]
