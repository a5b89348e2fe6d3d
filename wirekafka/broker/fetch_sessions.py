"""Incremental fetch sessions: what a consumer reads, remembered, so that it need not say it again.

Called by `handlers.fetch`; waits for nothing. A session holds the partitions a consumer asked for, in
the order in which they are served, and what it was last told of each.

A partition of which there is nothing to tell is at rest: it is not looked at again before it rings, or the
consumer asks for something else of it. So a fetch costs what has changed, however much is read and idle.

Source: KIP-227; Kafka's FetchManager, FetchSession and FetchSessionCache, which look at every partition.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from wirekafka.broker.partition import Partition
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, PartitionData
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

NO_SESSION = 0
FIRST_EPOCH = 0
NO_SESSION_EPOCH = -1
_MAX_EPOCH = 2**31 - 1
_EVICTION_MS = 120_000
"""A session unused for longer is stale; one younger than this is not pushed out for its size."""

Found = Partition | KafkaError
"""A partition to read, or why there is none."""


class FetchKey(NamedTuple):
    """What names a partition in a fetch: its topic's id from v13 on, its topic's name before."""

    topic: bytes | str
    partition: int


class Told(Protocol):
    """What a consumer is told of a partition, as far as its session remembers it."""

    @property
    def high_watermark(self) -> int: ...
    @property
    def log_start_offset(self) -> int: ...


@dataclass(slots=True, eq=False)
class FetchedPartition:
    """What is asked of one partition, and what its session was last told of it. A bell of the partition.

    `topic_name` is what its topic's id meant when it was first found, for a later reader of the same
    session to see that the id has gone (UNKNOWN_TOPIC_OR_PARTITION) or the name has another
    (INCONSISTENT_TOPIC_ID).
    """

    key: FetchKey
    wanted: FetchPartition
    reading: "Reading"
    told_high_watermark: int = -1
    told_log_start_offset: int = -1
    topic_name: str | None = None
    found: Found | None = None
    """What the last request found there; looked up anew unless it is a partition that still is."""
    turn: int = 0
    """Of two partitions, the one with the smaller is served first."""

    def watch(self) -> None:
        """Have the partition ring when there is more to see."""
        if isinstance(self.found, Partition):
            self.found.wait_with(self)

    def let_go(self) -> None:
        """Have the partition ring no more."""
        if isinstance(self.found, Partition):
            self.found.wait_no_more(self)

    def set(self) -> None:
        """Hear that there is more to see."""
        reading = self.reading
        reading.due[self.key] = reading.rung[self.key] = self
        if reading.wake is not None:
            reading.wake()


class Reading:
    """The partitions that one session reads, or one request that has none; which of them are due."""

    __slots__ = ("_turn", "due", "is_over", "partitions", "rung", "wake")

    def __init__(self) -> None:
        self.partitions: OrderedDict[FetchKey, FetchedPartition] = OrderedDict()
        """All of them."""
        self.due: dict[FetchKey, FetchedPartition] = {}
        """Those that are not at rest."""
        self.rung: dict[FetchKey, FetchedPartition] = {}
        """Those that have rung since this was last emptied."""
        self.wake: Callable[[], None] | None = None
        """Wakes the request that waits; None while none does."""
        self.is_over = False
        """Whether the session has ended."""
        self._turn = 0

    def want(self, key: FetchKey, wanted: FetchPartition) -> None:
        """Take a partition up, or take up what is asked of it now."""
        fetched = self.partitions.get(key)
        if fetched is None:
            fetched = self.partitions[key] = FetchedPartition(key, wanted, self)
            self.put_last(fetched)
        else:
            fetched.wanted = wanted
        self.due[key] = fetched

    def forget(self, key: FetchKey) -> None:
        fetched = self.partitions.pop(key, None)
        if fetched is not None:
            fetched.let_go()
            self.due.pop(key, None)
            self.rung.pop(key, None)

    def put_last(self, fetched: FetchedPartition) -> None:
        """Serve a partition behind all others."""
        self._turn += 1
        fetched.turn = self._turn
        self.partitions.move_to_end(fetched.key)

    def put_to_rest(self, fetched: FetchedPartition) -> None:
        """Do not look at a partition before it rings, if it is one that can."""
        if isinstance(fetched.found, Partition) and not self.is_over:
            fetched.found.wait_with(fetched)
            self.due.pop(fetched.key, None)
            self.rung.pop(fetched.key, None)

    def due_in_order(self) -> dict[FetchKey, FetchedPartition]:
        """Those that are due, in the order in which they are served."""
        if len(self.due) < 2:
            return dict(self.due)
        return {one.key: one for one in sorted(self.due.values(), key=lambda one: one.turn)}

    def has_nothing_besides(self, key: FetchKey) -> bool:
        """Whether no other partition is due, and no request waits."""
        return self.wake is None and (not self.due or (len(self.due) == 1 and key in self.due))

    def end(self) -> None:
        """Let all partitions go, as soon as nobody waits for one."""
        self.is_over = True
        if self.wake is None:
            self.let_go()
            self.rung.update(self.partitions)  # a request that is about to wait looks at all of them first

    def let_go(self) -> None:
        for fetched in self.partitions.values():
            fetched.let_go()


@dataclass(slots=True)
class FetchSession:
    """The partitions of one reader, in the order in which they are served.

    A follower's session is privileged: it may push out a consumer's.
    """

    session_id: int
    next_epoch: int
    by_topic_id: bool
    last_used_ms: int
    reading: Reading = field(default_factory=Reading)
    created_ms: int = 0
    privileged: bool = False

    @property
    def partitions(self) -> "OrderedDict[FetchKey, FetchedPartition]":
        return self.reading.partitions

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
        if data.error_code == ErrorCode.NONE and data.diverging_epoch.end_offset < 0:
            return self.must_tell_plain(fetched, data, has_records=bool(data.records))
        # After an error the watermark is told again, so that the client sees the error end.
        fetched.told_high_watermark = -1 if data.error_code else data.high_watermark
        fetched.told_log_start_offset = data.log_start_offset
        if data.records:
            self.reading.put_last(fetched)
        return True

    def must_tell_plain(self, fetched: FetchedPartition, told: Told, *, has_records: bool) -> bool:
        """Do as `must_tell` for what is no error and no divergence; an idle partition goes to rest."""
        news = (
            has_records
            or fetched.told_high_watermark != told.high_watermark
            or fetched.told_log_start_offset != told.log_start_offset
        )
        if news:
            fetched.told_high_watermark = told.high_watermark
            fetched.told_log_start_offset = told.log_start_offset
            if has_records:
                self.reading.put_last(fetched)  # served last next time, so that none starves
        elif fetched.wanted.fetch_offset >= told.high_watermark:
            self.reading.put_to_rest(fetched)
        return news


@dataclass(slots=True)
class FetchPlan:
    """What one request reads, and how its answer refers to its session."""

    reading: Reading
    partitions: dict[FetchKey, FetchedPartition]
    """Those of the reading that are to be looked at, in order; the others are at rest."""
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

    @classmethod
    def of(
        cls,
        asked: Mapping[FetchKey, FetchPartition],
        *,
        by_topic_id: bool,
        wants_session: bool = False,
        privileged: bool = False,
    ) -> "FetchPlan":
        """Read just what is asked."""
        reading = Reading()
        for key, wanted in asked.items():
            reading.want(key, wanted)
        return cls(
            reading, reading.partitions, by_topic_id, wants_session=wants_session, privileged=privileged
        )

    def watch(self) -> None:
        """Have the partitions ring from now on. To be called when they have just been read."""
        rung = self.reading.rung
        for fetched in self.partitions.values():
            rung.pop(fetched.key, None)
            fetched.watch()

    def look_again(self) -> None:
        """Read what is due now: what rings while the request waits is."""
        if self.session is not None and not self.is_overtaken:
            self.partitions = self.reading.due_in_order()


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
            self._end(request.session_id)
            return FetchPlan.of(
                asked,
                by_topic_id=by_topic_id,
                wants_session=request.session_epoch == FIRST_EPOCH,
                privileged=max(request.replica_id, request.replica_state.replica_id) >= 0,
            )
        session = self._find(request, by_topic_id)
        reading = session.reading
        for key, wanted in asked.items():
            reading.want(key, wanted)
        for key in _forgotten(request, by_topic_id):
            reading.forget(key)
        if not reading.partitions:
            self._end(session.session_id)
            return FetchPlan.of(asked, by_topic_id=by_topic_id)
        return self.plan_next(session, now_ms)

    def plan_next(self, session: FetchSession, now_ms: int) -> FetchPlan:
        """Say what the session's next request reads, which has come: what is due by now."""
        self.go_on(session, now_ms)
        reading = session.reading
        if reading.wake is not None:
            reading.wake()  # the request that waits is overtaken
        return FetchPlan(
            reading,
            reading.due_in_order(),
            session.by_topic_id,
            session,
            is_incremental=True,
            answers_epoch=session.next_epoch,
        )

    def next_of(self, session_id: int, epoch: int) -> FetchSession | None:
        """Give the session whose next request has that epoch, if there is one."""
        session = self._sessions.get(session_id)
        return session if session is not None and session.next_epoch == epoch else None

    def go_on(self, session: FetchSession, now_ms: int) -> None:
        """Take note that the session's next request has come."""
        session.next_epoch = 1 if session.next_epoch == _MAX_EPOCH else session.next_epoch + 1
        session.last_used_ms = now_ms
        self._sessions.move_to_end(session.session_id)

    def open(self, plan: FetchPlan, told: Iterable[tuple[FetchKey, Told]], now_ms: int) -> int:
        """Make the session that a full fetch asked for; NO_SESSION when there is no room."""
        if not plan.wants_session or not self._make_room(plan, now_ms):
            return NO_SESSION
        session_id = self._draw_id()
        while session_id in self._sessions or session_id == NO_SESSION:
            session_id = self._draw_id()
        session = FetchSession(session_id, 1, plan.by_topic_id, now_ms, plan.reading, now_ms, plan.privileged)
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
            self._end(oldest.session_id)
            return True
        evictable = [one for one in self._sessions.values() if one.gives_way_to(privileged=plan.privileged)]
        least = min(evictable, key=lambda one: one.worth, default=None)
        if least is None or (plan.privileged, len(plan.partitions), NO_SESSION) < least.worth:
            return False
        self._end(least.session_id)
        return True

    def _end(self, session_id: int) -> None:
        """Forget a session, if there is one of this id."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.reading.end()


def _forgotten(request: FetchRequest, by_topic_id: bool) -> list[FetchKey]:
    return [
        FetchKey(topic.topic_id if by_topic_id else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]
