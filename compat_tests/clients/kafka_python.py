"""kafka-python behind the common face.

Called by stories through `clients.adapter`; calls `kafka`. One producer per `produce`, one admin per client.
Source: kafka-python 3.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import ClassVar, Literal

import kafka
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.codec import has_lz4, has_snappy, has_zstd
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import BrokerResponseError, KafkaError
from kafka.structs import OffsetAndMetadata, TopicPartition

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

# The client also waits this long for metadata it has just asked for.
RETRY_BACKOFF_MS = 20
FAREWELL_MS = 2000
ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


@contextmanager
def broker_errors() -> Iterator[None]:
    """Turn the client's report of a broker's refusal into BrokerError."""
    try:
        yield
    except BrokerResponseError as error:
        raise BrokerError(error.errno, str(error)) from error


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # kafka-python has no types
    """Notes what rebalances give and take."""

    def __init__(self) -> None:
        self.told: list[Rebalance] = []

    def _note(self, kind: Literal["assigned", "revoked"], partitions: Iterable[TopicPartition]) -> None:
        self.told.append(Rebalance.now(kind, ((tp.topic, tp.partition) for tp in partitions)))

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._note("assigned", assigned)

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._note("revoked", revoked)


class KafkaPythonConsumer:
    """The `Consumer` of kafka-python."""

    def __init__(self, bootstrap: str, settings: ConsumerSettings) -> None:
        self._listener = Listener()
        self._consumer = kafka.KafkaConsumer(
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
            retry_backoff_ms=RETRY_BACKOFF_MS,
            partition_assignment_strategy=[ASSIGNORS[settings.assignor]],
            **settings.request_timeout,
        )

    def assign(self, topic: str, starts: Mapping[int, Start]) -> None:
        self._consumer.assign([TopicPartition(topic, partition) for partition in starts])
        for partition, start in starts.items():
            self.seek((topic, partition), start)

    def subscribe(self, topics: Sequence[str]) -> None:
        self._consumer.subscribe(list(topics), listener=self._listener)
        self._have_metadata()

    def subscribe_pattern(self, pattern: str) -> None:
        self._consumer.subscribe(pattern=f"^{pattern}$", listener=self._listener)
        self._have_metadata()

    def _have_metadata(self) -> None:
        # kafka-python 3.0.12 joins again when metadata of its topics comes after it has joined, and a
        # member interrupted in that never finishes, also with Apache Kafka: have the metadata first.
        self._consumer.topics()

    def assignment(self) -> set[Partition]:
        return {(tp.topic, tp.partition) for tp in self._consumer.assignment()}

    def rebalances(self) -> list[Rebalance]:
        return list(self._listener.told)

    def poll(self, timeout_seconds: float) -> list[Received]:
        with broker_errors():
            batches = self._consumer.poll(timeout_ms=int(timeout_seconds * 1000))
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
            self._consumer.seek_to_beginning(target)
        elif start == "end":
            self._consumer.seek_to_end(target)
            self._consumer.position(target)
        else:
            self._consumer.seek(target, start)

    def position(self, partition: Partition) -> int:
        return int(self._consumer.position(TopicPartition(*partition)))

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._consumer.pause(*(TopicPartition(*partition) for partition in partitions))

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._consumer.resume(*(TopicPartition(*partition) for partition in partitions))

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        with broker_errors():
            self._consumer.commit(
                {TopicPartition(*tp): OffsetAndMetadata(offset, "", -1) for tp, offset in offsets.items()}
            )

    def committed(self, partition: Partition) -> int | None:
        offset: int | None = self._consumer.committed(TopicPartition(*partition))
        return offset

    def beginning_offset(self, partition: Partition) -> int:
        target = TopicPartition(*partition)
        return int(self._consumer.beginning_offsets([target])[target])

    def end_offset(self, partition: Partition) -> int:
        target = TopicPartition(*partition)
        return int(self._consumer.end_offsets([target])[target])

    def offset_for_time(self, partition: Partition, timestamp_ms: int) -> int | None:
        target = TopicPartition(*partition)
        found = self._consumer.offsets_for_times({target: timestamp_ms})[target]
        return None if found is None else int(found.offset)

    def close(self) -> None:
        # Its farewell waits behind a JoinGroup of its own, which waits for other members.
        self._consumer.close(timeout_ms=FAREWELL_MS)


class KafkaPythonAdmin:
    """The `Admin` of kafka-python."""

    def __init__(self, bootstrap: str) -> None:
        self._admin = kafka.KafkaAdminClient(bootstrap_servers=bootstrap)

    def create_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        topic = {"num_partitions": partition_count, "replication_factor": 1, "configs": dict(configs)}
        with broker_errors():
            self._admin.create_topics({name: topic})

    def delete_topic(self, name: str) -> None:
        with broker_errors():
            self._admin.delete_topics([name])

    def list_topics(self) -> set[str]:
        return set(self._admin.list_topics())

    def describe_topic(self, name: str) -> set[int]:
        (topic,) = self._admin.describe_topics([name])
        if topic["error_code"]:
            raise BrokerError(topic["error_code"], name)
        return {entry["partition_index"] for entry in topic["partitions"] if entry["leader_id"] >= 0}

    def create_partitions(self, name: str, total_count: int) -> None:
        with broker_errors():
            self._admin.create_partitions({name: total_count})

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        found = self._admin.describe_configs(
            [ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all"
        )
        return {name: config["value"] for name, config in found["topic"][topic].items()}

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        self._alter(ConfigResourceType.TOPIC, topic, configs)

    def _alter(self, kind: ConfigResourceType, name: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(kind, name, configs=dict(configs))
        # The answer is a text: OK, or what the error would print.
        answers = self._admin.alter_configs([resource], raise_on_unknown=False)
        answer: str = answers[kind.name.lower()][name]
        if refusal := re.match(r"\[Error (\d+)\]", answer):
            raise BrokerError(int(refusal[1]), answer)

    def list_groups(self) -> set[str]:
        return {group["group_id"] for group in self._admin.list_groups()}

    def describe_group(self, group: str) -> GroupDescription:
        found = self._admin.describe_groups([group])[group]
        return GroupDescription(found["group_state"], len(found["members"]))

    def find_groups(self, *, state: str | None = None, kind: str | None = None) -> set[str]:
        states, kinds = [state] if state else None, [kind] if kind else None
        found = self._admin.list_groups(states_filter=states, types_filter=kinds)
        return {group["group_id"] for group in found}

    def delete_group(self, group: str) -> None:
        raise NotSupported(KafkaPython, Capability.GROUP_DELETION)

    def group_offsets(self, group: str) -> dict[Partition, int]:
        with broker_errors():
            found = self._admin.list_group_offsets(group)[group]
        return {(tp.topic, tp.partition): committed.offset for tp, committed in found.items()}

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        wanted = {TopicPartition(*tp): OffsetAndMetadata(offset, "", -1) for tp, offset in offsets.items()}
        for outcome in self._admin.alter_group_offsets(group, wanted).values():
            _refuse(outcome)

    def delete_group_offsets(self, group: str, partition: Partition) -> None:
        with broker_errors():
            answers = self._admin.delete_group_offsets(group, [TopicPartition(*partition)])
        for outcome in answers.values():
            _refuse(outcome)

    def alter_group_configs(self, group: str, configs: Mapping[str, str]) -> None:
        self._alter(ConfigResourceType.GROUP, group, configs)

    def close(self) -> None:
        self._admin.close()


def _refuse(outcome: type[BrokerResponseError]) -> None:
    """Raise what the client only tells: an error's class, where that of no error is 0."""
    if outcome.errno:
        raise BrokerError(outcome.errno, outcome.message)


def _missing_codecs() -> dict[Capability, str]:
    present = {Capability.SNAPPY: has_snappy(), Capability.LZ4: has_lz4(), Capability.ZSTD: has_zstd()}
    return {codec: "the codec's library is not installed" for codec, found in present.items() if not found}


class KafkaPython:
    """kafka-python, pointed at one broker."""

    name: ClassVar[str] = "kafka-python"
    not_supported: ClassVar[Mapping[Capability, str]] = {
        Capability.SERVER_SIDE_ASSIGNOR: "has no ConsumerGroupHeartbeat (KIP-848)",
        Capability.GROUP_DELETION: "3.0.12 does not understand the answer to DeleteGroups",
        Capability.READS_ON: "3.0.12 gives no records while it joins, whatever the assignor",
        Capability.GROWTH: "3.0.12 does not finish the rebalance that a change of metadata begins",
        Capability.SHORT_POLLS: "3.0.12 does not always finish a join that the end of a poll interrupts",
        Capability.SERVER_SIDE_PATTERN: "has no ConsumerGroupHeartbeat (KIP-848)",
        **_missing_codecs(),
    }

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin: KafkaPythonAdmin | None = None

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
        producer = kafka.KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks="all" if acks == "all" else int(acks),
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            max_request_size=CLIENT_LIMIT_BYTES,
            linger_ms=5,
            retry_backoff_ms=RETRY_BACKOFF_MS,
        )
        try:
            futures = [
                producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            producer.flush(timeout=DEADLINE_SECONDS)
            with broker_errors():
                answers = [future.get(timeout=DEADLINE_SECONDS) for future in futures]
        finally:
            with suppress(KafkaError):
                producer.close(timeout=1)
        return [] if acks == "0" else [(answer.partition, answer.offset) for answer in answers]

    def consumer(self, settings: ConsumerSettings) -> Consumer:
        return KafkaPythonConsumer(self._bootstrap, settings)

    def mortal_consumer(self, settings: ConsumerSettings) -> MortalConsumer:
        return MemberProcess(KafkaPython, self._bootstrap, settings)

    def admin(self) -> Admin:
        if self._admin is None:
            self._admin = KafkaPythonAdmin(self._bootstrap)
        return self._admin

    def close(self) -> None:
        if self._admin is not None:
            self._admin.close()
