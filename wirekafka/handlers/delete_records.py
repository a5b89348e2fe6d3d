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
    broker = context.broker
    asked = [(name, index, offset) for name, offsets in wanted.items() for index, offset in offsets.items()]
    allowed = [one for one in asked if not is_internal(one[0]) or not broker.partitions.exists(*one[:2])]
    starts = await broker.retention.delete_all_records(allowed)
    answers = {(name, index): start for (name, index, _), start in zip(allowed, starts, strict=True)}
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsTopicResult(
                name=name,
                partitions=[
                    _result(index, answers.get((name, index), _of_internal_topic(name))) for index in offsets
                ],
            )
            for name, offsets in wanted.items()
        ],
    )


def _of_internal_topic(topic: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_TOPIC_EXCEPTION, f"Records of the internal topic {topic} cannot be deleted."
    )


def _result(index: int, start: int | KafkaError) -> DeleteRecordsPartitionResult:
    if isinstance(start, KafkaError):
        return _failed(index, start)
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=start, error_code=ErrorCode.NONE)


def _failed(index: int, error: KafkaError) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=_NO_OFFSET, error_code=error.code
    )
