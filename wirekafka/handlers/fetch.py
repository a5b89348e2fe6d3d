"""Fetch: read batches from partitions, in a session or without, waiting if asked to.

From v7 on there are sessions (KIP-227), from v9 on leader epochs are checked (KIP-320), from v13 on
topics go by id (KIP-516). Records are answered as slices of files.

Source: Kafka's KafkaApis.handleFetchRequest, FetchManager and ReplicaManager.fetchMessages.
"""

from collections.abc import Iterable

from wirekafka.broker import (
    FetchedPartition,
    FetchKey,
    FetchLimits,
    FetchPlan,
    Found,
    failed_fetch,
    fetch_partitions,
)
from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import always, handles
from wirekafka.protocol.apis.fetch import (
    FETCH,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_TOPIC_IDS_SINCE = 13
_READ_COMMITTED = 1
_OLDEST_WITH_STORAGE_ERROR = 6


def _refuse(request: FetchRequest, error: KafkaError) -> FetchResponse:
    """The error at the top, and in every partition for clients of v4-6, which have no top."""
    by_name = [topic for topic in request.topics if topic.topic]
    return FetchResponse(
        throttle_time_ms=0,
        error_code=error.code,
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[failed_fetch(wanted.partition, error.code) for wanted in topic.partitions],
            )
            for topic in by_name
        ],
    )


@handles(FETCH, refusal=_refuse, may_wait=always)
async def fetch(request: FetchRequest, context: RequestContext) -> FetchResponse:
    broker = context.broker
    by_topic_id = context.version >= _TOPIC_IDS_SINCE
    try:
        plan = broker.fetch_sessions.plan(request, by_topic_id=by_topic_id, now_ms=broker.clock.now_ms())
    except KafkaError as error:  # of the session: which partitions it had is not known
        return FetchResponse(throttle_time_ms=0, error_code=error.code, responses=[])
    max_bytes = min(request.max_bytes, broker.settings.get_int("fetch.max.bytes"))
    limits = FetchLimits(
        min_bytes=min(request.min_bytes, max_bytes),
        max_bytes=max_bytes,
        max_wait_ms=request.max_wait_ms,
        committed_only=request.isolation_level == _READ_COMMITTED,
    )
    found = _find_all(plan, context)
    if max(request.replica_id, request.replica_state.replica_id) >= 0:
        found = {key: _refuse_follower(one) for key, one in found.items()}
    results = await fetch_partitions(plan.partitions, found, limits)
    if context.version < _OLDEST_WITH_STORAGE_ERROR:
        _say_not_leader(results.values())
    return _answer(plan, results, context)


def _find_all(plan: FetchPlan, context: RequestContext) -> dict[FetchKey, Found]:
    return {key: _find(key, fetched, context) for key, fetched in plan.partitions.items()}


def _find(key: FetchKey, fetched: FetchedPartition, context: RequestContext) -> Found:
    """The partition; by a session's id of a topic that has gone, what Kafka says of it."""
    try:
        topic = key.topic
        if isinstance(topic, bytes):
            topic = fetched.topic_name = fetched.topic_name or context.broker.partitions.name_of(topic)
        partition = context.broker.partitions.find(topic, key.partition)
        if isinstance(key.topic, bytes) and partition.log.topic_id != key.topic:
            raise KafkaError(
                ErrorCode.INCONSISTENT_TOPIC_ID, f"Topic '{topic}' has another id than the session says."
            )
        return partition
    except KafkaError as error:
        return error


def _refuse_follower(found: Found) -> Found:
    """No other broker replicates from this one."""
    if isinstance(found, KafkaError):
        return found
    return KafkaError(
        ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{found.topic_partition} has no follower: its broker is alone."
    )


def _say_not_leader(results: Iterable[PartitionData]) -> None:
    """Clients of v5 and before do not know KAFKA_STORAGE_ERROR; on 6 they ask again."""
    for data in results:
        if data.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
            data.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER


def _answer(
    plan: FetchPlan, results: dict[FetchKey, PartitionData], context: RequestContext
) -> FetchResponse:
    """Full, opening a session if one was asked for; or what has changed since the session's last."""
    session = plan.session
    if session is None:
        sessions, now_ms = context.broker.fetch_sessions, context.broker.clock.now_ms()
        session_id = sessions.open(plan, results.items(), now_ms)
        told = list(results.items())
    else:
        session_id = session.session_id
        if plan.is_overtaken:
            return FetchResponse(
                throttle_time_ms=0,
                error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                session_id=session_id,
                responses=[],
            )
        told = [(key, data) for key, data in results.items() if session.must_tell(key, data)]
    return FetchResponse(throttle_time_ms=0, session_id=session_id, responses=_by_topic(told))


def _by_topic(told: list[tuple[FetchKey, PartitionData]]) -> list[FetchableTopicResponse]:
    """Group neighbours of one topic, keeping the order in which partitions were served."""
    topics: list[FetchableTopicResponse] = []
    last: bytes | str | None = None
    for key, data in told:
        if key.topic != last:
            last = key.topic
            if isinstance(last, bytes):
                topics.append(FetchableTopicResponse(topic_id=last, partitions=[]))
            else:
                topics.append(FetchableTopicResponse(topic=last, partitions=[]))
        topics[-1].partitions.append(data)
    return topics
