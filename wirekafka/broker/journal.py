"""`Journal`: ask a machine, append its records, apply them, then release its replies.

The one place where coordination meets the log and the event loop. Nothing here waits between
asking and applying, so a machine never decides on a state that a later append could take back.

In the mode `fsync` a reply goes out when all that is in the log by then has been flushed, so that it tells
of nothing which a power cut takes away. What was applied is seen by other requests before that.

An exception that nobody foresaw may leave the machine half changed. What its records say is in the log, so
`start_anew`, where there is one, takes up the machine from there, as after a restart; who waits is sent to
look for its coordinator. Where it may not do so yet, what fell due is passed over, and a request has failed.

Called by `coordination` and `cluster`; calls `Partition.append`.
Source: Kafka's CoordinatorRuntime, without its rollback: an append is one synchronous step here.
"""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import trio

from wirekafka.broker.alarms import Alarms
from wirekafka.broker.clock import Clock
from wirekafka.broker.complaints import Complaints
from wirekafka.broker.firebreak import contained, noticed
from wirekafka.broker.flushing import AwaitedFlush
from wirekafka.broker.partition import Partition
from wirekafka.machine import Decision, KeyValue, Machine, Records, Reply, Ticket
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage
from wirekafka.protocol.records import (
    ControlRecordType,
    Record,
    RecordBatch,
    build_batch,
    decode_records,
    marker_of,
)
from wirekafka.storage import Origin

R = TypeVar("R")

_tickets = itertools.count(1)
_journals = itertools.count(1)
_NOTHING = object()
_RECORDS_A_BATCH = 1000
_AGAIN_AFTER_MS = 1000


@dataclass(frozen=True, slots=True)
class Interruption(Generic[R]):
    """What ends the wait for a reply before the machine has one to give."""

    comes: Callable[[], Awaitable[None]]
    """Returns when there is no more waiting."""
    decide: Callable[[int], Decision[R]]
    """Ask the machine, at this time, for the reply that it was in no hurry to give."""


@dataclass(slots=True)
class _Waiter:
    """Where the reply to a ticket is put, and the bell of who waits for it."""

    response: object = _NOTHING
    flush: AwaitedFlush | None = None
    """What has to last before the reply goes out."""
    bell: trio.Event = field(default_factory=trio.Event)
    watch: trio.CancelScope | None = None
    """The wait for an interruption, which ends when the reply is there."""


class Journal(Generic[R]):
    """One machine over one partition."""

    def __init__(
        self,
        machine: Machine[R],
        records: Records[R],
        partition: Partition,
        *,
        clock: Clock,
        alarms: Alarms,
        applied: Callable[[R], None] | None = None,
        start_anew: Callable[[], None] | None = None,
        may_start_anew_ms: int = 0,
    ) -> None:
        """`start_anew` puts another machine and journal in place of these, from `may_start_anew_ms` on."""
        self.machine = machine
        self._records = records
        self._partition = partition
        self._clock = clock
        self._alarms = alarms
        self._applied = applied
        self._start_anew = start_anew
        self._may_start_anew_ms = may_start_anew_ms
        self._number = next(_journals)
        self._complaints = Complaints(f"{partition.topic_partition} takes no records")
        self._waiters: dict[Ticket, _Waiter] = {}

    @property
    def most_bytes(self) -> int:
        """The largest batch that the partition takes: no record can be longer."""
        return self._partition.log.config.max_message_bytes

    def load(self) -> int:
        """Apply every record of the partition that holds; give how many there were."""
        count = 0
        in_transactions: dict[int, list[R]] = {}
        for batch in self._partition.log.batches(self._partition.log.log_start_offset):
            for record in self._settled(batch, in_transactions):
                self.machine.apply(record)
                count += 1
        return count

    def _settled(self, batch: RecordBatch, in_transactions: dict[int, list[R]]) -> list[R]:
        """Give the records that hold from this batch on: those of a transaction when it is committed.

        One that is aborted, or open at the end of the log, has said nothing.
        """
        if batch.is_control:
            marker = marker_of(batch)
            held = in_transactions.pop(batch.producer_id, []) if marker is not None else []
            return held if marker is not None and marker.kind is ControlRecordType.COMMIT else []
        items = (KeyValue(item.key, item.value, item.timestamp_ms) for item in decode_records(batch))
        records = [record for item in items if (record := self._records.decode(item)) is not None]
        if not batch.is_transactional:
            return records
        in_transactions.setdefault(batch.producer_id, []).extend(records)
        return []

    async def ask(
        self,
        decide: Callable[[Ticket, int], Decision[R]],
        forget: Callable[[Ticket], None] | None = None,
        interruption: Interruption[R] | None = None,
    ) -> object:
        """Let the machine decide, carry it out, and wait for the reply to the ticket it was given.

        An `interruption` that comes first makes the machine reply.

        In the mode `fsync` also wait until the reply's records, and all before them, last. A KafkaError
        given as reply is raised. `forget` is told when nobody waits any more.
        """
        ticket = Ticket(next(_tickets))
        waiter = self._waiters[ticket] = _Waiter()
        try:
            with noticed(self._after_fault_of_request):
                decision = decide(ticket, self._clock.now_ms())
                answers_others = any(reply.ticket != ticket for reply in decision.replies)
                self.carry_out(decision)
            if answers_others:
                await _let_others_be_answered()
            if waiter.response is _NOTHING and interruption is not None:
                await self._until_interrupted(waiter, interruption)
            if waiter.response is _NOTHING:
                await waiter.bell.wait()
        finally:
            del self._waiters[ticket]
            if waiter.response is _NOTHING and forget is not None:
                forget(ticket)
        response = waiter.response
        if waiter.flush is not None and not isinstance(response, KafkaError):
            response = await self._once_flushed(response, ticket, waiter.flush)
        if isinstance(response, KafkaError):
            raise response
        return response

    async def _until_interrupted(self, waiter: _Waiter, interruption: Interruption[R]) -> None:
        """Wait in one place for the reply and for what makes it due: a second task would cost more."""
        with trio.CancelScope() as waiter.watch:
            await interruption.comes()
        if waiter.response is _NOTHING:
            with noticed(self._after_fault_of_request):
                self.carry_out(interruption.decide(self._clock.now_ms()))

    async def _once_flushed(self, response: object, ticket: Ticket, awaited: AwaitedFlush) -> object:
        """The reply when it may go out; in its place what the machine says of records that may not last.

        Nothing is taken back of what was applied: after a failed flush the folder takes no more records,
        and the next start finds out what there is.
        """
        try:
            await awaited.wait()
        except KafkaError as error:
            failed = Decision[R](replies=[Reply(ticket, response)])
            replies = self.machine.on_append_failed(failed, error, self._clock.now_ms()).replies
            return replies[0].response
        return response

    def carry_out(self, decision: Decision[R]) -> bool:
        """Append, apply, reply; set the alarm for what comes next. Whether all could be appended."""
        is_written = True
        while decision.records:
            piece = self._first_piece(decision)
            try:
                self._append(piece)
            except KafkaError as error:
                self._complaints.hear(error)
                decision = self.machine.on_append_failed(decision, error, self._clock.now_ms())
                is_written = False
                break
            self._complaints.hear(None)
            self._apply(piece)
            decision = replace(decision, records=decision.records[len(piece) :])
        for reply in decision.replies:
            self._release(reply)
        self.set_alarm()
        return is_written

    def set_alarm(self) -> None:
        """Be woken when the machine next has something to decide."""
        self._alarms.set(self._number, self.machine.wake_at_ms(), self._wake)

    def close(self) -> None:
        """Be woken no more; answer who still waits that the coordinator is elsewhere."""
        self._start_anew = None
        self._alarms.set(self._number, None, self._wake)
        for ticket in list(self._waiters):
            self._release(Reply(ticket, KafkaError(ErrorCode.NOT_COORDINATOR)))

    def _wake(self, now_ms: int) -> None:
        """Decide what is due, but one decision at a time: between two of them others are served.

        The alarm for the next, which may be due too, is set with the decision.
        """
        with contained(f"what fell due in {self._partition.topic_partition}", self._after_fault):
            due_ms = self.machine.wake_at_ms()
            if due_ms is None or due_ms > now_ms:
                self.set_alarm()
            elif not self.carry_out(self.machine.on_time(now_ms)):
                # A full disk: what was taken back may be due at once again, and again.
                self._alarms.set(self._number, now_ms + _AGAIN_AFTER_MS, self._wake)

    def _after_fault(self) -> None:
        if not self._is_begun_anew():
            self._alarms.set(self._number, self._clock.now_ms() + _AGAIN_AFTER_MS, self._wake)

    def _after_fault_of_request(self) -> None:
        if not self._is_begun_anew():
            self.set_alarm()

    def _is_begun_anew(self) -> bool:
        start_anew = self._start_anew
        if start_anew is None or self._clock.now_ms() < self._may_start_anew_ms:
            return False
        self.close()
        start_anew()
        return True

    def _first_piece(self, decision: Decision[R]) -> list[R]:
        """The records that are appended next, as one batch.

        What belongs together is one batch, all or nothing. What does not (expiry, a deleted topic) may be
        long.
        """
        return decision.records[:_RECORDS_A_BATCH] if decision.may_be_split else decision.records

    def _append(self, records: list[R]) -> None:
        """Write one batch. Raises what `Partition.append` does, UNKNOWN_SERVER_ERROR for a value that
        has no byte form."""
        wall_ms = self._clock.wall_ms()
        try:
            items = [_as_record(self._records.encode(record, wall_ms)) for record in records]
        except MalformedMessage as error:
            raise KafkaError(
                ErrorCode.UNKNOWN_SERVER_ERROR, f"A record cannot be written: {error}."
            ) from error
        batch = build_batch(items, timestamp_ms=wall_ms, leader_epoch=self._partition.leader_epoch)
        self._partition.append(batch, now_ms=wall_ms, origin=Origin.COORDINATOR)

    def _apply(self, records: list[R]) -> None:
        for record in records:
            self.machine.apply(record)
            if self._applied is not None:
                self._applied(record)

    def _release(self, reply: Reply) -> None:
        waiter = self._waiters.get(reply.ticket)
        if waiter is not None:
            waiter.response = reply.response
            waiter.flush = self._partition.awaited_flush(self._partition.log.log_end_offset, acks_all=True)
            waiter.bell.set()
            if waiter.watch is not None:
                waiter.watch.cancel()


async def _let_others_be_answered() -> None:
    """Let those whom the same decision answers send first: once to wake, once to have run.

    Who completes a rebalance is mostly its leader, and could otherwise begin the next one before a member has
    heard of this one.
    """
    await trio.lowlevel.checkpoint()
    await trio.lowlevel.checkpoint()


def _as_record(item: KeyValue) -> Record:
    return Record(key=item.key, value=item.value, timestamp_ms=item.timestamp_ms)
