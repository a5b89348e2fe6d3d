"""DeleteRecords: let partitions begin at a later offset.

v0-v2: one answer. -1 stands for the high watermark; an answer of -1 for a partition that has an error.

Source: KIP-107, KIP-204; Kafka's KafkaApis.handleDeleteRecordsRequest and ReplicaManager.deleteRecords.
"""

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.metadata import is_internal
from wirekafka.protocol.apis.delete_records import (
    DELETE_RECORDS,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_NO_OFFSET = -1


def _refuse(request: DeleteRecordsRequest, error: KafkaError) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name, partitions=[_failed(p.partition_index, error) for p in topic.partitions]
            )
            for topic in request.topics
        ],
    )


@handles(DELETE_RECORDS, refusal=_refuse)
async def delete_records(request: DeleteRecordsRequest, context: RequestContext) -> DeleteRecordsResponse:
    # As in Kafka a partition that stands twice is answered once, and the last offset counts.
    wanted: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        for partition in topic.partitions:
            wanted.setdefault(topic.name, {})[partition.partition_index] = partition.offset
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsTopicResult(
                name=name,
                partitions=[await _delete(name, index, offset, context) for index, offset in offsets.items()],
            )
            for name, offsets in wanted.items()
        ],
    )


async def _delete(
    topic: str, index: int, offset: int, context: RequestContext
) -> DeleteRecordsPartitionResult:
    broker = context.broker
    try:
        if broker.partitions.exists(topic, index) and is_internal(topic):
            raise KafkaError(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"Records of the internal topic {topic} cannot be deleted."
            )
        start = await broker.retention.delete_records(topic, index, offset)
    except KafkaError as error:
        return _failed(index, error)
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=start, error_code=ErrorCode.NONE)


def _failed(index: int, error: KafkaError) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=_NO_OFFSET, error_code=error.code
    )
