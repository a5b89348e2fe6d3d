"""Produce: append each partition's batch, as it was received, to its log.

v0-2 are advertised and not served: old librdkafka wants to see 0 (KAFKA-18659) and sends 3 or more.
From v7 on a batch may be compressed with zstd, from v8 on a refusal has a message and says which
records were at fault, from v13 on topics go by id.

Source: KIP-98, KIP-110 (zstd), KIP-467, KIP-516; Kafka's KafkaApis.handleProduceRequest,
ReplicaManager.appendRecords and DelayedProduce, which waits for replicas where this waits for the disk.
Unlike Kafka, a partition that stands twice in a request is written twice and answered twice, and every
refusal says why.
"""

from functools import partial
from typing import cast

from wirekafka.broker import NOT_PLAIN, Appended, AwaitedFlush, Partition, is_transactional, wait_for_flush
from wirekafka.handlers.context import CloseConnection, RequestContext
from wirekafka.handlers.plain_produce import PlainTopic, plain_topics
from wirekafka.handlers.registry import NOT_AT_ONCE, Later, NotAtOnce, handles
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
from wirekafka.protocol.connection import Built
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError, NotOneBatch
from wirekafka.protocol.plain_produce import Told, plain_body

_NONE = int(ErrorCode.NONE)
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
    return ProduceResponse(responses=[_refused_topic(topic, error) for topic in request.topic_data])


def _at_once(
    request: ProduceRequest, context: RequestContext
) -> ProduceResponse | Built | Later[ProduceResponse] | NotAtOnce | None:
    """Append at once, and wait for the disk later; not so where batches are prepared in a thread."""
    appending = _Appending(request, context)
    topics = plain_topics(request, context)
    if topics is None:
        _check_transactional_id(request)
        if appending.may_prepare():
            return NOT_AT_ONCE
        response = ProduceResponse(
            responses=[appending.to_topic(topic) for topic in request.topic_data if topic.partition_data]
        )
    else:
        told = [(topic.topic, appending.to_plain_topic(topic)) for topic in topics]
        if appending.is_plain:
            return None if request.acks == 0 else appending.plain_answer(told)
        response = ProduceResponse(responses=[_topic_response(topic, _messages(all)) for topic, all in told])
    if request.acks == 0:
        _close_on_error(response)
        return None
    if appending.awaited:
        return Later(partial(_when_flushed, response, appending.awaited, request.timeout_ms))
    return response


@handles(PRODUCE, refusal=_refuse, at_once=_at_once)
async def produce(request: ProduceRequest, context: RequestContext) -> ProduceResponse | None:
    _check_transactional_id(request)
    appending = _Appending(request, context)
    response = ProduceResponse(
        responses=[
            await appending.to_topic_prepared(topic) for topic in request.topic_data if topic.partition_data
        ]
    )
    if request.acks == 0:
        _close_on_error(response)
        return None
    return await _when_flushed(response, appending.awaited, request.timeout_ms)


def _check_transactional_id(request: ProduceRequest) -> None:
    if request.transactional_id:
        return
    if _is_any_transactional(request):
        if request.transactional_id == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "An empty transactional id names no producer.")
        raise KafkaError(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "A transactional batch needs a transactional id in its request.",
        )


def _is_any_transactional(request: ProduceRequest) -> bool:
    for topic in request.topic_data:
        for data in topic.partition_data:
            if is_transactional(data.records):
                return True
    return False


class _Appending:
    """One request's appends, and those of them that may not be acknowledged yet."""

    def __init__(self, request: ProduceRequest, context: RequestContext) -> None:
        self._request = request
        self._acks_all = request.acks == _ACKS_ALL
        self._zstd_allowed = context.version >= _ZSTD_SINCE
        self._by_id = context.version >= _TOPIC_IDS_SINCE
        self._context = context
        self._partitions = context.broker.partitions
        self._now_ms = context.broker.clock.wall_ms()
        self.awaited: list[tuple[PartitionProduceResponse, AwaitedFlush]] = []
        self.is_plain = True
        """Whether every batch was."""

    def may_prepare(self) -> bool:
        """Whether a partition that is written to looks into batches or compresses them anew."""
        for topic in self._request.topic_data:
            for data in topic.partition_data:
                try:
                    if self._partitions.find(self._name_of(topic), data.index).prepares:
                        return True
                except KafkaError:  # it is told when that partition's turn comes
                    continue
        return False

    def _name_of(self, topic: TopicProduceData) -> str:
        return self._partitions.name_of(topic.topic_id) if self._by_id else topic.name

    def to_topic(self, topic: TopicProduceData) -> TopicProduceResponse:
        try:
            name = self._name_of(topic)
        except KafkaError as error:
            return _refused_topic(topic, error)
        return _topic_response(topic, [self._to_partition(name, data) for data in topic.partition_data])

    def to_plain_topic(self, topic: PlainTopic) -> list[Told | PartitionProduceResponse]:
        """Write to partitions that are there; a message tells of what is not plain, a tuple does else."""
        told: list[Told | PartitionProduceResponse] = []
        now_ms, acks_all = self._now_ms, self._acks_all
        for data, partition in zip(topic.topic.partition_data, topic.partitions, strict=True):
            assert data.records is not None
            try:
                base_offset = partition.append_plainly(data.records, now_ms=now_ms, acks_all=acks_all)
            except KafkaError as error:
                self.is_plain = False
                told.append(self._refusal(topic.name, data.index, error))
                continue
            if base_offset == NOT_PLAIN:
                self.is_plain = False
                told.append(self._to_partition(topic.name, data))
            else:
                told.append((data.index, base_offset, partition.log.log_start_offset))
        return told

    def plain_answer(
        self, told: list[tuple[TopicProduceData, list[Told | PartitionProduceResponse]]]
    ) -> Built:
        """The answer where every batch was plain."""
        by_id = self._by_id
        topics = [(topic.topic_id if by_id else topic.name, cast(list[Told], all)) for topic, all in told]
        return Built([plain_body(topics)])

    async def to_topic_prepared(self, topic: TopicProduceData) -> TopicProduceResponse:
        try:
            name = self._name_of(topic)
        except KafkaError as error:
            return _refused_topic(topic, error)
        return _topic_response(topic, [await self._prepared(name, data) for data in topic.partition_data])

    def _to_partition(self, topic: str, data: PartitionProduceData) -> PartitionProduceResponse:
        try:
            partition = self._partition(topic, data.index)
            appended = partition.append_at_once(
                data.records,
                now_ms=self._now_ms,
                zstd_allowed=self._zstd_allowed,
                acks_all=self._acks_all,
            )
        except KafkaError as error:
            return self._refusal(topic, data.index, error)
        return self._response(data.index, partition, appended)

    async def _prepared(self, topic: str, data: PartitionProduceData) -> PartitionProduceResponse:
        try:
            partition = self._partition(topic, data.index)
            appended = await partition.append_from_client(
                data.records,
                now_ms=self._now_ms,
                zstd_allowed=self._zstd_allowed,
                acks_all=self._acks_all,
            )
        except KafkaError as error:
            return self._refusal(topic, data.index, error)
        return self._response(data.index, partition, appended)

    def _partition(self, topic: str, index: int) -> Partition:
        partition = self._partitions.find(topic, index)
        _check_may_write(topic, self._request.acks, self._context)
        return partition

    def _refusal(self, topic: str, index: int, error: KafkaError) -> PartitionProduceResponse:
        return _refused(index, error, _start_told_with(error, topic, index, self._context))

    def _response(self, index: int, partition: Partition, appended: Appended) -> PartitionProduceResponse:
        response = PartitionProduceResponse(
            index=index,
            error_code=_NONE,
            base_offset=appended.base_offset,
            log_append_time_ms=appended.log_append_time_ms,
            log_start_offset=appended.log_start_offset,
        )
        awaited = partition.awaited_flush(appended.last_offset + 1, acks_all=self._acks_all)
        if awaited is not None:
            self.awaited.append((response, awaited))
        return response


async def _when_flushed(
    response: ProduceResponse, waiting: list[tuple[PartitionProduceResponse, AwaitedFlush]], timeout_ms: int
) -> ProduceResponse:
    """Wait until everything lasts; put the refusal in the place of each answer that is not to be given."""
    if not waiting:
        return response
    errors = await wait_for_flush([awaited for _, awaited in waiting], timeout_ms)
    for (partition, _), error in zip(waiting, errors, strict=True):
        if error is not None:
            partition.error_code = error.code
            partition.error_message = error.message
            partition.base_offset = _NO_OFFSET
            partition.log_append_time_ms = _NO_TIME
            partition.log_start_offset = _NO_OFFSET
    return response


def _messages(told: list[Told | PartitionProduceResponse]) -> list[PartitionProduceResponse]:
    """A message for each, where that may not be so."""
    return [
        PartitionProduceResponse(
            index=each[0], error_code=_NONE, base_offset=each[1], log_start_offset=each[2]
        )
        if isinstance(each, tuple)
        else each
        for each in told
    ]


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


def _refused_topic(topic: TopicProduceData, error: KafkaError) -> TopicProduceResponse:
    return _topic_response(topic, [_refused(data.index, error) for data in topic.partition_data])


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
