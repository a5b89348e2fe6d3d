"""Key 23, OffsetForLeaderEpoch: where a leader epoch ends in the log.

v2: the first that Kafka 4.4 serves.
v3: adds replica_id.
v4: flexible.

Source: KIP-101, KIP-320.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, message, wire
from wirekafka.protocol.wire import INT16, INT32, INT64, STRING, array_of


@message()
class OffsetForLeaderPartition(Message):
    partition: int = wire(INT32)
    current_leader_epoch: int = wire(INT32, default=-1)
    leader_epoch: int = wire(INT32)


@message()
class OffsetForLeaderTopic(Message):
    topic: str = wire(STRING)
    partitions: list[OffsetForLeaderPartition] = wire(array_of(OffsetForLeaderPartition))


@message(versions="2-4", flexible="4+")
class OffsetForLeaderEpochRequest(Message):
    replica_id: int = wire(INT32, "3+", default=-2)
    topics: list[OffsetForLeaderTopic] = wire(array_of(OffsetForLeaderTopic))


@message()
class EpochEndOffset(Message):
    error_code: int = wire(INT16)
    partition: int = wire(INT32)
    leader_epoch: int = wire(INT32, default=-1)
    end_offset: int = wire(INT64, default=-1)


@message()
class OffsetForLeaderTopicResult(Message):
    topic: str = wire(STRING)
    partitions: list[EpochEndOffset] = wire(array_of(EpochEndOffset))


@message(versions="2-4", flexible="4+")
class OffsetForLeaderEpochResponse(Message):
    throttle_time_ms: int = wire(INT32)
    topics: list[OffsetForLeaderTopicResult] = wire(array_of(OffsetForLeaderTopicResult))


OFFSET_FOR_LEADER_EPOCH = Api(23, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse)
