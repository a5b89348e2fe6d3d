"""Administration by confluent-kafka.

Called by `confluent`; calls `confluent_kafka.admin`.
Source: confluent-kafka 2.16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it re-exports without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from compat_tests.clients.adapter import (
    DEADLINE_SECONDS,
    BrokerError,
    Capability,
    Client,
    GroupDescription,
    NotSupported,
    Partition,
)

T = TypeVar("T")


@contextmanager
def broker_errors() -> Iterator[None]:
    """Turn the client's report of a broker's refusal into BrokerError; its own errors pass."""
    try:
        yield
    except KafkaException as exception:
        error = exception.args[0]
        if error.code() > 0:
            raise BrokerError(error.code(), error.str()) from exception
        raise


class ConfluentAdmin:
    """The `Admin` of confluent-kafka."""

    def __init__(self, client: type[Client], bootstrap: str) -> None:
        self._client = client
        self._admin = AdminClient({"bootstrap.servers": bootstrap})

    @staticmethod
    def _only(futures: Mapping[Any, Future[T]]) -> T:
        (future,) = futures.values()
        with broker_errors():
            return future.result(DEADLINE_SECONDS)

    def create_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        self._only(self._admin.create_topics([NewTopic(name, partition_count, 1, config=dict(configs))]))

    def delete_topic(self, name: str) -> None:
        self._only(self._admin.delete_topics([name]))

    def list_topics(self) -> set[str]:
        return set(self._admin.list_topics(timeout=DEADLINE_SECONDS).topics)

    def describe_topic(self, name: str) -> set[int]:
        topic = self._admin.list_topics(name, timeout=DEADLINE_SECONDS).topics[name]
        if topic.error is not None:
            raise BrokerError(topic.error.code(), topic.error.str())
        return {number for number, entry in topic.partitions.items() if entry.leader >= 0}

    def create_partitions(self, name: str, total_count: int) -> None:
        self._only(self._admin.create_partitions([NewPartitions(name, total_count)]))

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        entries = self._only(self._admin.describe_configs([resource]))
        return {name: entry.value for name, entry in entries.items()}

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        self._alter(ResourceType.TOPIC, topic, configs)

    def _alter(self, kind: ResourceType, name: str, configs: Mapping[str, str]) -> None:
        entries = [
            ConfigEntry(config, value, incremental_operation=AlterConfigOpType.SET)
            for config, value in configs.items()
        ]
        resource = ConfigResource(kind, name, incremental_configs=entries)
        self._only(self._admin.incremental_alter_configs([resource]))

    def list_groups(self) -> set[str]:
        with broker_errors():
            listing = self._admin.list_consumer_groups().result(DEADLINE_SECONDS)
        return {group.group_id for group in listing.valid}

    def describe_group(self, group: str) -> GroupDescription:
        found = self._only(self._admin.describe_consumer_groups([group]))
        # librdkafka spells the states as the broker does, but for underscores and capitals.
        return GroupDescription(found.state.name.title().replace("_", ""), len(found.members))

    def find_groups(self, *, state: str | None = None, kind: str | None = None) -> set[str]:
        filters = {
            "states": {ConsumerGroupState[state.upper()]} if state else set(),
            "types": {ConsumerGroupType[kind.upper()]} if kind else set(),
        }
        with broker_errors():
            listing = self._admin.list_consumer_groups(**filters).result(DEADLINE_SECONDS)
        return {group.group_id for group in listing.valid}

    def delete_group(self, group: str) -> None:
        self._only(self._admin.delete_consumer_groups([group]))

    def group_offsets(self, group: str) -> dict[Partition, int]:
        asked = [ConsumerGroupTopicPartitions(group)]
        found = self._only(self._admin.list_consumer_group_offsets(asked))
        return {(tp.topic, tp.partition): tp.offset for tp in found.topic_partitions}

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        targets = [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        wanted = [ConsumerGroupTopicPartitions(group, targets)]
        for answer in self._only(self._admin.alter_consumer_group_offsets(wanted)).topic_partitions:
            if answer.error is not None:
                raise BrokerError(answer.error.code(), answer.error.str())

    def delete_group_offsets(self, group: str, partition: Partition) -> None:
        raise NotSupported(self._client, Capability.OFFSET_DELETION)

    def alter_group_configs(self, group: str, configs: Mapping[str, str]) -> None:
        self._alter(ResourceType.GROUP, group, configs)
