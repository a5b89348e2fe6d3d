"""Incremental fetch sessions: what a consumer reads, remembered, so that it need not say it again.

Pure; called by `handlers.fetch`. A session holds the partitions a consumer asked for, in the order
in which they are served, and what it was last told of each.

Source: KIP-227; Kafka's FetchManager, FetchSession and FetchSessionCache.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, PartitionData
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

NO_SESSION = 0
FIRST_EPOCH = 0
NO_SESSION_EPOCH = -1
_MAX_EPOCH = 2**31 - 1
_EVICTION_MS = 120_000
"""A session unused for longer is stale; one younger than this is not pushed out for its size."""


class FetchKey(NamedTuple):
    """What names a partition in a fetch: its topic's id from v13 on, its topic's name before."""

    topic: bytes | str
    partition: int


@dataclass(slots=True)
class FetchedPartition:
    """What is asked of one partition, and what its session was last told of it.

    `topic_name` is what its topic's id meant when it was first found, for a later reader of the same
    session to see that the id has gone (UNKNOWN_TOPIC_OR_PARTITION) or the name has another
    (INCONSISTENT_TOPIC_ID).
    """

    wanted: FetchPartition
    told_high_watermark: int = -1
    told_log_start_offset: int = -1
    topic_name: str | None = None


@dataclass(slots=True)
class FetchSession:
    """The partitions of one reader, in the order in which they are served.

    A follower's session is privileged: it may push out a consumer's.
    """

    session_id: int
    next_epoch: int
    by_topic_id: bool
    last_used_ms: int
    partitions: OrderedDict[FetchKey, FetchedPartition] = field(default_factory=OrderedDict)
    created_ms: int = 0
    privileged: bool = False

    @property
    def worth(self) -> tuple[bool, int, int]:
        """What it is to be weighed by against a new session that wants its place."""
        return self.privileged, len(self.partitions), self.session_id

    def gives_way_to(self, *, privileged: bool) -> bool:
        """Whether a new session may have its place at all."""
        has_lasted = self.last_used_ms - self.created_ms > _EVICTION_MS
        return has_lasted or (privileged and not self.privileged)

    def must_tell(self, key: FetchKey, data: PartitionData) -> bool:
        """Whether an incremental response includes `data`; remembers what it says if so."""
        fetched = self.partitions.get(key)
        if fetched is None:
            return False
        has_records = bool(data.records)
        news = (
            has_records
            or data.error_code != ErrorCode.NONE
            or fetched.told_high_watermark != data.high_watermark
            or fetched.told_log_start_offset != data.log_start_offset
            or data.diverging_epoch.end_offset >= 0
        )
        # After an error the watermark is told again, so that the client sees the error end.
        fetched.told_high_watermark = -1 if data.error_code else data.high_watermark
        fetched.told_log_start_offset = data.log_start_offset
        if has_records:
            self.partitions.move_to_end(key)  # served last next time, so that none starves
        return news


@dataclass(slots=True)
class FetchPlan:
    """What one request reads, and how its answer refers to its session."""

    partitions: OrderedDict[FetchKey, FetchedPartition]
    by_topic_id: bool
    session: FetchSession | None = None
    is_incremental: bool = False
    wants_session: bool = False
    privileged: bool = False
    answers_epoch: int = 0

    @property
    def is_overtaken(self) -> bool:
        """Whether another request of the session has come meanwhile: INVALID_FETCH_SESSION_EPOCH then."""
        return self.session is not None and self.session.next_epoch != self.answers_epoch


class FetchSessions:
    """The sessions of a broker, at most `slots` of them."""

    def __init__(self, slots: int, draw_id: Callable[[], int]) -> None:
        self._slots = slots
        self._draw_id = draw_id
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def plan(self, request: FetchRequest, *, by_topic_id: bool, now_ms: int) -> FetchPlan:
        """Say what the request reads: its own list, or its session's as the request changes it.

        Raises FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR.
        """
        asked = OrderedDict(
            (FetchKey(topic.topic_id if by_topic_id else topic.topic, wanted.partition), wanted)
            for topic in request.topics
            for wanted in topic.partitions
        )
        if request.session_epoch in (FIRST_EPOCH, NO_SESSION_EPOCH):
            self._sessions.pop(request.session_id, None)
            return FetchPlan(
                _fresh(asked),
                by_topic_id,
                wants_session=request.session_epoch == FIRST_EPOCH,
                privileged=max(request.replica_id, request.replica_state.replica_id) >= 0,
            )
        session = self._find(request, by_topic_id)
        for key, wanted in asked.items():
            if key in session.partitions:
                session.partitions[key].wanted = wanted
            else:
                session.partitions[key] = FetchedPartition(wanted)
        for key in _forgotten(request, by_topic_id):
            session.partitions.pop(key, None)
        if not session.partitions:
            del self._sessions[session.session_id]
            return FetchPlan(_fresh(asked), by_topic_id)
        session.next_epoch = 1 if session.next_epoch == _MAX_EPOCH else session.next_epoch + 1
        session.last_used_ms = now_ms
        self._sessions.move_to_end(session.session_id)
        return FetchPlan(
            session.partitions.copy(),
            by_topic_id,
            session,
            is_incremental=True,
            answers_epoch=session.next_epoch,
        )

    def open(self, plan: FetchPlan, told: Iterable[tuple[FetchKey, PartitionData]], now_ms: int) -> int:
        """Make the session that a full fetch asked for; NO_SESSION when there is no room."""
        if not plan.wants_session or not self._make_room(plan, now_ms):
            return NO_SESSION
        session_id = self._draw_id()
        while session_id in self._sessions or session_id == NO_SESSION:
            session_id = self._draw_id()
        session = FetchSession(
            session_id, 1, plan.by_topic_id, now_ms, plan.partitions, now_ms, plan.privileged
        )
        for key, data in told:
            fetched = session.partitions[key]
            fetched.told_high_watermark = data.high_watermark
            fetched.told_log_start_offset = data.log_start_offset
        self._sessions[session_id] = session
        return session_id

    def _find(self, request: FetchRequest, by_topic_id: bool) -> FetchSession:
        session = self._sessions.get(request.session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.next_epoch != request.session_epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_topic_id != by_topic_id:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        return session

    def _make_room(self, plan: FetchPlan, now_ms: int) -> bool:
        """Drop the session unused for longest, if that is stale, or the one worth least, if it is worth less.

        That is one that has lasted and has fewer partitions, or a consumer's where a follower comes.
        """
        if len(self._sessions) < self._slots:
            return True
        if not self._sessions:
            return False
        oldest = next(iter(self._sessions.values()))
        if now_ms - oldest.last_used_ms > _EVICTION_MS:
            del self._sessions[oldest.session_id]
            return True
        evictable = [one for one in self._sessions.values() if one.gives_way_to(privileged=plan.privileged)]
        least = min(evictable, key=lambda one: one.worth, default=None)
        if least is None or (plan.privileged, len(plan.partitions), NO_SESSION) < least.worth:
            return False
        del self._sessions[least.session_id]
        return True


def _fresh(asked: "OrderedDict[FetchKey, FetchPartition]") -> "OrderedDict[FetchKey, FetchedPartition]":
    return OrderedDict((key, FetchedPartition(wanted)) for key, wanted in asked.items())


def _forgotten(request: FetchRequest, by_topic_id: bool) -> list[FetchKey]:
    return [
        FetchKey(topic.topic_id if by_topic_id else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]
