"""flushing: one flush for all who come while the one before runs, and no acknowledgement without one."""

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.broker.conftest import MakePartition
from tests.broker.support import WAIT_SECONDS, FlushAtWill, append
from wirekafka.broker.flushing import AwaitedFlush, Flusher, wait_for_flush
from wirekafka.broker.partition import Partition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

NO_SPACE = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space left.")


def produce(partition: Partition) -> AwaitedFlush:
    """Append with acks=all, and say what is to be waited for."""
    append(partition)
    unflushed = partition.awaited_flush(partition.log.log_end_offset, acks_all=True)
    assert unflushed is not None
    return unflushed


async def note(done: list[object], wait: Callable[[], Awaitable[object]]) -> None:
    try:
        done.append(await wait())
    except KafkaError as error:
        done.append(error.code)


async def test_first_request_is_flushed_at_once(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """There is no window in which an idle broker waits for company: the clock stands still here."""
    partition = make_partition(flusher=flusher, durability="fsync")

    await produce(partition).wait()

    assert (partition.log.recovery_point, disk.flushed) == (1, [{"t-0"}])


async def test_thirty_two_producers_share_two_flushes(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, nursery: trio.Nursery
) -> None:
    """The first begins alone; all that come while it runs share the next."""
    partitions = [make_partition(index=index, flusher=flusher, durability="fsync") for index in range(4)]
    acknowledged: list[object] = []

    async def produce_one(number: int) -> None:
        await produce(partitions[number % 4]).wait()
        acknowledged.append(number)

    disk.hold()
    nursery.start_soon(produce_one, 0)
    await disk.has_begun(1)
    for number in range(1, 32):
        nursery.start_soon(produce_one, number)
    await wait_all_tasks_blocked()
    while_held = list(acknowledged)
    disk.let_go()
    while len(acknowledged) < 32:
        await trio.lowlevel.checkpoint()

    assert while_held == []
    assert disk.flushed == [{"t-0"}, {"t-0", "t-1", "t-2", "t-3"}]
    assert [partition.log.recovery_point for partition in partitions] == [8] * 4


async def test_flush_under_way_does_not_answer_for_what_came_after_it_began(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, nursery: trio.Nursery
) -> None:
    partition = make_partition(flusher=flusher, durability="fsync")
    done: list[object] = []

    disk.hold()
    first = produce(partition)
    await disk.has_begun(1)
    second = produce(partition)

    assert first.flush is not second.flush
    nursery.start_soon(note, done, second.wait)
    disk.let_go()
    await first.wait()
    assert partition.log.recovery_point >= 1
    while not done:
        await trio.lowlevel.checkpoint()
    assert (partition.log.recovery_point, len(disk.flushed)) == (2, 2)


async def test_failed_flush_acknowledges_nobody(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, caplog: pytest.LogCaptureFixture
) -> None:
    """Everybody who waited for it hears of it; the log has it once."""
    partitions = [make_partition(index=index, flusher=flusher, durability="fsync") for index in range(3)]
    disk.failure = NO_SPACE
    disk.health.fail("a sync failed")

    errors = await wait_for_flush([produce(partition) for partition in partitions], 10_000)

    assert [error and error.code for error in errors] == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
    assert [partition.high_watermark for partition in partitions] == [0] * 3
    assert caplog.text.count("may not last") == 1


async def test_what_one_flush_made_last_is_acknowledged_though_another_log_failed(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill
) -> None:
    """A full disk concerns the log that could not write; the recovery points tell which that is."""
    good, bad = (make_partition(index=index, flusher=flusher, durability="fsync") for index in range(2))
    disk.failure, disk.spared = NO_SPACE, {"t-0"}

    errors = await wait_for_flush([produce(good), produce(bad)], 10_000)

    assert [error and error.code for error in errors] == [None, ErrorCode.KAFKA_STORAGE_ERROR]


async def test_full_disk_is_tried_again_though_nobody_asks(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """Service resumes when there is space: readers come to see what was written with acks=1."""
    partition = make_partition(flusher=flusher, durability="fsync")
    disk.failure = NO_SPACE
    await note([], produce(partition).wait)

    disk.failure = None
    before = partition.high_watermark
    mock_clock.jump(1.1)
    while not partition.high_watermark:
        await trio.lowlevel.checkpoint()

    assert (before, partition.high_watermark, len(disk.flushed)) == (0, 1, 2)


async def test_failed_sync_is_never_tried_again(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """The kernel calls lost pages clean, so that a second sync would lie."""
    partition = make_partition(flusher=flusher, durability="fsync")
    disk.failure = NO_SPACE
    disk.health.fail("a sync failed")
    await note([], produce(partition).wait)

    mock_clock.jump(60)
    await wait_all_tasks_blocked()

    assert len(disk.flushed) == 1


async def test_deleted_topic_answers_who_waits(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, nursery: trio.Nursery
) -> None:
    partition = make_partition(flusher=flusher, durability="fsync")
    done: list[object] = []
    disk.hold()
    running = produce(partition)
    await disk.has_begun(1)
    nursery.start_soon(note, done, produce(partition).wait)

    partition.mark_deleted()
    partition.log.abandon()
    disk.let_go()
    await running.flush.ended.wait()
    while not done:
        await trio.lowlevel.checkpoint()

    assert done == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert disk.flushed == [{"t-0"}, set()]


async def test_flush_that_takes_too_long_is_timed_out(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, autojump_clock: MockClock
) -> None:
    """Whether the record lasts is not known then: REQUEST_TIMED_OUT says no more than that."""
    partition = make_partition(flusher=flusher, durability="fsync")
    disk.hold()

    errors = await wait_for_flush([produce(partition), produce(partition)], 1500)
    disk.let_go()

    assert [error and error.code for error in errors] == [ErrorCode.REQUEST_TIMED_OUT] * 2


async def test_flush_within_a_time_is_one_for_all_appends_of_that_time(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """flush.ms: counted from the first record that is not flushed."""
    partition = make_partition(flusher=flusher, flush_ms=5000)
    append(partition)
    mock_clock.jump(4)
    append(partition)
    await wait_all_tasks_blocked()
    early = len(disk.flushed)

    mock_clock.jump(1.1)
    while partition.log.recovery_point < 2:
        await trio.lowlevel.checkpoint()
    mock_clock.jump(60)
    await wait_all_tasks_blocked()

    assert (early, disk.flushed) == (0, [{"t-0"}])


async def test_earlier_flush_does_for_a_later_one(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    partition = make_partition(flusher=flusher, flush_ms=5000)
    append(partition)

    await flusher.ask(partition.log).ended.wait()
    mock_clock.jump(60)
    await wait_all_tasks_blocked()

    assert (partition.log.recovery_point, len(disk.flushed)) == (1, 1)


async def test_logs_of_one_time_are_flushed_together(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """The shorter of two times holds for a log."""
    early, late = make_partition(flusher=flusher), make_partition("u", flusher=flusher)
    flusher.ask_within(early.log, 9000)
    flusher.ask_within(early.log, 2000)
    flusher.ask_within(late.log, 2000)
    flusher.ask_within(late.log, 9000)
    await wait_all_tasks_blocked()

    mock_clock.jump(2.1)
    await disk.has_begun(1)

    assert disk.flushed == [{"t-0", "u-0"}]


async def test_threads_that_wait_for_something_else_keep_no_flush_waiting(
    make_partition: MakePartition, flusher: Flusher, nursery: trio.Nursery
) -> None:
    """Forty requests that wait for a checkpoint take all the threads that are there for everybody."""
    partition = make_partition(flusher=flusher, durability="fsync")
    everybodys = trio.to_thread.current_default_thread_limiter()
    for number in range(int(everybodys.total_tokens)):
        await everybodys.acquire_on_behalf_of(number)

    with trio.fail_after(WAIT_SECONDS):
        await produce(partition).wait()

    assert partition.log.recovery_point == 1
    for number in range(int(everybodys.total_tokens)):
        everybodys.release_on_behalf_of(number)


async def test_what_was_flushed_earlier_is_not_due_again(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """Its time in the list of those due passes without a flush, and many such do not pile up."""
    partition = make_partition(flusher=flusher, flush_ms=1000)
    for _ in range(200):
        append(partition)
        await flusher.ask(partition.log).ended.wait()
    flushed = len(disk.flushed)
    waiting = len(flusher._by_time)
    mock_clock.jump(1.5)
    await wait_all_tasks_blocked()

    assert (flushed, len(disk.flushed)) == (200, 200)
    assert waiting < 200
    append(partition)
    mock_clock.jump(1.5)
    await disk.has_begun(201)


async def share_a_flush(partition: Partition, sharers: int) -> None:
    flushes = [produce(partition) for _ in range(sharers)]
    for each in flushes:
        await each.wait()


async def test_under_load_a_flush_waits_a_moment_for_as_many_as_shared_the_last(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """Where the disk is faster than the event loop, flushes of one each would be all it does."""
    partition = make_partition(flusher=flusher, durability="fsync")
    await share_a_flush(partition, 4)

    produce(partition)
    await wait_all_tasks_blocked()
    after_one = len(disk.flushed)
    last = [produce(partition) for _ in range(3)][-1]
    await last.wait()

    assert (after_one, len(disk.flushed)) == (1, 2)


async def test_the_moment_passes_also_when_nobody_comes(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """It is a millisecond; and the flush after it, of one alone, is made at once."""
    partition = make_partition(flusher=flusher, durability="fsync")
    await share_a_flush(partition, 4)

    alone = produce(partition)
    await wait_all_tasks_blocked()
    before = len(disk.flushed)
    mock_clock.jump(0.001)
    await alone.wait()
    await produce(partition).wait()

    assert (before, len(disk.flushed)) == (1, 3)


@pytest.mark.parametrize("timeout_ms", [1_500, 30_000])
async def test_however_long_the_time_is_it_ends(
    make_partition: MakePartition,
    flusher: Flusher,
    disk: FlushAtWill,
    autojump_clock: MockClock,
    timeout_ms: int,
) -> None:
    """A disk that answers nothing costs a producer its time and no more, to the millisecond."""
    partition = make_partition(flusher=flusher, durability="fsync")
    disk.hold()
    begun = trio.current_time()

    errors = await wait_for_flush([produce(partition)], timeout_ms)
    elapsed_ms = (trio.current_time() - begun) * 1000
    disk.let_go()

    assert [error and error.code for error in errors] == [ErrorCode.REQUEST_TIMED_OUT]
    assert elapsed_ms == pytest.approx(timeout_ms)


async def test_who_is_to_be_rung_is_so_by_whatever_flush_makes_it_last(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, mock_clock: MockClock
) -> None:
    """After a disk that was full the upkeep may flush before the flusher tries again: readers see it."""
    partition = make_partition(flusher=flusher, durability="fsync")
    disk.failure = NO_SPACE
    await produce(partition).flush.ended.wait()
    seen = trio.Event()
    partition.wait_with(seen)
    disk.failure = None

    await flusher.ask(partition.log).ended.wait()

    assert (partition.high_watermark, seen.is_set()) == (1, True)
