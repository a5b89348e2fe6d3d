"""The records of the metadata log: topics, partitions, settings, producer id blocks, features.

A record is a frame version (varint 0 or 1), the record's key and version (varints), then its fields.

Source: Kafka's KRaft metadata record definitions (KIP-631).
"""

from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    INT8,
    INT16,
    INT32,
    INT64,
    NULLABLE_STRING,
    STRING,
    UUID,
    array_of,
    nullable_array_of,
)


class FeatureLevelRecord(Message, versions="0", flexible="0+"):
    name: str = wire(STRING)
    feature_level: int = wire(INT16)


class TopicRecord(Message, versions="0", flexible="0+"):
    name: str = wire(STRING)
    topic_id: bytes = wire(UUID)


class PartitionRecord(Message, versions="0-2", flexible="0+"):
    partition_id: int = wire(INT32, default=-1)
    topic_id: bytes = wire(UUID)
    replicas: list[int] = wire(array_of(INT32))
    isr: list[int] = wire(array_of(INT32))
    removing_replicas: list[int] = wire(array_of(INT32))
    adding_replicas: list[int] = wire(array_of(INT32))
    leader: int = wire(INT32, default=-1)
    leader_recovery_state: int = wire(INT8, tag=0, tagged="0+", default=0)
    leader_epoch: int = wire(INT32, default=-1)
    partition_epoch: int = wire(INT32, default=-1)
    directories: list[bytes] = wire(array_of(UUID), "1+", factory=list)
    eligible_leader_replicas: list[int] | None = wire(
        nullable_array_of(INT32), "2+", tag=1, tagged="2+", default=None
    )
    last_known_elr: list[int] | None = wire(nullable_array_of(INT32), "2+", tag=2, tagged="2+", default=None)


class PartitionChangeRecord(Message, versions="0-2", flexible="0+"):
    """What is not there has not changed. Written by Kafka's controller only."""

    partition_id: int = wire(INT32, default=-1)
    topic_id: bytes = wire(UUID)
    isr: list[int] | None = wire(nullable_array_of(INT32), tag=0, tagged="0+", default=None)
    leader: int = wire(INT32, tag=1, tagged="0+", default=-2)
    replicas: list[int] | None = wire(nullable_array_of(INT32), tag=2, tagged="0+", default=None)
    removing_replicas: list[int] | None = wire(nullable_array_of(INT32), tag=3, tagged="0+", default=None)
    adding_replicas: list[int] | None = wire(nullable_array_of(INT32), tag=4, tagged="0+", default=None)
    leader_recovery_state: int = wire(INT8, tag=5, tagged="0+", default=-1)
    eligible_leader_replicas: list[int] | None = wire(
        nullable_array_of(INT32), "2+", tag=6, tagged="2+", default=None
    )
    last_known_elr: list[int] | None = wire(nullable_array_of(INT32), "2+", tag=7, tagged="2+", default=None)
    directories: list[bytes] | None = wire(nullable_array_of(UUID), "1+", tag=8, tagged="1+", default=None)


class ConfigRecord(Message, versions="0", flexible="0+"):
    resource_type: int = wire(INT8)
    resource_name: str = wire(STRING)
    name: str = wire(STRING)
    value: str | None = wire(NULLABLE_STRING)


class RemoveTopicRecord(Message, versions="0", flexible="0+"):
    topic_id: bytes = wire(UUID)


class ProducerIdsRecord(Message, versions="0", flexible="0+"):
    broker_id: int = wire(INT32)
    broker_epoch: int = wire(INT64, default=-1)
    next_producer_id: int = wire(INT64)
