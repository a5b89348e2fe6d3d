"""Key 47, OffsetDelete: forget what a group has committed for partitions that it no longer reads.

v0: the first, and not flexible.

Source: KIP-496.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, STRING, array_of


class OffsetDeletePartition(Message):
    partition_index: int = wire(INT32)


class OffsetDeleteTopic(Message):
    name: str = wire(STRING)
    partitions: list[OffsetDeletePartition] = wire(array_of(OffsetDeletePartition))


class OffsetDeleteRequest(Message, versions="0"):
    group_id: str = wire(STRING)
    topics: list[OffsetDeleteTopic] = wire(array_of(OffsetDeleteTopic))


class OffsetDeletePartitionResult(Message):
    partition_index: int = wire(INT32)
    error_code: int = wire(INT16, default=0)


class OffsetDeleteTopicResult(Message):
    name: str = wire(STRING)
    partitions: list[OffsetDeletePartitionResult] = wire(array_of(OffsetDeletePartitionResult))


class OffsetDeleteResponse(Message, versions="0"):
    error_code: int = wire(INT16, default=0)
    throttle_time_ms: int = wire(INT32, default=0)
    topics: list[OffsetDeleteTopicResult] = wire(array_of(OffsetDeleteTopicResult), factory=list)


OFFSET_DELETE = Api(47, OffsetDeleteRequest, OffsetDeleteResponse)
