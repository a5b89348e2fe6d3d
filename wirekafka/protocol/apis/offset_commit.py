"""Key 8, OffsetCommit: store how far a group has read.

v2: the first that Kafka 4.4 serves.
v3: answer adds throttle_time_ms.
v4: the same form.
v5: drops retention_time_ms.
v6: adds topics.partitions.committed_leader_epoch.
v7: adds group_instance_id.
v8: flexible.
v9: the same form.
v10: drops topics.name; adds topics.topic_id; answer drops topics.name, adds topics.topic_id.

Source: KIP-320 (leader epoch), KIP-345 (static members), KIP-848 (member epochs), KIP-1319 (topic ids).
"""

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, INT64, NULLABLE_STRING, STRING, UUID, array_of


class OffsetCommitRequestPartition(Message):
    partition_index: int = wire(INT32)
    committed_offset: int = wire(INT64)
    committed_leader_epoch: int = wire(INT32, "6+", default=-1)
    committed_metadata: str | None = wire(NULLABLE_STRING)


class OffsetCommitRequestTopic(Message):
    name: str = wire(STRING, "0-9", default="")
    topic_id: bytes = wire(UUID, "10+", default=NO_TOPIC_ID)
    partitions: list[OffsetCommitRequestPartition] = wire(array_of(OffsetCommitRequestPartition))


class OffsetCommitRequest(Message, versions="2-10", flexible="8+"):
    group_id: str = wire(STRING)
    generation_id_or_member_epoch: int = wire(INT32, default=-1)
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, "7+", default=None)
    retention_time_ms: int = wire(INT64, "2-4", default=-1)
    topics: list[OffsetCommitRequestTopic] = wire(array_of(OffsetCommitRequestTopic))


class OffsetCommitResponsePartition(Message):
    partition_index: int = wire(INT32)
    error_code: int = wire(INT16)


class OffsetCommitResponseTopic(Message):
    name: str = wire(STRING, "0-9", default="")
    topic_id: bytes = wire(UUID, "10+", default=NO_TOPIC_ID)
    partitions: list[OffsetCommitResponsePartition] = wire(array_of(OffsetCommitResponsePartition))


class OffsetCommitResponse(Message, versions="2-10", flexible="8+"):
    throttle_time_ms: int = wire(INT32, "3+", default=0)
    topics: list[OffsetCommitResponseTopic] = wire(array_of(OffsetCommitResponseTopic))


OFFSET_COMMIT = Api(8, OffsetCommitRequest, OffsetCommitResponse)
