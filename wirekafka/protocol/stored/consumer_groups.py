"""The records of `__consumer_offsets` that hold consumer groups, those of KIP-848.

As in `consumer_offsets`, a key is an int16 that names its kind and then the key's fields, a value an int16
version and then the value's fields, and a record without a value deletes what its key names.

Source: KIP-848; KIP-1101 (the hash in place of partition metadata); KIP-1263 (the time of an assignment);
Kafka's coordinator record definitions.
"""

from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    BYTES,
    INT8,
    INT32,
    INT64,
    NULLABLE_STRING,
    STRING,
    UUID,
    array_of,
    nullable_array_of,
    nullable_struct_of,
)


class ConsumerGroupMetadataKey(Message, versions="0"):
    group_id: str = wire(STRING)


class ConsumerGroupMetadataValue(Message, versions="0", flexible="0+"):
    epoch: int = wire(INT32)
    metadata_hash: int = wire(INT64, tag=0, tagged="0+", default=0)


class ConsumerGroupPartitionMetadataKey(Message, versions="0"):
    group_id: str = wire(STRING)


class PartitionRacks(Message):
    partition: int = wire(INT32)
    racks: list[str] = wire(array_of(STRING))


class TopicMetadata(Message):
    topic_id: bytes = wire(UUID)
    topic_name: str = wire(STRING)
    num_partitions: int = wire(INT32)
    partition_metadata: list[PartitionRacks] = wire(array_of(PartitionRacks))


class ConsumerGroupPartitionMetadataValue(Message, versions="0", flexible="0+"):
    topics: list[TopicMetadata] = wire(array_of(TopicMetadata))


class ConsumerGroupMemberMetadataKey(Message, versions="0"):
    group_id: str = wire(STRING)
    member_id: str = wire(STRING)


class ClassicProtocol(Message):
    name: str = wire(STRING)
    metadata: bytes = wire(BYTES)


class ClassicMemberMetadata(Message):
    session_timeout_ms: int = wire(INT32, default=0)
    supported_protocols: list[ClassicProtocol] = wire(array_of(ClassicProtocol), factory=list)


class ConsumerGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    instance_id: str | None = wire(NULLABLE_STRING)
    rack_id: str | None = wire(NULLABLE_STRING)
    client_id: str = wire(STRING)
    client_host: str = wire(STRING)
    subscribed_topic_names: list[str] = wire(array_of(STRING))
    subscribed_topic_regex: str | None = wire(NULLABLE_STRING)
    rebalance_timeout_ms: int = wire(INT32, default=-1)
    server_assignor: str | None = wire(NULLABLE_STRING)
    classic_member_metadata: ClassicMemberMetadata | None = wire(
        nullable_struct_of(ClassicMemberMetadata), tag=0, tagged="0+", factory=ClassicMemberMetadata
    )
    """None for a member by the consumer protocol; left out it is empty, as Kafka's schema has it."""


class ConsumerGroupTargetAssignmentMetadataKey(Message, versions="0"):
    group_id: str = wire(STRING)


class ConsumerGroupTargetAssignmentMetadataValue(Message, versions="0", flexible="0+"):
    assignment_epoch: int = wire(INT32)
    assignment_timestamp: int = wire(INT64, tag=0, tagged="0+", default=0)


class ConsumerGroupTargetAssignmentMemberKey(Message, versions="0"):
    group_id: str = wire(STRING)
    member_id: str = wire(STRING)


class TargetTopicPartitions(Message):
    topic_id: bytes = wire(UUID)
    partitions: list[int] = wire(array_of(INT32))


class ConsumerGroupTargetAssignmentMemberValue(Message, versions="0", flexible="0+"):
    topic_partitions: list[TargetTopicPartitions] = wire(array_of(TargetTopicPartitions))


class ConsumerGroupCurrentMemberAssignmentKey(Message, versions="0"):
    group_id: str = wire(STRING)
    member_id: str = wire(STRING)


class CurrentTopicPartitions(Message):
    topic_id: bytes = wire(UUID)
    partitions: list[int] = wire(array_of(INT32))
    assignment_epochs: list[int] | None = wire(nullable_array_of(INT32), tag=0, tagged="0+", factory=list)
    """As many as `partitions`; none in records of Kafka before 4.4."""


class ConsumerGroupCurrentMemberAssignmentValue(Message, versions="0", flexible="0+"):
    member_epoch: int = wire(INT32)
    previous_member_epoch: int = wire(INT32)
    state: int = wire(INT8)
    assigned_partitions: list[CurrentTopicPartitions] = wire(array_of(CurrentTopicPartitions))
    partitions_pending_revocation: list[CurrentTopicPartitions] = wire(array_of(CurrentTopicPartitions))


class ConsumerGroupRegularExpressionKey(Message, versions="0"):
    group_id: str = wire(STRING)
    regular_expression: str = wire(STRING)


class ConsumerGroupRegularExpressionValue(Message, versions="0", flexible="0+"):
    topics: list[str] = wire(array_of(STRING))
    version: int = wire(INT64)
    timestamp: int = wire(INT64)
