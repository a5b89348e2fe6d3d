"""Fetch: read batches from partitions, in a session or without, waiting if asked to.

From v7 on there are sessions (KIP-227), from v9 on leader epochs are checked (KIP-320), from v13 on
topics go by id (KIP-516). Records are answered as slices of files.

Source: Kafka's KafkaApis.handleFetchRequest, FetchManager and ReplicaManager.fetchMessages.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from wirekafka.broker import (
    NO_SESSION,
    FetchedPartition,
    FetchKey,
    FetchLimits,
    FetchPlan,
    Found,
    Partition,
    PlainRead,
    failed_fetch,
    fetch_deadline,
    fetch_partitions,
    read_plainly,
    reads_older_segment,
    wait_for_more,
)
from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import Later, always, handles
from wirekafka.protocol.apis.fetch import (
    FETCH,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from wirekafka.protocol.connection import Built
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.plain_fetch import NEWEST as NEWEST_PLAIN
from wirekafka.protocol.plain_fetch import OLDEST as OLDEST_PLAIN
from wirekafka.protocol.plain_fetch import plain_body

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


@dataclass(frozen=True, slots=True)
class Fetching:
    """One request, from its plan on."""

    plan: FetchPlan
    limits: FetchLimits
    context: RequestContext

    def at_once(self) -> FetchResponse | Built | Later[FetchResponse]:
        """Answer if there is enough by now."""
        read = read_plainly(self.plan, self.limits) if self._can_be_plain else None
        if read is None:
            return Later(self.read_and_answer)
        if self._is_enough(read):
            return self._answer_plainly(read)
        return self.later(read.sizes)

    def later(self, sizes: dict[FetchKey, int]) -> Later[FetchResponse]:
        """Wait, for there is not enough: what `sizes` says has just been read, plainly."""
        if self.plan.session is None:
            return Later(self._wait_and_answer)
        self.plan.watch()
        return Later(partial(self._wait_and_answer, sizes))

    async def read_and_answer(self, deadline: float | None = None) -> FetchResponse:
        """Answer when there is enough, or the time is up."""
        results = await fetch_partitions(self.plan, self.limits, self.context.broker.timeouts, deadline)
        if self.context.version < _OLDEST_WITH_STORAGE_ERROR:
            _say_not_leader(results.values())
        return _answer(self.plan, results, self.context)

    async def _wait_and_answer(self, sizes: dict[FetchKey, int] | None = None) -> FetchResponse | Built:
        """Do so as long as the request is plain.

        `sizes` says what there was when watching the plan's partitions began; None that it has not.
        """
        plan, limits, timeouts = self.plan, self.limits, self.context.broker.timeouts
        deadline = fetch_deadline(limits)
        is_time_up = False
        while True:
            if sizes is not None:
                is_time_up = not await wait_for_more(plan, limits, sizes, timeouts, deadline)
                plan.look_again()
            read = None if plan.is_overtaken else read_plainly(plan, limits)
            if read is None:
                return await self.read_and_answer(deadline)
            if is_time_up or self._is_enough(read):
                return self._answer_plainly(read)
            plan.watch()
            sizes = read.sizes

    @property
    def _can_be_plain(self) -> bool:
        return OLDEST_PLAIN <= self.context.version <= NEWEST_PLAIN

    def _is_enough(self, read: PlainRead) -> bool:
        limits = self.limits
        return (
            read.size_bytes >= limits.min_bytes
            or limits.max_wait_ms <= 0
            or not self.plan.reading.partitions
            or any(reads_older_segment(fetched, limits) for fetched, _ in read.partitions)
        )

    def _answer_plainly(self, read: PlainRead) -> Built:
        """Full, opening a session if one was asked for; or what has changed since the session's last."""
        plan, session = self.plan, self.plan.session
        session_id = NO_SESSION
        told = [one for _, one in read.partitions]
        if session is not None:
            session_id = session.session_id
            told = [
                one
                for fetched, one in read.partitions
                if session.must_tell_plain(fetched, one, has_records=len(one.records) > 0)
            ]
        elif plan.wants_session:
            broker = self.context.broker
            told_by_key = [(fetched.key, one) for fetched, one in read.partitions]
            session_id = broker.fetch_sessions.open(plan, told_by_key, broker.clock.now_ms())
        return Built(plain_body(session_id, told, aborted_is_null=not self.limits.committed_only))


def _begin(request: FetchRequest, context: RequestContext) -> Fetching:
    """Plan the request and find its partitions. Raises what `FetchSessions.plan` does."""
    broker = context.broker
    by_topic_id = context.version >= _TOPIC_IDS_SINCE
    plan = broker.fetch_sessions.plan(request, by_topic_id=by_topic_id, now_ms=broker.clock.now_ms())
    max_bytes = min(request.max_bytes, broker.settings.get_int("fetch.max.bytes"))
    limits = FetchLimits(
        min_bytes=min(request.min_bytes, max_bytes),
        max_bytes=max_bytes,
        max_wait_ms=request.max_wait_ms,
        committed_only=request.isolation_level == _READ_COMMITTED,
    )
    for fetched in plan.partitions.values():
        if not isinstance(fetched.found, Partition) or fetched.found.is_deleted:
            fetched.found = _find(fetched, context)
    if max(request.replica_id, request.replica_state.replica_id) >= 0:
        for fetched in plan.partitions.values():
            fetched.found = _refuse_follower(fetched.found)
    return Fetching(plan, limits, context)


def _fetch_at_once(
    request: FetchRequest, context: RequestContext
) -> FetchResponse | Built | Later[FetchResponse]:
    try:
        return _begin(request, context).at_once()
    except KafkaError as error:  # of the session: which partitions it had is not known
        return FetchResponse(throttle_time_ms=0, error_code=error.code, responses=[])


@handles(FETCH, refusal=_refuse, may_wait=always, at_once=_fetch_at_once)
async def fetch(request: FetchRequest, context: RequestContext) -> FetchResponse:
    """Answer as the plain way does, every message made: its twin."""
    try:
        fetching = _begin(request, context)
    except KafkaError as error:
        return FetchResponse(throttle_time_ms=0, error_code=error.code, responses=[])
    return await fetching.read_and_answer()


def _find(fetched: FetchedPartition, context: RequestContext) -> Found:
    """The partition; by a session's id of a topic that has gone, what Kafka says of it."""
    key = fetched.key
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


def _refuse_follower(found: Found | None) -> Found:
    """No other broker replicates from this one."""
    assert found is not None
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
