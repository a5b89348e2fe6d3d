"""Key 23, OffsetForLeaderEpoch: where a leader epoch ends in the log.

v2: the first that Kafka 4.4 serves.
v3: adds replica_id.
v4: flexible.

Source: KIP-101, KIP-320.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, INT64, STRING, array_of


class OffsetForLeaderPartition(Message):
    partition: int = wire(INT32)
    current_leader_epoch: int = wire(INT32, default=-1)
    leader_epoch: int = wire(INT32)


class OffsetForLeaderTopic(Message):
    topic: str = wire(STRING)
    partitions: list[OffsetForLeaderPartition] = wire(array_of(OffsetForLeaderPartition))


class OffsetForLeaderEpochRequest(Message, versions="2-4", flexible="4+"):
    replica_id: int = wire(INT32, "3+", default=-2)
    topics: list[OffsetForLeaderTopic] = wire(array_of(OffsetForLeaderTopic))


class EpochEndOffset(Message):
    error_code: int = wire(INT16)
    partition: int = wire(INT32)
    leader_epoch: int = wire(INT32, default=-1)
    end_offset: int = wire(INT64, default=-1)


class OffsetForLeaderTopicResult(Message):
    topic: str = wire(STRING)
    partitions: list[EpochEndOffset] = wire(array_of(EpochEndOffset))


class OffsetForLeaderEpochResponse(Message, versions="2-4", flexible="4+"):
    throttle_time_ms: int = wire(INT32)
    topics: list[OffsetForLeaderTopicResult] = wire(array_of(OffsetForLeaderTopicResult))


OFFSET_FOR_LEADER_EPOCH = Api(23, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse)
