"""aiokafka behind the common, synchronous face: its event loop runs in a thread of its own.

Called by stories through `clients.adapter`; calls `aiokafka`. Every call crosses into the loop and waits.
Source: aiokafka 0.14.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.codec import has_lz4, has_snappy, has_zstd
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import BrokerResponseError

from compat_tests.clients.adapter import (
    CLIENT_LIMIT_BYTES,
    DEADLINE_SECONDS,
    Acks,
    Admin,
    BrokerError,
    Capability,
    Consumer,
    ConsumerSettings,
    GroupDescription,
    MortalConsumer,
    NotSupported,
    Partition,
    Place,
    Rebalance,
    Received,
    Record,
    Start,
)
from compat_tests.clients.member import MemberProcess

T = TypeVar("T")

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


@contextmanager
def broker_errors() -> Iterator[None]:
    """Turn the client's report of a broker's refusal into BrokerError."""
    try:
        yield
    except BrokerResponseError as error:
        raise BrokerError(error.errno, str(error)) from error


class LoopThread:
    """An asyncio loop in a thread, driven from outside."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aiokafka", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(2 * DEADLINE_SECONDS)

    def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a plain function in the loop's thread and wait for its result."""

        async def called() -> T:
            return function(*arguments)

        return self.run(called())

    def stop(self) -> None:
        """Stop the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """Notes what rebalances give and take."""

    def __init__(self) -> None:
        self.told: list[Rebalance] = []

    def _note(self, kind: Literal["assigned", "revoked"], partitions: Iterable[TopicPartition]) -> None:
        self.told.append(Rebalance.now(kind, ((tp.topic, tp.partition) for tp in partitions)))

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._note("assigned", assigned)

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._note("revoked", revoked)


class AiokafkaConsumer:
    """The `Consumer` of aiokafka."""

    def __init__(self, loop: LoopThread, bootstrap: str, settings: ConsumerSettings) -> None:
        self._loop = loop
        self._listener = Listener()
        self._closed = False
        self._consumer = loop.run(self._started(bootstrap, settings))

    @staticmethod
    async def _started(bootstrap: str, settings: ConsumerSettings) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=settings.group,
            group_instance_id=settings.instance_id,
            max_poll_interval_ms=settings.max_poll_interval_ms,
            metadata_max_age_ms=settings.metadata_max_age_ms,
            auto_offset_reset=settings.reset,
            enable_auto_commit=settings.auto_commit,
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            fetch_max_wait_ms=settings.fetch_wait_ms,
            partition_assignment_strategy=[ASSIGNORS[settings.assignor]],
            **settings.request_timeout,
        )
        await consumer.start()
        return consumer

    def assign(self, topic: str, starts: Mapping[int, Start]) -> None:
        self._loop.call(self._consumer.assign, [TopicPartition(topic, partition) for partition in starts])
        for partition, start in starts.items():
            self.seek((topic, partition), start)

    def subscribe(self, topics: Sequence[str]) -> None:
        self._loop.call(self._consumer.subscribe, list(topics), None, self._listener)

    def subscribe_pattern(self, pattern: str) -> None:
        self._loop.call(self._consumer.subscribe, (), f"^{pattern}$", self._listener)

    def assignment(self) -> set[Partition]:
        return {(tp.topic, tp.partition) for tp in self._loop.call(self._consumer.assignment)}

    def rebalances(self) -> list[Rebalance]:
        return list(self._listener.told)

    def poll(self, timeout_seconds: float) -> list[Received]:
        with broker_errors():
            batches = self._loop.run(self._consumer.getmany(timeout_ms=int(timeout_seconds * 1000)))
        return [
            Received(
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                key=record.key,
                value=record.value,
                headers=tuple(record.headers),
                timestamp_ms=record.timestamp,
            )
            for records in batches.values()
            for record in records
        ]

    def seek(self, partition: Partition, start: Start) -> None:
        target = TopicPartition(*partition)
        if start == "beginning":
            self._loop.run(self._consumer.seek_to_beginning(target))
        elif start == "end":
            self._loop.run(self._consumer.seek_to_end(target))
        else:
            self._loop.call(self._consumer.seek, target, start)

    def position(self, partition: Partition) -> int:
        return int(self._loop.run(self._consumer.position(TopicPartition(*partition))))

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._loop.call(self._consumer.pause, *(TopicPartition(*partition) for partition in partitions))

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._loop.call(self._consumer.resume, *(TopicPartition(*partition) for partition in partitions))

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        with broker_errors():
            self._loop.run(
                self._consumer.commit({TopicPartition(*tp): offset for tp, offset in offsets.items()})
            )

    def committed(self, partition: Partition) -> int | None:
        offset: int | None = self._loop.run(self._consumer.committed(TopicPartition(*partition)))
        return offset

    def beginning_offset(self, partition: Partition) -> int:
        target = TopicPartition(*partition)
        return int(self._loop.run(self._consumer.beginning_offsets([target]))[target])

    def end_offset(self, partition: Partition) -> int:
        target = TopicPartition(*partition)
        return int(self._loop.run(self._consumer.end_offsets([target]))[target])

    def offset_for_time(self, partition: Partition, timestamp_ms: int) -> int | None:
        target = TopicPartition(*partition)
        found = self._loop.run(self._consumer.offsets_for_times({target: timestamp_ms}))[target]
        return None if found is None else int(found.offset)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._loop.run(self._consumer.stop())


def _refuse(code: int, message: object) -> None:
    if code:
        raise BrokerError(code, str(message))


class AiokafkaAdmin:
    """The `Admin` of aiokafka, most of whose answers carry error codes that only this class raises."""

    def __init__(self, loop: LoopThread, bootstrap: str) -> None:
        self._loop = loop
        self._admin = loop.run(self._started(bootstrap))

    @staticmethod
    async def _started(bootstrap: str) -> AIOKafkaAdminClient:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        return admin

    def create_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        topic = NewTopic(name, partition_count, 1, topic_configs=dict(configs))
        for _, code, message in self._loop.run(self._admin.create_topics([topic])).topic_errors:
            _refuse(code, message)

    def delete_topic(self, name: str) -> None:
        for topic, code in self._loop.run(self._admin.delete_topics([name])).topic_error_codes:
            _refuse(code, topic)

    def list_topics(self) -> set[str]:
        return set(self._loop.run(self._admin.list_topics()))

    def describe_topic(self, name: str) -> set[int]:
        (topic,) = self._loop.run(self._admin.describe_topics([name]))
        _refuse(topic["error_code"], name)
        return {entry["partition"] for entry in topic["partitions"] if entry["leader"] >= 0}

    def create_partitions(self, name: str, total_count: int) -> None:
        with broker_errors():
            self._loop.run(self._admin.create_partitions({name: NewPartitions(total_count)}))

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (answer,) = self._loop.run(self._admin.describe_configs([resource]))
        ((code, message, _, _, entries),) = answer.resources
        _refuse(code, message)
        return {entry[0]: entry[1] for entry in entries}

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, dict(configs))
        for answer in self._loop.run(self._admin.alter_configs([resource])):
            for code, message, _, _ in answer.resources:
                _refuse(code, message)

    def list_groups(self) -> set[str]:
        return {group[0] for group in self._loop.run(self._admin.list_consumer_groups())}

    def describe_group(self, group: str) -> GroupDescription:
        (answer,) = self._loop.run(self._admin.describe_consumer_groups([group]))
        code, _, state, _, _, members, *_ = answer.groups[0]
        _refuse(code, group)
        return GroupDescription(state, len(members))

    def find_groups(self, *, state: str | None = None, kind: str | None = None) -> set[str]:
        raise NotSupported(Aiokafka, Capability.GROUP_FILTERS)

    def delete_group(self, group: str) -> None:
        raise NotSupported(Aiokafka, Capability.GROUP_DELETION)

    def group_offsets(self, group: str) -> dict[Partition, int]:
        found = self._loop.run(self._admin.list_consumer_group_offsets(group))
        return {(tp.topic, tp.partition): committed.offset for tp, committed in found.items()}

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        raise NotSupported(Aiokafka, Capability.OFFSET_ALTERATION)

    def delete_group_offsets(self, group: str, partition: Partition) -> None:
        raise NotSupported(Aiokafka, Capability.OFFSET_DELETION)

    def alter_group_configs(self, group: str, configs: Mapping[str, str]) -> None:
        raise NotSupported(Aiokafka, Capability.GROUP_CONFIGS)

    def close(self) -> None:
        self._loop.run(self._admin.close())


def _missing_codecs() -> dict[Capability, str]:
    present = {Capability.SNAPPY: has_snappy(), Capability.LZ4: has_lz4(), Capability.ZSTD: has_zstd()}
    return {codec: "the codec's library is not installed" for codec, found in present.items() if not found}


class Aiokafka:
    """aiokafka, pointed at one broker."""

    name: ClassVar[str] = "aiokafka"
    not_supported: ClassVar[Mapping[Capability, str]] = {
        Capability.COOPERATIVE_STICKY: "has eager assignors only",
        Capability.SERVER_SIDE_ASSIGNOR: "has no ConsumerGroupHeartbeat (KIP-848)",
        Capability.SERVER_SIDE_PATTERN: "has no ConsumerGroupHeartbeat (KIP-848)",
        Capability.REBALANCES_IN_POLL: "joins in a task of its own, whether it is polled or not",
        Capability.FULL_GROUP: "says that the error is unknown",
        Capability.STATIC_FENCING: "commits without its instance id, and so is an unknown member",
        Capability.GROUP_FILTERS: "lists all groups",
        Capability.GROUP_DELETION: "cannot delete groups",
        Capability.GROUP_CONFIGS: "has no configs of groups",
        Capability.OFFSET_ALTERATION: "cannot alter a group's offsets",
        Capability.OFFSET_DELETION: "cannot delete a group's offsets",
        **_missing_codecs(),
    }

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._loop = LoopThread()
        self._admin: AiokafkaAdmin | None = None

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: Acks = "all",
        idempotent: bool = False,
        partition: int | None = None,
    ) -> list[Place]:
        settings = {
            "acks": "all" if acks == "all" else int(acks),
            "compression_type": None if codec == "none" else codec,
            "enable_idempotence": idempotent,
        }
        with broker_errors():
            places = self._loop.run(self._produce(topic, records, partition, settings))
        return [] if acks == "0" else places

    async def _produce(
        self, topic: str, records: Sequence[Record], partition: int | None, settings: Mapping[str, Any]
    ) -> list[Place]:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap, max_request_size=CLIENT_LIMIT_BYTES, linger_ms=5, **settings
        )
        await producer.start()
        try:
            futures = [
                await producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            answers = await asyncio.gather(*futures)
        finally:
            await producer.stop()
        return [(answer.partition, answer.offset) for answer in answers if answer is not None]

    def consumer(self, settings: ConsumerSettings) -> Consumer:
        return AiokafkaConsumer(self._loop, self._bootstrap, settings)

    def mortal_consumer(self, settings: ConsumerSettings) -> MortalConsumer:
        return MemberProcess(Aiokafka, self._bootstrap, settings)

    def admin(self) -> Admin:
        if self._admin is None:
            self._admin = AiokafkaAdmin(self._loop, self._bootstrap)
        return self._admin

    def close(self) -> None:
        if self._admin is not None:
            self._admin.close()
        self._loop.stop()
