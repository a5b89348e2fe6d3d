"""ListOffsets and OffsetForLeaderEpoch: where things are in a partition.

ListOffsets: from v4 on leader epochs are checked and told; -3 (largest timestamp) since v7, -4
(earliest local) since v8, -5 (latest tiered) since v9, -6 (earliest pending upload) since v11.

Source: KIP-79, KIP-207, KIP-320, KIP-405, KIP-734; Kafka's ReplicaManager.fetchOffset and
lastOffsetForLeaderEpoch.
"""

from collections import Counter

from wirekafka.broker import ListedOffset, Partition, offset_for_timestamp, offset_of_max_timestamp
from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.protocol.apis.list_offsets import (
    LIST_OFFSETS,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from wirekafka.protocol.apis.offset_for_leader_epoch import (
    OFFSET_FOR_LEADER_EPOCH,
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_READ_COMMITTED = 1
_ANY_EPOCH = -1
_LATEST, _EARLIEST, _MAX_TIMESTAMP = -1, -2, -3
_EARLIEST_LOCAL, _LATEST_TIERED, _EARLIEST_PENDING_UPLOAD = -4, -5, -6
_SINCE = {
    _LATEST: 1,
    _EARLIEST: 1,
    _MAX_TIMESTAMP: 7,
    _EARLIEST_LOCAL: 8,
    _LATEST_TIERED: 9,
    _EARLIEST_PENDING_UPLOAD: 11,
}
_NO_VERSION = 2**15


def _refuse_list(request: ListOffsetsRequest, error: KafkaError) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name, partitions=[_not_listed(p.partition_index, error) for p in topic.partitions]
            )
            for topic in request.topics
        ]
    )


@handles(LIST_OFFSETS, refusal=_refuse_list)
async def list_offsets(request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    committed_only = request.isolation_level == _READ_COMMITTED
    asked = Counter((topic.name, p.partition_index) for topic in request.topics for p in topic.partitions)
    twice = {name_and_index for name_and_index, times in asked.items() if times > 1}
    return ListOffsetsResponse(
        topics=[
            await _list_topic(topic, context, committed_only, twice)
            for topic in request.topics
            if topic.partitions
        ]
    )


async def _list_topic(
    topic: ListOffsetsTopic, context: RequestContext, committed_only: bool, twice: set[tuple[str, int]]
) -> ListOffsetsTopicResponse:
    answers: dict[int, ListOffsetsPartitionResponse] = {}
    for wanted in topic.partitions:
        try:
            if (topic.name, wanted.partition_index) in twice:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"{topic.name}-{wanted.partition_index} stands twice."
                )
            listed = await _list_one(topic.name, wanted, context, committed_only)
        except KafkaError as error:
            answers[wanted.partition_index] = _not_listed(wanted.partition_index, error)
            continue
        answers[wanted.partition_index] = ListOffsetsPartitionResponse(
            partition_index=wanted.partition_index,
            error_code=ErrorCode.NONE,
            timestamp=listed.timestamp_ms,
            offset=listed.offset,
            leader_epoch=listed.leader_epoch,
        )
    return ListOffsetsTopicResponse(name=topic.name, partitions=list(answers.values()))


async def _list_one(
    topic: str, wanted: ListOffsetsPartition, context: RequestContext, committed_only: bool
) -> ListedOffset:
    if wanted.timestamp < 0 and context.version < _SINCE.get(wanted.timestamp, _NO_VERSION):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"Timestamp {wanted.timestamp} has no meaning in ListOffsets v{context.version}.",
        )
    partition: Partition = context.broker.partitions.find(topic, wanted.partition_index)
    _check_leader_epoch(partition, wanted.current_leader_epoch)
    match wanted.timestamp:
        case t if t == _LATEST:
            return partition.latest_offset(committed_only=committed_only)
        case t if t in (_EARLIEST, _EARLIEST_LOCAL):
            return partition.earliest_offset()
        case t if t in (_LATEST_TIERED, _EARLIEST_PENDING_UPLOAD):
            return ListedOffset()  # nothing is tiered here
        case t if t == _MAX_TIMESTAMP:
            return await offset_of_max_timestamp(partition, committed_only=committed_only)
        case timestamp_ms:
            return await offset_for_timestamp(partition, timestamp_ms, committed_only=committed_only)


def _check_leader_epoch(partition: Partition, leader_epoch: int) -> None:
    """As fetches do, but that -1 alone means any epoch: other negative ones are old."""
    if leader_epoch < _ANY_EPOCH:
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH, f"There never was a leader epoch {leader_epoch}.")
    partition.check_leader_epoch(leader_epoch)


def _not_listed(index: int, error: KafkaError) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=index, error_code=error.code)


def _refuse_epochs(request: OffsetForLeaderEpochRequest, error: KafkaError) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        throttle_time_ms=0,
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    EpochEndOffset(error_code=error.code, partition=p.partition) for p in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


@handles(OFFSET_FOR_LEADER_EPOCH, refusal=_refuse_epochs)
async def offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        throttle_time_ms=0,
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_end_of_epoch(topic.topic, wanted, context) for wanted in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _end_of_epoch(topic: str, wanted: OffsetForLeaderPartition, context: RequestContext) -> EpochEndOffset:
    try:
        partition = context.broker.partitions.find(topic, wanted.partition)
        _check_leader_epoch(partition, wanted.current_leader_epoch)
        epoch, end_offset = partition.end_offset_for_epoch(wanted.leader_epoch)
    except KafkaError as error:
        return EpochEndOffset(error_code=error.code, partition=wanted.partition)
    return EpochEndOffset(
        error_code=ErrorCode.NONE, partition=wanted.partition, leader_epoch=epoch, end_offset=end_offset
    )
