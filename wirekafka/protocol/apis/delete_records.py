"""Key 21, DeleteRecords: let partitions begin at a later offset.

v0: the first.
v1: the same form.
v2: flexible.

Source: KIP-107, KIP-204.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, INT64, STRING, array_of


class DeleteRecordsPartition(Message):
    partition_index: int = wire(INT32)
    offset: int = wire(INT64)


class DeleteRecordsTopic(Message):
    name: str = wire(STRING)
    partitions: list[DeleteRecordsPartition] = wire(array_of(DeleteRecordsPartition))


class DeleteRecordsRequest(Message, versions="0-2", flexible="2+"):
    topics: list[DeleteRecordsTopic] = wire(array_of(DeleteRecordsTopic))
    timeout_ms: int = wire(INT32)


class DeleteRecordsPartitionResult(Message):
    partition_index: int = wire(INT32)
    low_watermark: int = wire(INT64)
    error_code: int = wire(INT16)


class DeleteRecordsTopicResult(Message):
    name: str = wire(STRING)
    partitions: list[DeleteRecordsPartitionResult] = wire(array_of(DeleteRecordsPartitionResult))


class DeleteRecordsResponse(Message, versions="0-2", flexible="2+"):
    throttle_time_ms: int = wire(INT32)
    topics: list[DeleteRecordsTopicResult] = wire(array_of(DeleteRecordsTopicResult))


DELETE_RECORDS = Api(21, DeleteRecordsRequest, DeleteRecordsResponse)
