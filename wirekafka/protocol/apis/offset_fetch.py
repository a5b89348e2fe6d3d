"""Key 9, OffsetFetch: how far a group has read.

v1: the first that Kafka 4.4 serves.
v2: topics may be null; answer adds error_code.
v3: answer adds throttle_time_ms.
v4: the same form.
v5: answer adds topics.partitions.committed_leader_epoch.
v6: flexible.
v7: adds require_stable.
v8: drops group_id; drops topics; adds groups; answer drops topics, drops error_code, adds groups.
v9: adds groups.member_id; adds groups.member_epoch.
v10: drops groups.topics.name; adds groups.topics.topic_id; answer drops groups.topics.name, adds
    groups.topics.topic_id.

Source: KIP-447 (stable offsets), KIP-709 (many groups), KIP-848 (member epochs).
"""

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    BOOLEAN,
    INT16,
    INT32,
    INT64,
    NULLABLE_STRING,
    STRING,
    UUID,
    array_of,
    nullable_array_of,
)


class OffsetFetchRequestTopic(Message):
    name: str = wire(STRING)
    partition_indexes: list[int] = wire(array_of(INT32))


class OffsetFetchRequestTopics(Message):
    name: str = wire(STRING, "8-9", default="")
    topic_id: bytes = wire(UUID, "10+", default=NO_TOPIC_ID)
    partition_indexes: list[int] = wire(array_of(INT32))


class OffsetFetchRequestGroup(Message):
    group_id: str = wire(STRING)
    member_id: str | None = wire(NULLABLE_STRING, "9+", default=None)
    member_epoch: int = wire(INT32, "9+", default=-1)
    topics: list[OffsetFetchRequestTopics] | None = wire(nullable_array_of(OffsetFetchRequestTopics))


class OffsetFetchRequest(Message, versions="1-10", flexible="6+"):
    group_id: str = wire(STRING, "0-7", default="")
    topics: list[OffsetFetchRequestTopic] | None = wire(
        nullable_array_of(OffsetFetchRequestTopic), "0-7", nullable="2-7", factory=list
    )
    groups: list[OffsetFetchRequestGroup] = wire(array_of(OffsetFetchRequestGroup), "8+", factory=list)
    require_stable: bool = wire(BOOLEAN, "7+", default=False)


class OffsetFetchResponsePartition(Message):
    partition_index: int = wire(INT32)
    committed_offset: int = wire(INT64)
    committed_leader_epoch: int = wire(INT32, "5-7", default=-1)
    metadata: str | None = wire(NULLABLE_STRING)
    error_code: int = wire(INT16)


class OffsetFetchResponseTopic(Message):
    name: str = wire(STRING)
    partitions: list[OffsetFetchResponsePartition] = wire(array_of(OffsetFetchResponsePartition))


class OffsetFetchResponsePartitions(Message):
    partition_index: int = wire(INT32)
    committed_offset: int = wire(INT64)
    committed_leader_epoch: int = wire(INT32, default=-1)
    metadata: str | None = wire(NULLABLE_STRING)
    error_code: int = wire(INT16)


class OffsetFetchResponseTopics(Message):
    name: str = wire(STRING, "8-9", default="")
    topic_id: bytes = wire(UUID, "10+", default=NO_TOPIC_ID)
    partitions: list[OffsetFetchResponsePartitions] = wire(array_of(OffsetFetchResponsePartitions))


class OffsetFetchResponseGroup(Message):
    group_id: str = wire(STRING)
    topics: list[OffsetFetchResponseTopics] = wire(array_of(OffsetFetchResponseTopics))
    error_code: int = wire(INT16, default=0)


class OffsetFetchResponse(Message, versions="1-10", flexible="6+"):
    throttle_time_ms: int = wire(INT32, "3+", default=0)
    topics: list[OffsetFetchResponseTopic] = wire(array_of(OffsetFetchResponseTopic), "0-7", factory=list)
    error_code: int = wire(INT16, "2-7", default=0)
    groups: list[OffsetFetchResponseGroup] = wire(array_of(OffsetFetchResponseGroup), "8+", factory=list)


OFFSET_FETCH = Api(9, OffsetFetchRequest, OffsetFetchResponse)
