"""Key 2, ListOffsets: find offsets by timestamp, or the ends of a partition.

v1: the first that Kafka 4.4 serves.
v2: adds isolation_level; answer adds throttle_time_ms.
v3: the same form.
v4: adds topics.partitions.current_leader_epoch; answer adds topics.partitions.leader_epoch.
v5: the same form.
v6: flexible.
v7: the same form.
v8: the same form.
v9: the same form.
v10: adds timeout_ms.
v11: the same form.

Source: KIP-79 (by timestamp), KIP-207, KIP-405 (local and tiered), KIP-734 (max timestamp).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT8, INT16, INT32, INT64, STRING, array_of


class ListOffsetsPartition(Message):
    partition_index: int = wire(INT32)
    current_leader_epoch: int = wire(INT32, "4+", default=-1)
    timestamp: int = wire(INT64)


class ListOffsetsTopic(Message):
    name: str = wire(STRING)
    partitions: list[ListOffsetsPartition] = wire(array_of(ListOffsetsPartition))


class ListOffsetsRequest(Message, versions="1-11", flexible="6+"):
    replica_id: int = wire(INT32)
    isolation_level: int = wire(INT8, "2+", default=0)
    topics: list[ListOffsetsTopic] = wire(array_of(ListOffsetsTopic))
    timeout_ms: int = wire(INT32, "10+", default=0)


class ListOffsetsPartitionResponse(Message):
    partition_index: int = wire(INT32)
    error_code: int = wire(INT16)
    timestamp: int = wire(INT64, default=-1)
    offset: int = wire(INT64, default=-1)
    leader_epoch: int = wire(INT32, "4+", default=-1)


class ListOffsetsTopicResponse(Message):
    name: str = wire(STRING)
    partitions: list[ListOffsetsPartitionResponse] = wire(array_of(ListOffsetsPartitionResponse))


class ListOffsetsResponse(Message, versions="1-11", flexible="6+"):
    throttle_time_ms: int = wire(INT32, "2+", default=0)
    topics: list[ListOffsetsTopicResponse] = wire(array_of(ListOffsetsTopicResponse))


LIST_OFFSETS = Api(2, ListOffsetsRequest, ListOffsetsResponse)
