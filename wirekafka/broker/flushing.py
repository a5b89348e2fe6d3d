"""`Flusher`: makes appends last, many by one call of the disk.

One a data folder, run by `broker`. Asked by `partition` and `housekeeping`; calls the storage room in a
thread. When nothing runs, what is asked for is flushed at once; what is asked for meanwhile shares the
flush after it. So the slower the disk, the more share a call. Where the disk is faster than the event loop, a
flush that follows one shared by several waits a moment for as many to come again; an idle broker never waits.

Source: ours, as databases commit in groups. Kafka's UnifiedLog.append flushes in the request's own thread
(flush.messages), its LogManager in one of its own (flush.ms).
"""

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import trio

from wirekafka.broker.complaints import Complaints
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import Health, PartitionLog

NEVER = (1 << 63) - 1
"""The value of flush.messages and flush.ms for none of it."""
_AGAIN_AFTER_SECONDS = 1.0
_LATE_SECONDS = 1.0
_LONGEST_MOMENT_SECONDS = 0.001
_FEWEST_WAITED_FOR = 4
"""So few who shared the last flush are no load: the next is made at once."""
_MOST_OUTDATED = 64

Ring = Callable[[], None]


@dataclass(slots=True)
class Flush:
    """One flush of some logs, asked for, under way or over."""

    asked: dict[PartitionLog, Ring | None] = field(default_factory=dict)
    """Each log, and who is rung when the flush is over."""
    sharers: int = 0
    """How often it was asked for."""
    asked_at: float = math.inf
    """When it was first asked for, by trio's clock."""
    ended: trio.Event = field(default_factory=trio.Event)
    ended_or_late: trio.Event = field(default_factory=trio.Event)
    """Set as well when it takes so long that who waits had better look at the clock."""
    failure: KafkaError | None = None


@dataclass(frozen=True, slots=True)
class AwaitedFlush:
    """An append that may not be acknowledged yet: records below `end_offset`, which `flush` makes last."""

    log: PartitionLog
    end_offset: int
    flush: Flush

    async def wait(self) -> None:
        """Return when the records last. Raises what `check` does, when the flush is over."""
        await self.flush.ended.wait()
        self.check()

    def check(self) -> None:
        """Raise why the records may not last, once the flush is over.

        UNKNOWN_TOPIC_OR_PARTITION when the topic was deleted meanwhile, else KAFKA_STORAGE_ERROR.
        """
        if self.log.recovery_point >= self.end_offset:
            return
        if self.log.closed:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self.log.topic_partition} has been deleted."
            )
        why = self.flush.failure.message if self.flush.failure else "it could not be flushed."
        raise KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"What was written to {self.log.topic_partition} may not last: {why}",
        )


async def wait_for_flush(awaited: Sequence[AwaitedFlush], timeout_ms: int) -> list[KafkaError | None]:
    """Wait until each append lasts; give what stands in the way of each, None for nothing.

    REQUEST_TIMED_OUT for those of which nothing is known yet when the time is up.
    """
    deadline = trio.current_time() + max(0, timeout_ms) / 1000
    if timeout_ms >= 2 * _LATE_SECONDS * 1000:  # nearly always, and without a timer for each request
        for each in awaited:
            await each.flush.ended_or_late.wait()
    if not all(each.flush.ended.is_set() for each in awaited):
        with trio.move_on_at(deadline):
            for each in awaited:
                await each.flush.ended.wait()
    return [_what_is_wrong(each, timeout_ms) for each in awaited]


def _what_is_wrong(awaited: AwaitedFlush, timeout_ms: int) -> KafkaError | None:
    if not awaited.flush.ended.is_set():
        return KafkaError(
            ErrorCode.REQUEST_TIMED_OUT,
            f"What was written to {awaited.log.topic_partition} was not flushed within {timeout_ms} ms.",
        )
    try:
        awaited.check()
    except KafkaError as error:
        return error
    return None


class Flusher:
    """The one flusher of a data folder. `flush` makes logs last, in a thread; it raises KafkaError."""

    def __init__(self, flush: Callable[[Sequence[PartitionLog]], None], health: Health) -> None:
        self._flush_logs = flush
        self._health = health
        self._next = Flush()
        self._running: Flush | None = None
        self._due: dict[PartitionLog, tuple[float, Ring | None]] = {}
        """When a log is to be flushed at the latest, by trio's clock."""
        self._by_time: list[tuple[float, int, PartitionLog]] = []
        """The same as a heap. What was flushed meanwhile is found out later."""
        self._asked_so_far = 0
        self._sleep = trio.CancelScope()
        self._last_sharers = 0
        self._gathering: trio.CancelScope | None = None
        self._thread = trio.CapacityLimiter(1)
        """Its own: threads that wait for something else, however many, do not keep a flush waiting."""
        self._complaints = Complaints("what was written may not last")

    def ask(self, log: PartitionLog, ring: Ring | None = None) -> Flush:
        """Have a log flushed as soon as the disk is free; give the flush that will do it.

        What has been appended by now lasts when that flush has ended well. `ring` is called at its end.
        """
        flush, asked = self._next, self._next.asked
        if not asked:
            self._sleep.deadline = -math.inf
            flush.asked_at = trio.current_time()
        if ring is not None or log not in asked:
            asked[log] = ring
        flush.sharers += 1
        if self._gathering is not None and flush.sharers >= self._last_sharers:
            self._gathering.cancel()
        return flush

    def ask_within(self, log: PartitionLog, delay_ms: int, ring: Ring | None = None) -> None:
        """Have a log flushed in some time, or earlier if it was asked for earlier."""
        due = trio.current_time() + delay_ms / 1000
        found = self._due.get(log)
        if found is not None and ring is None:
            ring = found[1]
        if found is not None and due >= found[0]:
            self._due[log] = (found[0], ring)
        else:
            self._due[log] = (due, ring)
            self._asked_so_far += 1
            heapq.heappush(self._by_time, (due, self._asked_so_far, log))
            self._sleep.deadline = min(self._sleep.deadline, due)

    async def run(self) -> None:
        """Flush what is asked for, forever."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch)
            while True:
                with trio.CancelScope(deadline=self._wake_at()) as self._sleep:
                    await trio.sleep_forever()
                await self._gather()
                await self._flush()

    async def _watch(self) -> None:
        """Tell who waits for a flush that it is late, before twice the time has passed after which it is."""
        while True:
            await trio.sleep(_LATE_SECONDS)
            for flush in (self._running, self._next):
                if flush is not None and flush.asked_at + _LATE_SECONDS <= trio.current_time():
                    flush.ended_or_late.set()

    async def _gather(self) -> None:
        """Under load, wait a moment for as many as shared the last flush."""
        if self._next.sharers >= self._last_sharers or self._last_sharers < _FEWEST_WAITED_FOR:
            return
        with trio.move_on_after(_LONGEST_MOMENT_SECONDS) as self._gathering:
            await trio.sleep_forever()
        self._gathering = None

    def _wake_at(self) -> float:
        if self._next.asked:
            return -math.inf
        while self._by_time and not self._is_still_due(self._by_time[0]):
            heapq.heappop(self._by_time)
        return self._by_time[0][0] if self._by_time else math.inf

    def _is_still_due(self, each: tuple[float, int, PartitionLog]) -> bool:
        due, _, log = each
        found = self._due.get(log)
        return found is not None and found[0] == due

    async def _flush(self) -> None:
        self._running = flush = self._next
        self._next = Flush()
        self._last_sharers = flush.sharers
        self._take_due(flush)
        logs = [log for log in flush.asked if not log.closed]
        try:
            await trio.to_thread.run_sync(self._flush_logs, logs, limiter=self._thread)
        except KafkaError as error:
            flush.failure = error
            self._try_again(flush)
        self._complaints.hear(flush.failure)
        for ring in flush.asked.values():
            if ring is not None:
                ring()
        self._running = None
        flush.ended.set()
        flush.ended_or_late.set()

    def _take_due(self, flush: Flush) -> None:
        now = trio.current_time()
        while self._by_time and self._by_time[0][0] <= now:
            each = heapq.heappop(self._by_time)
            if self._is_still_due(each):
                flush.asked.setdefault(each[2], self._due[each[2]][1])
        for log, ring in flush.asked.items():
            due = self._due.pop(log, None)
            if due is not None and ring is None:
                flush.asked[log] = due[1]
        if len(self._by_time) > _MOST_OUTDATED + 2 * len(self._due):
            self._by_time = [each for each in self._by_time if self._is_still_due(each)]
            heapq.heapify(self._by_time)

    def _try_again(self, flush: Flush) -> None:
        """After a disk that was full: what nobody asks for again has to last all the same."""
        if self._health.failure:
            return
        for log, ring in flush.asked.items():
            if not (log.closed or log.failed) and log.recovery_point < log.log_end_offset:
                self.ask_within(log, int(_AGAIN_AFTER_SECONDS * 1000), ring)
