"""Produce: append each partition's batch, as it was received, to its log.

v0-2 are advertised and not served: old librdkafka wants to see 0 (KAFKA-18659) and sends 3 or more.
From v7 on a batch may be compressed with zstd, from v8 on a refusal has a message and says which
records were at fault, from v13 on topics go by id.

Source: KIP-98, KIP-110 (zstd), KIP-467, KIP-516; Kafka's KafkaApis.handleProduceRequest,
ReplicaManager.appendRecords and DelayedProduce, which waits for replicas where this waits for the disk.
Unlike Kafka, a partition that stands twice in a request is written twice and answered twice, and every
refusal says why.
"""

from wirekafka.broker import AwaitedFlush, is_transactional, wait_for_flush
from wirekafka.handlers.context import CloseConnection, RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.metadata import is_internal
from wirekafka.protocol.apis.produce import (
    PRODUCE,
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError, NotOneBatch

_NO_OFFSET = -1
_NO_TIME = -1
_ACKS_ALL = -1
_ACKS = (_ACKS_ALL, 0, 1)
_TOLD_WITH_START = (
    ErrorCode.INVALID_RECORD,
    ErrorCode.INVALID_TIMESTAMP,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
)
_ZSTD_SINCE = 7
_TOPIC_IDS_SINCE = 13
_ADMIN_CLIENT_ID = "__admin_client"


def _refuse(request: ProduceRequest, error: KafkaError) -> ProduceResponse:
    if request.acks == 0:
        raise CloseConnection(f"acks=0 produce failed: {error.message}")
    return ProduceResponse(
        responses=[
            _topic_response(topic, [_refused(data.index, error) for data in topic.partition_data])
            for topic in request.topic_data
        ]
    )


@handles(PRODUCE, refusal=_refuse)
async def produce(request: ProduceRequest, context: RequestContext) -> ProduceResponse | None:
    _check_transactional_id(request)
    appending = _Appending(request, context)
    response = ProduceResponse(
        responses=[await appending.to_topic(topic) for topic in request.topic_data if topic.partition_data]
    )
    if request.acks == 0:
        _close_on_error(response)
        return None
    if appending.awaited:
        await _wait_for_flush(appending.awaited, request.timeout_ms)
    return response


def _check_transactional_id(request: ProduceRequest) -> None:
    if request.transactional_id:
        return
    if any(is_transactional(data.records) for topic in request.topic_data for data in topic.partition_data):
        if request.transactional_id == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "An empty transactional id names no producer.")
        raise KafkaError(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "A transactional batch needs a transactional id in its request.",
        )


class _Appending:
    """One request's appends, and those of them that may not be acknowledged yet."""

    def __init__(self, request: ProduceRequest, context: RequestContext) -> None:
        self._acks = request.acks
        self._context = context
        self._partitions = context.broker.partitions
        self._now_ms = context.broker.clock.wall_ms()
        self.awaited: list[tuple[PartitionProduceResponse, AwaitedFlush]] = []

    async def to_topic(self, topic: TopicProduceData) -> TopicProduceResponse:
        try:
            name = topic.name
            if self._context.version >= _TOPIC_IDS_SINCE:
                name = self._partitions.name_of(topic.topic_id)
        except KafkaError as error:
            return _topic_response(topic, [_refused(data.index, error) for data in topic.partition_data])
        return _topic_response(topic, [await self._to_partition(name, data) for data in topic.partition_data])

    async def _to_partition(self, topic: str, data: PartitionProduceData) -> PartitionProduceResponse:
        acks_all = self._acks == _ACKS_ALL
        try:
            partition = self._partitions.find(topic, data.index)
            _check_may_write(topic, self._acks, self._context)
            appended = await partition.append_from_client(
                data.records,
                now_ms=self._now_ms,
                zstd_allowed=self._context.version >= _ZSTD_SINCE,
                acks_all=acks_all,
            )
        except KafkaError as error:
            return _refused(data.index, error, _start_told_with(error, topic, data.index, self._context))
        response = PartitionProduceResponse(
            index=data.index,
            error_code=ErrorCode.NONE,
            base_offset=appended.base_offset,
            log_append_time_ms=appended.log_append_time_ms,
            log_start_offset=appended.log_start_offset,
        )
        awaited = partition.awaited_flush(appended.last_offset + 1, acks_all=acks_all)
        if awaited is not None:
            self.awaited.append((response, awaited))
        return response


async def _wait_for_flush(
    waiting: list[tuple[PartitionProduceResponse, AwaitedFlush]], timeout_ms: int
) -> None:
    """Wait until everything lasts; put the refusal in the place of each answer that is not to be given."""
    errors = await wait_for_flush([awaited for _, awaited in waiting], timeout_ms)
    for (response, _), error in zip(waiting, errors, strict=True):
        if error is not None:
            response.error_code = error.code
            response.error_message = error.message
            response.base_offset = _NO_OFFSET
            response.log_append_time_ms = _NO_TIME
            response.log_start_offset = _NO_OFFSET


def _check_may_write(topic: str, acks: int, context: RequestContext) -> None:
    if acks not in _ACKS:
        raise KafkaError(
            ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}: only -1 (all), 0 and 1 have a meaning."
        )
    if is_internal(topic) and context.client_id != _ADMIN_CLIENT_ID:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{topic}' is the broker's own.")


def _start_told_with(error: KafkaError, topic: str, index: int, context: RequestContext) -> int:
    """The partition's start offset, which Kafka tells along with what it finds wrong in the records."""
    if error.code in _TOLD_WITH_START and not isinstance(error, NotOneBatch):
        return context.broker.partitions.find(topic, index).log.log_start_offset
    return _NO_OFFSET


def _refused(index: int, error: KafkaError, log_start_offset: int = _NO_OFFSET) -> PartitionProduceResponse:
    faults = error.record_errors if isinstance(error, InvalidRecords) else []
    return PartitionProduceResponse(
        index=index,
        error_code=error.code,
        base_offset=_NO_OFFSET,
        log_start_offset=log_start_offset,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=batch_index, batch_index_error_message=message)
            for batch_index, message in faults
        ],
        error_message=error.message,
    )


def _topic_response(
    topic: TopicProduceData, partitions: list[PartitionProduceResponse]
) -> TopicProduceResponse:
    return TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)


def _close_on_error(response: ProduceResponse) -> None:
    """With acks=0 nothing is answered; a closed connection is all that can tell of an error."""
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code:
                raise CloseConnection(
                    f"acks=0 produce to {topic.name}-{partition.index} failed: {partition.error_message}"
                )
