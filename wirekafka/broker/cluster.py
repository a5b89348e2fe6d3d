"""The metadata journal: topics, settings and producer id blocks, and what follows from each record.

Called by the handlers of topics, metadata and producers; calls `partitions` and `coordination` when
an applied record concerns them, before the reply is released. So a topic that was just created has
its leader, and its log, when the client hears of it; until then others may find that a large one has
only some of its partitions yet.

Source: Kafka's QuorumController and BrokerMetadataPublisher, which here are one step.
"""

import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import trio

from wirekafka.broker.alarms import Alarms
from wirekafka.broker.clock import Clock
from wirekafka.broker.coordination import OFFSETS_TOPIC, Coordination
from wirekafka.broker.firebreak import contained
from wirekafka.broker.journal import Journal
from wirekafka.broker.opening import Watch
from wirekafka.broker.partition import Partition
from wirekafka.broker.partitions import METADATA_TOPIC, Partitions
from wirekafka.ids import TopicId, TopicPartition, uuid_text
from wirekafka.machine import Decision, Ticket
from wirekafka.metadata import (
    MetadataImage,
    MetadataMachine,
    MetadataRecord,
    MetadataRecords,
    ProducerIdBlock,
    Settings,
    TopicImage,
)
from wirekafka.metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE
from wirekafka.observability import get_logger
from wirekafka.protocol.apis.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from wirekafka.protocol.apis.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from wirekafka.protocol.apis.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage
from wirekafka.protocol.stored.cluster_metadata import ConfigRecord, PartitionRecord, RemoveTopicRecord

logger = get_logger("broker")

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
METADATA_TOPIC_ID = TopicId(bytes(15) + b"\x01")
"""The id that Kafka reserves for its metadata topic."""

_AGAIN_AFTER_SECONDS = 1.0
_MADE_AT_ONCE, _MADE_A_PIECE = 64, 16
"""So many partitions of a request are made in one step. The rest are made in pieces, a few milliseconds each,
between which others are served: a disk that is busy makes them ten times as long."""


@dataclass(slots=True)
class _Making:
    """The partitions that one request makes."""

    begun: int = 0
    left: deque[tuple[TopicImage, int]] = field(default_factory=deque)
    """Those that the metadata knows, and that are made between other requests."""
    is_whole: trio.Event = field(default_factory=trio.Event)


class Cluster:
    """The metadata machine over its log, and the rooms that follow it."""

    def __init__(
        self,
        machine: MetadataMachine,
        partition: Partition,
        partitions: Partitions,
        coordination: Coordination,
        *,
        clock: Clock,
        alarms: Alarms,
    ) -> None:
        self._machine = machine
        self._partitions = partitions
        self._coordination = coordination
        self._reconfigured: set[str] = set()
        self._changed: set[str] = set()
        self._making = _Making()
        """What the request makes whose records are being applied."""
        self._unfinished: deque[_Making] = deque()
        self._unfinished_bell = trio.Event()
        self._settings = machine.settings
        self._journal = Journal(
            machine, MetadataRecords(), partition, clock=clock, alarms=alarms, applied=self._follow
        )

    async def load(self, watch: Watch) -> None:
        """Read the metadata log, open every partition it knows, load every group."""
        self._journal.load()
        threads = self.settings.get_int("num.recovery.threads.per.data.dir")
        await self._partitions.open_all(threads=threads, watch=watch)
        self._follow_settings()
        offsets_topic = self._machine.image.topics.get(OFFSETS_TOPIC)
        for index in offsets_topic.partitions if offsets_topic else ():
            self._take_up_groups(index)

    async def reopen_when_asked(self) -> None:
        """Try offline partitions again that are asked for, and take up their groups; forever."""
        while True:
            for topic, index in await self._partitions.reopen_asked():
                if topic == OFFSETS_TOPIC:
                    self._take_up_groups(index)
            await trio.sleep(_AGAIN_AFTER_SECONDS)

    async def make_the_rest(self) -> None:
        """Make what large requests have left, a piece of each in turn, whoever waits for it; forever."""
        while True:
            await self._unfinished_bell.wait()
            self._unfinished_bell = trio.Event()
            while self._unfinished:
                await trio.lowlevel.checkpoint()
                making = self._unfinished.popleft()
                self._make_a_piece(making)
                if making.left:
                    self._unfinished.append(making)
                else:
                    making.is_whole.set()

    @property
    def image(self) -> MetadataImage:
        return self._machine.image

    @property
    def settings(self) -> Settings:
        """The broker's settings as they hold now: the one place to ask for any that may change."""
        return self._machine.settings

    async def create_topics(self, request: CreateTopicsRequest) -> CreateTopicsResponse:
        await self._partitions.free_names()
        reply = await self._ask(
            lambda ticket: self._machine.create_topics(request, new_topic_id=_new_topic_id, ticket=ticket)
        )
        return cast(CreateTopicsResponse, reply)

    async def auto_create_topic(self, name: str) -> None:
        """Make a topic because it is needed. Raises the error that stands in the way."""
        await self._partitions.free_names()
        reply = await self._ask(
            lambda ticket: self._machine.auto_create(name, new_topic_id=_new_topic_id, ticket=ticket)
        )
        result = cast(CreatableTopicResult, reply)
        if result.error_code:
            raise KafkaError(ErrorCode(result.error_code), result.error_message or "")

    async def delete_topics(
        self, request: DeleteTopicsRequest, *, knows_deletion_disabled: bool
    ) -> DeleteTopicsResponse:
        reply = await self._ask(
            lambda ticket: self._machine.delete_topics(
                request, knows_deletion_disabled=knows_deletion_disabled, ticket=ticket
            )
        )
        return cast(DeleteTopicsResponse, reply)

    async def create_partitions(self, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
        reply = await self._ask(lambda ticket: self._machine.create_partitions(request, ticket=ticket))
        return cast(CreatePartitionsResponse, reply)

    async def alter_configs(self, request: AlterConfigsRequest) -> AlterConfigsResponse:
        """Replace settings; they hold when the response is given."""
        reply = await self._ask(lambda ticket: self._machine.alter_configs(request, ticket=ticket))
        return cast(AlterConfigsResponse, reply)

    async def incremental_alter_configs(
        self, request: IncrementalAlterConfigsRequest
    ) -> IncrementalAlterConfigsResponse:
        """Change settings one by one; they hold when the response is given."""
        reply = await self._ask(
            lambda ticket: self._machine.incremental_alter_configs(request, ticket=ticket)
        )
        return cast(IncrementalAlterConfigsResponse, reply)

    async def allocate_producer_ids(self) -> ProducerIdBlock:
        """Take a block of producer ids, recorded before it is given."""
        reply = await self._ask(lambda ticket: self._machine.allocate_producer_ids(ticket=ticket))
        return cast(ProducerIdBlock, reply)

    def describe_configs(self, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
        return self._machine.describe_configs(request)

    async def _ask(self, decide: Callable[[Ticket], Decision[MetadataRecord]]) -> object:
        making = _Making()

        def begin(ticket: Ticket, now_ms: int) -> Decision[MetadataRecord]:
            self._making = making
            return decide(ticket)

        try:
            return await self._journal.ask(begin)
        finally:
            self._reconfigure()
            self._tell_groups()
            if making.left:
                await making.is_whole.wait()

    def _follow(self, record: MetadataRecord) -> None:
        """Make what is open agree with a record that has just been applied."""
        match record:
            case PartitionRecord():
                topic = self._machine.image.topics_by_id[record.topic_id]
                self._changed.add(topic.name)
                self._make_in_time(topic, record.partition_id)
            case ConfigRecord() if record.resource_type == TOPIC_RESOURCE:
                self._reconfigured.add(record.resource_name)
            case ConfigRecord() if record.resource_type == BROKER_RESOURCE:
                self._reconfigured.update(self._machine.image.topics)
            case RemoveTopicRecord():
                name = self._partitions.remove_topic(record.topic_id)
                self._changed.add(name)
                if name == OFFSETS_TOPIC:
                    self._coordination.close_all()
                else:
                    self._coordination.topic_deleted(name, record.topic_id)

    def _make(self, topic: TopicImage, index: int) -> None:
        self._partitions.open_one(topic, index)
        if topic.name == OFFSETS_TOPIC:
            self._take_up_groups(index)

    def _make_in_time(self, topic: TopicImage, index: int) -> None:
        """Make a partition in this step, or soon.

        Those of groups in this step: which of them holds a group goes by how many there are.
        """
        making = self._making
        making.begun += 1
        if making.begun <= _MADE_AT_ONCE or topic.name == OFFSETS_TOPIC:
            self._make(topic, index)
            return
        self._partitions.expect(topic)
        if not making.left:
            self._unfinished.append(making)
            self._unfinished_bell.set()
        making.left.append((topic, index))

    def _make_a_piece(self, making: _Making) -> None:
        """Make some of what a request has left; its topic may have been deleted meanwhile."""
        for _ in range(min(_MADE_A_PIECE, len(making.left))):
            topic, index = making.left.popleft()
            if topic.topic_id in self._machine.image.topics_by_id:
                with contained(f"making {topic.name}-{index}", lambda: None):
                    self._make(topic, index)

    def _reconfigure(self) -> None:
        """Give the logs their new settings once all records of a request are applied: until then the
        settings may contradict each other."""
        for name in self._reconfigured & self._machine.image.topics.keys():
            self._partitions.reconfigure(name)
        self._reconfigured.clear()

    def _tell_groups(self) -> None:
        """Tell the groups once what a request has done, however many records that took."""
        self._follow_settings()
        if self._changed:
            changed, self._changed = self._changed, set()
            self._coordination.topics_changed(changed)

    def _follow_settings(self) -> None:
        if self.settings is not self._settings:
            self._settings = self.settings
            self._coordination.reconfigure(self._settings)

    def _take_up_groups(self, index: int) -> None:
        try:
            self._coordination.open_shard(index, self._partitions.find(OFFSETS_TOPIC, index))
        except (KafkaError, MalformedMessage) as error:
            logger.error("the groups of %s-%d cannot be served: %s", OFFSETS_TOPIC, index, error)
            self._coordination.leave_out_shard(index)


def _new_topic_id() -> TopicId:
    """A random id; none of those that Kafka keeps for itself, none whose text looks like an option."""
    while True:
        topic_id = TopicId(uuid.uuid4().bytes)
        if not uuid_text(topic_id).startswith("-"):
            return topic_id
