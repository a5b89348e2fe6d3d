"""journal: appended, then applied, then replied; and the same state from the log."""

from collections.abc import Callable
from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.broker.conftest import MakePartition
from tests.broker.support import FlushAtWill, NotebookMachine, NotebookRecords
from wirekafka.broker.alarms import Alarms
from wirekafka.broker.clock import Clock
from wirekafka.broker.flushing import Flusher
from wirekafka.broker.journal import Interruption, Journal
from wirekafka.broker.partition import Partition
from wirekafka.machine import Decision, KeyValue, Reply, Ticket
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage
from wirekafka.protocol.records import (
    ControlRecordType,
    EndTxnMarker,
    Record,
    build_batch,
    build_marker_batch,
)
from wirekafka.storage import Origin


class Desk:
    """A journal over a partition, with a machine whose steps are noted in order."""

    def __init__(self, partition: Partition, machine: NotebookMachine | None = None) -> None:
        self.partition = partition
        self.machine = machine or NotebookMachine()
        self.clock = Clock()
        self.alarms = Alarms(self.clock)
        self.applied: list[tuple[str, int]] = []
        self.journal: Journal[str] = Journal(
            self.machine,
            NotebookRecords(),
            partition,
            clock=self.clock,
            alarms=self.alarms,
            applied=lambda word: self.applied.append((word, partition.high_watermark)),
        )

    async def write(self, *words: str, answer: object = "done") -> object:
        return await self.journal.ask(lambda ticket, now_ms: decision(words, ticket, answer))


def decision(words: tuple[str, ...], ticket: Ticket, answer: object) -> Decision[str]:
    return Decision(records=list(words), replies=[Reply(ticket, answer)])


@pytest.fixture
async def desk(make_partition: MakePartition) -> Desk:
    return Desk(make_partition())


def failing(error: KafkaError) -> Callable[..., None]:
    def append(*_: object, **__: object) -> None:
        raise error

    return append


async def test_records_are_appended_then_applied_then_answered(desk: Desk) -> None:
    """What was applied is in the log already, as one batch."""
    answer = await desk.write("a", "b")

    assert answer == "done"
    assert desk.machine.words == ["a", "b"]
    assert desk.applied == [("a", 2), ("b", 2)]


async def test_error_given_as_reply_is_raised(desk: Desk) -> None:
    error = KafkaError(ErrorCode.ILLEGAL_GENERATION)

    with pytest.raises(KafkaError) as raised:
        await desk.write(answer=error)
    assert raised.value is error


async def test_failed_append_applies_nothing_and_answers_as_the_machine_says(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
    monkeypatch.setattr(desk.partition, "append", failing(error))

    with pytest.raises(KafkaError) as raised:
        await desk.write("a")

    assert raised.value is error
    assert (desk.machine.words, desk.applied, desk.machine.failures) == ([], [], [error])


async def test_reply_may_come_with_a_later_decision(desk: Desk, nursery: trio.Nursery) -> None:
    """As a join that waits for the other members."""
    tickets: list[Ticket] = []
    answers: list[object] = []

    def decide(ticket: Ticket, now_ms: int) -> Decision[str]:
        tickets.append(ticket)
        return Decision()

    async def ask() -> None:
        answers.append(await desk.journal.ask(decide))

    nursery.start_soon(ask)
    await wait_all_tasks_blocked()
    before = list(answers)
    desk.journal.carry_out(Decision(replies=[Reply(tickets[0], "late")]))
    await wait_all_tasks_blocked()

    assert (before, answers) == ([], ["late"])


async def test_others_are_answered_before_who_completes_their_wait(desk: Desk, nursery: trio.Nursery) -> None:
    """A leader's client must not begin the next rebalance while a member has yet to hear of this one."""
    waiting: list[Ticket] = []
    heard: list[str] = []

    def wait(ticket: Ticket, now_ms: int) -> Decision[str]:
        waiting.append(ticket)
        return Decision()

    async def follow() -> None:
        heard.append(str(await desk.journal.ask(wait)))

    for _ in range(5):
        nursery.start_soon(follow)
    await wait_all_tasks_blocked()
    heard.append(
        str(
            await desk.journal.ask(
                lambda ticket, _: Decision(
                    replies=[Reply(ticket, "leader"), *(Reply(one, "member") for one in waiting)]
                )
            )
        )
    )

    assert heard == ["member"] * 5 + ["leader"]


async def test_client_that_hangs_up_is_forgotten(desk: Desk) -> None:
    """And a reply to it goes nowhere."""
    tickets: list[Ticket] = []

    def decide(ticket: Ticket, now_ms: int) -> Decision[str]:
        tickets.append(ticket)
        return Decision()

    with trio.move_on_after(0):
        await desk.journal.ask(decide, desk.machine.forgotten.append)
    desk.journal.carry_out(Decision(records=["a"], replies=[Reply(tickets[0], "late")]))

    assert desk.machine.forgotten == tickets
    assert desk.machine.words == ["a"]


async def test_answered_client_is_not_forgotten(desk: Desk) -> None:
    await desk.journal.ask(lambda ticket, _: decision((), ticket, "now"), desk.machine.forgotten.append)

    assert desk.machine.forgotten == []


async def test_machine_is_woken_when_it_asked_to_be(
    desk: Desk, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    nursery.start_soon(desk.alarms.run)
    start_ms = desk.clock.now_ms()
    desk.machine.wake = start_ms + 5000
    desk.machine.on_wake = Decision(records=["woken"])
    await desk.write("a")

    await trio.sleep(6)

    assert [round(at - start_ms, -2) for at in desk.machine.woken] == [5000]
    assert desk.machine.words == ["a", "woken"]
    nursery.cancel_scope.cancel()


async def test_load_gives_the_same_state_again(desk: Desk) -> None:
    """Records of a later version are passed over."""
    await desk.write("a", "?later", "b")
    await desk.write("c")
    again = Desk(desk.partition)

    count = again.journal.load()

    assert (count, again.machine.words) == (3, ["a", "b", "c"])
    assert again.applied == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [(None, ["a", "b"]), (ControlRecordType.ABORT, ["a", "b"]), (ControlRecordType.COMMIT, ["a", "b", "in"])],
)
async def test_load_heeds_what_became_of_a_transaction(
    desk: Desk, kind: ControlRecordType | None, words: list[str]
) -> None:
    """Apache Kafka's log has offsets that were committed in one; of an open one nothing holds."""
    await desk.write("a")
    who = {"producer_id": 5, "producer_epoch": 0}
    held = build_batch([Record(key=b"word", value=b"in")], timestamp_ms=1, attributes=0x10, **who)
    desk.partition.append(held, now_ms=1, origin=Origin.COORDINATOR)
    await desk.write("b")
    if kind is not None:
        marker = build_marker_batch(EndTxnMarker(kind, 0), timestamp_ms=1, **who)
        desk.partition.append(marker, now_ms=1, origin=Origin.COORDINATOR)
    again = Desk(desk.partition)

    assert (again.journal.load(), again.machine.words) == (len(words), words)


async def test_long_decision_that_may_be_split_is_written_in_pieces(desk: Desk) -> None:
    """Any other is one batch, all or nothing, also where it answers nobody."""
    words = [f"w{number}" for number in range(2500)]

    desk.journal.carry_out(Decision(records=words, may_be_split=True))
    in_pieces = len(list(desk.partition.log.batches(0)))
    await desk.write(*words)
    desk.journal.carry_out(Decision(records=words))

    assert in_pieces == 3
    assert len(list(desk.partition.log.batches(0))) == 5
    assert desk.machine.words == words * 3


async def test_closed_journal_sends_who_waits_to_another_coordinator(
    desk: Desk, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """And is woken no more."""
    codes: list[ErrorCode] = []
    nursery.start_soon(desk.alarms.run)
    desk.machine.wake = desk.clock.now_ms() + 5000

    async def ask() -> None:
        with pytest.raises(KafkaError) as raised:
            await desk.journal.ask(lambda ticket, now_ms: Decision())
        codes.append(raised.value.code)

    nursery.start_soon(ask)
    await trio.sleep(1)
    desk.journal.close()
    await trio.sleep(10)

    assert codes == [ErrorCode.NOT_COORDINATOR]
    assert desk.machine.woken == []
    nursery.cancel_scope.cancel()


async def test_pieces_written_before_a_failure_stay_and_the_rest_is_taken_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine is told only of what could not be written."""
    real, told = desk.partition.append, []

    def append(records: bytearray, *, now_ms: int, origin: Origin) -> object:
        if desk.machine.words:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
        return real(records, now_ms=now_ms, origin=origin)

    def on_append_failed(failed: Decision[str], error: KafkaError, now_ms: int) -> Decision[str]:
        told.append(len(failed.records))
        return Decision()

    monkeypatch.setattr(desk.partition, "append", append)
    monkeypatch.setattr(desk.machine, "on_append_failed", on_append_failed)
    desk.journal.carry_out(Decision(records=["w"] * 1500, may_be_split=True))

    assert (len(desk.machine.words), told) == (1000, [500])


async def test_record_that_has_no_byte_form_fails_as_an_append_does(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever waits on the same machine would wait for ever."""

    def encode(self: NotebookRecords, record: str, now_ms: int) -> KeyValue:
        raise MalformedMessage("a string of 40000 bytes")

    monkeypatch.setattr(NotebookRecords, "encode", encode)

    with pytest.raises(KafkaError) as raised:
        await desk.write("a")
    assert raised.value.code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert (desk.machine.words, len(desk.machine.failures)) == ([], 1)


async def test_machine_is_asked_again_while_something_is_due(desk: Desk, nursery: trio.Nursery) -> None:
    """A machine may decide one thing at a time."""
    calls: list[int] = []

    def on_time(now_ms: int) -> Decision[str]:
        calls.append(now_ms)
        desk.machine.wake = now_ms if len(calls) < 3 else None
        return Decision()

    desk.machine.on_time = on_time  # type: ignore[method-assign]
    desk.machine.wake = desk.clock.now_ms()
    desk.journal.set_alarm()
    nursery.start_soon(desk.alarms.run)
    await wait_all_tasks_blocked()

    assert len(calls) == 3


# --- what nobody foresaw


class Faulty(NotebookMachine):
    """Fails at what falls due, which stays due."""

    def on_time(self, now_ms: int) -> Decision[str]:
        self.woken.append(now_ms)
        self.wake = now_ms
        raise ZeroDivisionError("who would have thought")


async def test_fault_in_what_falls_due_ends_nothing_but_that(
    make_partition: MakePartition,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody is there to be told, and the broker goes on; the machine is asked again, but not at once."""
    desk = Desk(make_partition(), Faulty())
    desk.machine.wake = desk.clock.now_ms()
    desk.journal.set_alarm()
    nursery.start_soon(desk.alarms.run)

    await trio.sleep(3.5)

    assert 3 <= len(desk.machine.woken) <= 5
    assert "what fell due in t-0 failed" in caplog.text
    assert "ZeroDivisionError: who would have thought" in caplog.text
    assert await desk.write("a") == "done"
    nursery.cancel_scope.cancel()


class Restarts:
    """A journal that may be taken up anew, and how often it was."""

    def __init__(self, partition: Partition, machine: NotebookMachine, *, after_ms: int = 0) -> None:
        self.clock = Clock()
        self.alarms = Alarms(self.clock)
        self.machine = machine
        self.count = 0
        self.journal: Journal[str] = Journal(
            machine,
            NotebookRecords(),
            partition,
            clock=self.clock,
            alarms=self.alarms,
            start_anew=self._note,
            may_start_anew_ms=self.clock.now_ms() + after_ms,
        )

    def _note(self) -> None:
        self.count += 1


async def test_after_a_fault_the_machine_is_taken_up_anew(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """It may be half changed: who waits is sent to look for its coordinator, and it is woken no more."""
    desk = Restarts(make_partition(), Faulty())
    nursery.start_soon(desk.alarms.run)
    desk.machine.wake = desk.clock.now_ms() + 1000
    codes: list[ErrorCode] = []

    async def ask() -> None:
        with pytest.raises(KafkaError) as raised:
            await desk.journal.ask(lambda ticket, now_ms: Decision())
        codes.append(raised.value.code)

    nursery.start_soon(ask)
    await trio.sleep(10)

    assert (desk.count, codes, len(desk.machine.woken)) == (1, [ErrorCode.NOT_COORDINATOR], 1)
    nursery.cancel_scope.cancel()


def _fail(ticket: Ticket, now_ms: int) -> Decision[str]:
    raise ZeroDivisionError


@pytest.mark.parametrize(("after_ms", "count"), [(0, 1), (1000, 0)])
async def test_request_that_fails_starts_anew_too_but_not_so_often(
    make_partition: MakePartition, after_ms: int, count: int
) -> None:
    """Who can send one may send many. The client hears of the failure as of any other."""
    desk = Restarts(make_partition(), NotebookMachine(), after_ms=after_ms)

    with pytest.raises(ZeroDivisionError):
        await desk.journal.ask(_fail)

    assert desk.count == count


async def test_journal_that_is_closed_starts_nothing_anew(make_partition: MakePartition) -> None:
    """Its partition may have been deleted."""
    desk = Restarts(make_partition(), NotebookMachine())
    desk.journal.close()

    with pytest.raises(ZeroDivisionError):
        await desk.journal.ask(_fail)

    assert desk.count == 0


async def test_request_that_is_refused_is_no_fault(make_partition: MakePartition) -> None:
    """A KafkaError is foreseen."""
    desk = Restarts(make_partition(), NotebookMachine())

    def refuse(ticket: Ticket, now_ms: int) -> Decision[str]:
        raise KafkaError(ErrorCode.INVALID_REQUEST)

    with pytest.raises(KafkaError):
        await desk.journal.ask(refuse)

    assert desk.count == 0


async def test_others_are_served_between_two_decisions_that_are_due(
    desk: Desk, nursery: trio.Nursery
) -> None:
    """A thousand members may die at once."""
    order: list[str] = []

    def on_time(now_ms: int) -> Decision[str]:
        order.append("due")
        desk.machine.wake = now_ms if len(order) < 50 else None
        return Decision()

    async def ask() -> None:
        await desk.write("a")
        order.append("asked")

    desk.machine.on_time = on_time  # type: ignore[method-assign]
    desk.machine.wake = desk.clock.now_ms()
    desk.journal.set_alarm()
    nursery.start_soon(desk.alarms.run)
    nursery.start_soon(ask)
    await wait_all_tasks_blocked()

    assert order.count("due") >= 49
    assert order.index("asked") < 10


# --- the mode fsync


async def test_reply_goes_out_when_its_records_are_flushed(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, nursery: trio.Nursery
) -> None:
    """They are applied before: another request may see what no reply has told of yet."""
    desk = Desk(make_partition(flusher=flusher, durability="fsync"))
    answers: list[object] = []

    async def ask() -> None:
        answers.append(await desk.write("a"))

    disk.hold()
    nursery.start_soon(ask)
    await disk.has_begun(1)
    await wait_all_tasks_blocked()
    before = (list(answers), list(desk.machine.words))
    disk.let_go()
    while not answers:
        await trio.lowlevel.checkpoint()

    assert before == ([], ["a"])
    assert answers == ["done"]
    assert desk.partition.high_watermark == 1


async def test_reply_without_records_waits_for_those_it_may_tell_of(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, nursery: trio.Nursery
) -> None:
    """As in Kafka's CoordinatorRuntime: a decision that writes nothing rests on what was written."""
    desk = Desk(make_partition(flusher=flusher, durability="fsync"))
    answers: list[object] = []

    async def ask(*words: str, answer: str) -> None:
        answers.append(await desk.write(*words, answer=answer))

    disk.hold()
    nursery.start_soon(partial(ask, "a", answer="written"))
    await disk.has_begun(1)
    nursery.start_soon(partial(ask, answer="looked"))
    await wait_all_tasks_blocked()
    before = list(answers)
    disk.let_go()
    while len(answers) < 2:
        await trio.lowlevel.checkpoint()

    assert (before, set(answers)) == ([], {"written", "looked"})


async def test_failed_flush_is_answered_as_the_machine_says(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill
) -> None:
    desk = Desk(make_partition(flusher=flusher, durability="fsync"))
    disk.failure = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")
    disk.health.fail("no space.")

    with pytest.raises(KafkaError, match="may not last") as raised:
        await desk.write("a")

    assert desk.machine.failures == [raised.value]


async def test_error_given_as_reply_waits_for_no_flush(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill
) -> None:
    desk = Desk(make_partition(flusher=flusher, durability="fsync"))
    disk.hold()

    with pytest.raises(KafkaError):
        await desk.write("a", answer=KafkaError(ErrorCode.ILLEGAL_GENERATION))
    high_watermark = desk.partition.high_watermark
    disk.let_go()

    assert high_watermark == 0


# --- a full disk


async def test_machine_that_is_due_again_after_a_failed_append_waits_a_second(
    make_partition: MakePartition,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It would be asked for ever on a full disk, and nobody else be served. The log has it once."""
    desk = Desk(make_partition(), AlwaysDue())
    monkeypatch.setattr(desk.partition, "append", failing(KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "full.")))
    nursery.start_soon(desk.alarms.run)
    desk.journal.set_alarm()

    await trio.sleep(3.5)

    assert 3 <= len(desk.machine.woken) <= 5
    assert caplog.text.count("full.") == 1


class AlwaysDue(NotebookMachine):
    """Wants something written at once, and again when that fails."""

    def wake_at_ms(self) -> int | None:
        return 0

    def on_time(self, now_ms: int) -> Decision[str]:
        self.woken.append(now_ms)
        return Decision(records=["a"])


class Interruptible:
    """One who asks, may be interrupted, and keeps the answer."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.happens = trio.Event()
        self.tickets: list[Ticket] = []
        self.interrupted_at: list[int] = []
        self.answers: list[object] = []

    async def ask(self) -> None:
        interruption = Interruption(self.happens.wait, self._decide_then)
        self.answers.append(await self.desk.journal.ask(self._decide, interruption=interruption))

    def _decide(self, ticket: Ticket, now_ms: int) -> Decision[str]:
        self.tickets.append(ticket)
        return Decision()

    def _decide_then(self, now_ms: int) -> Decision[str]:
        self.interrupted_at.append(now_ms)
        return Decision(replies=[Reply(self.tickets[0], "hurried")])


async def test_interruption_makes_the_machine_reply(desk: Desk, nursery: trio.Nursery) -> None:
    """As when a client whose heartbeat is held says more."""
    who = Interruptible(desk)
    nursery.start_soon(who.ask)
    await wait_all_tasks_blocked()
    before = list(who.answers)
    who.happens.set()
    await wait_all_tasks_blocked()

    assert (before, who.answers, len(who.interrupted_at)) == ([], ["hurried"], 1)


async def test_reply_before_an_interruption_ends_the_wait_for_it(desk: Desk, nursery: trio.Nursery) -> None:
    """The machine is not asked a second time."""
    who = Interruptible(desk)
    nursery.start_soon(who.ask)
    await wait_all_tasks_blocked()
    desk.journal.carry_out(Decision(replies=[Reply(who.tickets[0], "news")]))
    await wait_all_tasks_blocked()

    assert (who.answers, who.interrupted_at) == (["news"], [])
