"""fetching: at once when there is enough, else at the next append that makes it so, or when time is up."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.broker.conftest import MakePartition
from tests.broker.support import FlushAtWill, append, batch
from wirekafka.broker import fetching
from wirekafka.broker.fetch_sessions import FetchKey, FetchPlan, Found, Reading
from wirekafka.broker.fetching import FetchLimits, fetch
from wirekafka.broker.flushing import Flusher
from wirekafka.broker.partition import Partition
from wirekafka.broker.timeouts import Timeouts
from wirekafka.protocol.apis.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    PartitionData,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Record, build_batch
from wirekafka.storage import Files, Origin
from wirekafka.storage.segments.segment_indexes import SegmentIndexes, load_indexes

MUCH = 1 << 20


class Reader:
    """A fetch of some partitions: each from an offset, with a limit."""

    def __init__(self) -> None:
        reading = Reading()
        self.plan = FetchPlan(reading, reading.partitions, by_topic_id=False)

    def wants(self, found: Found, offset: int = 0, max_bytes: int = MUCH, **more: Any) -> "Reader":
        index = len(self.plan.partitions)
        asked = FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=max_bytes, **more)
        key = FetchKey("t", index)
        self.plan.reading.want(key, asked)
        self.plan.partitions[key].found = found
        return self

    async def fetch(
        self, *, min_bytes: int = 1, max_bytes: int = MUCH, wait_s: float = 10, committed: bool = False
    ) -> list[PartitionData]:
        limits = FetchLimits(min_bytes, max_bytes, int(wait_s * 1000), committed)
        timeouts = Timeouts()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timeouts.run)
            answer = await fetch(self.plan, limits, timeouts)
            nursery.cancel_scope.cancel()
        return list(answer.values())


def sizes(answer: list[PartitionData]) -> list[int]:
    return [len(data.records or b"") for data in answer]


async def after(seconds: float, act: Callable[[], object]) -> None:
    await trio.sleep(seconds)
    act()


async def test_enough_is_answered_at_once(make_partition: MakePartition, autojump_clock: MockClock) -> None:
    partition = make_partition()
    size = append(partition)

    answer = await Reader().wants(partition).fetch(min_bytes=size)

    assert sizes(answer) == [size]
    assert trio.current_time() == 0
    data = answer[0]
    assert (data.error_code, data.high_watermark, data.last_stable_offset, data.log_start_offset) == (
        0,
        1,
        1,
        0,
    )
    assert data.aborted_transactions is None


async def test_nothing_waits_for_all_of_the_time(
    make_partition: MakePartition, autojump_clock: MockClock
) -> None:
    answer = await Reader().wants(make_partition()).fetch(wait_s=3)

    assert sizes(answer) == [0]
    assert trio.current_time() == pytest.approx(3)


@pytest.mark.parametrize("wait_s", [0, -1])
async def test_no_time_to_wait_answers_with_what_there_is(
    make_partition: MakePartition, autojump_clock: MockClock, wait_s: int
) -> None:
    answer = await Reader().wants(make_partition()).fetch(wait_s=wait_s)

    assert (sizes(answer), trio.current_time()) == ([0], 0)


async def test_append_wakes_the_fetch(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """Any of its partitions may be the one that grows."""
    idle, grows = make_partition(), make_partition("u")
    nursery.start_soon(after, 2, lambda: append(grows))

    answer = await Reader().wants(idle).wants(grows).fetch()

    assert sizes(answer) == [0, len(batch())]
    assert trio.current_time() == pytest.approx(2)


async def test_fetch_waits_on_until_min_bytes(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    partition, size = make_partition(), len(batch())
    for second in (1, 2, 3):
        nursery.start_soon(after, second, lambda: append(partition))

    answer = await Reader().wants(partition).fetch(min_bytes=2 * size + 1)

    assert sizes(answer) == [3 * size]
    assert trio.current_time() == pytest.approx(3)


async def test_time_is_up_with_less_than_min_bytes(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    partition, size = make_partition(), len(batch())
    nursery.start_soon(after, 1, lambda: append(partition))

    answer = await Reader().wants(partition).fetch(min_bytes=10 * size, wait_s=4)

    assert sizes(answer) == [size]
    assert trio.current_time() == pytest.approx(4)


async def test_fetch_that_is_rung_when_its_time_is_up_is_answered(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """With too little; it does not wait for a deadline that has been."""
    partition, size = make_partition(), len(batch())
    nursery.start_soon(after, 3, partial(append, partition))

    answer = await Reader().wants(partition).fetch(min_bytes=2 * size, wait_s=3)

    assert sizes(answer) == [size]
    assert trio.current_time() == pytest.approx(3)


async def test_fetch_that_is_cancelled_takes_its_timeout_back(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """As when the broker stops. Its partition rings, and its time comes, all the same."""
    timeouts, partition = Timeouts(), make_partition()
    nursery.start_soon(timeouts.run)
    with trio.move_on_after(1) as scope:
        await fetch(Reader().wants(partition).plan, FetchLimits(1, MUCH, 5000, False), timeouts)
    assert scope.cancelled_caught
    append(partition)
    await trio.sleep(10)

    assert len(timeouts) == 0
    nursery.cancel_scope.cancel()


async def test_finished_fetch_waits_no_more(make_partition: MakePartition, autojump_clock: MockClock) -> None:
    partition = make_partition()

    await Reader().wants(partition).fetch(wait_s=1)

    assert partition._waiting == set()


async def test_no_partitions_are_answered_at_once(autojump_clock: MockClock) -> None:
    assert await Reader().fetch() == []
    assert trio.current_time() == 0


async def test_one_error_answers_the_whole_at_once(
    make_partition: MakePartition, autojump_clock: MockClock
) -> None:
    """A consumer has to hear of it; the others have what they have."""
    unknown = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    answer = await Reader().wants(make_partition()).wants(unknown).fetch()

    assert [data.error_code for data in answer] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert (answer[1].high_watermark, answer[1].log_start_offset, answer[1].records) == (-1, -1, b"")
    assert answer[1].aborted_transactions == []
    assert trio.current_time() == 0


@pytest.mark.parametrize("offset", [-1, 4])
async def test_offset_out_of_range(make_partition: MakePartition, offset: int) -> None:
    partition = make_partition()
    append(partition, 3)

    [data] = await Reader().wants(partition, offset).fetch()

    assert (data.error_code, data.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert data.aborted_transactions is None


async def test_wrong_leader_epochs_are_answered_at_once(
    make_partition: MakePartition, autojump_clock: MockClock
) -> None:
    """KIP-320."""
    partition = make_partition(leader_epoch=5)
    reader = Reader()
    for epoch in (4, 6, 5, -1):
        reader.wants(partition, current_leader_epoch=epoch)

    answer = await reader.fetch()

    assert [data.error_code for data in answer] == [
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        0,
        0,
    ]
    assert trio.current_time() == 0


async def test_partition_deleted_while_waiting(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    partition = make_partition()
    nursery.start_soon(after, 2, partition.mark_deleted)

    [data] = await Reader().wants(partition).fetch()

    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert trio.current_time() == pytest.approx(2)


async def test_first_batch_comes_whole_and_no_other_does(make_partition: MakePartition) -> None:
    """KIP-74: a batch larger than the limits must not stop a consumer; one of them is enough."""
    one, other = make_partition(), make_partition("u")
    size = append(one)
    append(one)
    append(other)

    by_partition = await Reader().wants(one, max_bytes=1).wants(other, max_bytes=1).fetch()
    by_request = await Reader().wants(one).wants(other).fetch(max_bytes=1)

    assert (sizes(by_partition), sizes(by_request)) == ([size, 0], [size, 0])


async def test_first_batch_is_of_the_first_partition_that_has_one(make_partition: MakePartition) -> None:
    empty, full = make_partition(), make_partition("u")
    size = append(full)

    answer = await Reader().wants(empty, max_bytes=1).wants(full, max_bytes=1).fetch()

    assert sizes(answer) == [0, size]


async def test_max_bytes_is_shared_in_order(make_partition: MakePartition) -> None:
    """What one partition takes the next does not have; a later batch may be cut."""
    one, other = make_partition(), make_partition("u")
    size = append(one)
    append(other)
    append(other)

    answer = await Reader().wants(one).wants(other).fetch(max_bytes=2 * size + 7)

    assert sizes(answer) == [size, size + 7]


async def test_negative_limits_are_none_left(make_partition: MakePartition) -> None:
    """The first batch comes nevertheless."""
    partition = make_partition()
    size = append(partition)

    answer = await Reader().wants(partition, max_bytes=-5).wants(partition, max_bytes=-5).fetch(max_bytes=-1)

    assert sizes(answer) == [size, 0]


async def test_read_committed_waits_behind_an_open_transaction(
    make_partition: MakePartition, autojump_clock: MockClock
) -> None:
    """Only what is below the last stable offset counts."""
    partition = make_partition()
    partition.append(batch(attributes=0x10, producer_id=1, producer_epoch=0, base_sequence=0), now_ms=1)

    [committed] = await Reader().wants(partition).fetch(committed=True, wait_s=2)
    waited = trio.current_time()
    [all_of_it] = await Reader().wants(partition).fetch()

    assert sizes([committed]) == [0]
    assert waited == pytest.approx(2)
    assert (committed.aborted_transactions, committed.last_stable_offset, committed.high_watermark) == (
        [],
        0,
        1,
    )
    assert sizes([all_of_it]) == [len(batch())]


def _three_epochs(partition: Partition) -> Partition:
    """Epoch 1 wrote offsets 0 and 1, epoch 3 offset 2; 5 leads."""
    for epoch, count in ((1, 2), (3, 1), (5, 1)):
        partition.leader_epoch = epoch
        append(partition, count)
    return partition


@pytest.mark.parametrize(
    ("last_fetched", "offset", "diverging"),
    [
        (5, 4, None),
        (3, 3, None),
        (1, 2, None),
        (3, 4, (3, 3)),
        (2, 1, (1, 2)),
        (5, 9, (5, 4)),
    ],
)
async def test_divergence_is_told_and_nothing_read(
    make_partition: MakePartition,
    autojump_clock: MockClock,
    last_fetched: int,
    offset: int,
    diverging: tuple[int, int] | None,
) -> None:
    """KIP-595: a reader that names the epoch it last read hears where its log and this one part."""
    partition = _three_epochs(make_partition())

    [data] = await Reader().wants(partition, offset, last_fetched_epoch=last_fetched).fetch(wait_s=1)

    assert data.error_code == 0
    if diverging is None:
        assert data.diverging_epoch == EpochEndOffset()
    else:
        assert data.diverging_epoch == EpochEndOffset(epoch=diverging[0], end_offset=diverging[1])
        assert (sizes([data]), trio.current_time()) == ([0], 0)


@pytest.mark.parametrize(("last_fetched", "offset"), [(9, 4), (5, -1)])
async def test_epoch_that_was_never_or_offset_before_the_start(
    make_partition: MakePartition, last_fetched: int, offset: int
) -> None:
    """Neither can be said to diverge anywhere."""
    partition = _three_epochs(make_partition())

    [data] = await Reader().wants(partition, offset, last_fetched_epoch=last_fetched).fetch()

    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


# --- what is aborted


MARKER = {"attributes": 0x30, "producer_epoch": 0, "base_sequence": -1}
ABORT, COMMIT = b"\0\0\0\0", b"\0\0\0\1"


def transactional(partition: Partition, producer_id: int, base_sequence: int = 0) -> None:
    header = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": base_sequence}
    partition.append(batch(attributes=0x10, **header), now_ms=1)


def end_transaction(partition: Partition, producer_id: int, kind: bytes) -> None:
    marker = build_batch(
        [Record(key=kind, value=bytes(6))], timestamp_ms=1, producer_id=producer_id, **MARKER
    )
    partition.append(marker, now_ms=1, origin=Origin.COORDINATOR)


async def test_committed_reader_is_told_what_was_aborted(make_partition: MakePartition) -> None:
    """Of the range it gets; who reads all of it is told nothing."""
    partition = make_partition()
    for producer_id, kind in ((7, ABORT), (8, COMMIT), (9, ABORT)):
        transactional(partition, producer_id)
        end_transaction(partition, producer_id, kind)

    [committed] = await Reader().wants(partition).fetch(committed=True)
    [later] = await Reader().wants(partition, 3).fetch(committed=True)
    [everything] = await Reader().wants(partition).fetch()

    assert committed.aborted_transactions == [
        AbortedTransaction(producer_id=7, first_offset=0),
        AbortedTransaction(producer_id=9, first_offset=4),
    ]
    assert later.aborted_transactions == [AbortedTransaction(producer_id=9, first_offset=4)]
    assert everything.aborted_transactions is None


async def test_transactions_behind_what_is_read_are_not_told(make_partition: MakePartition) -> None:
    """Else each answer of a log with many would hold all of them. The bound goes by the index."""
    partition = make_partition(index_interval_bytes=1)
    for producer_id in range(20):
        transactional(partition, producer_id)
        end_transaction(partition, producer_id, ABORT)

    [first] = await Reader().wants(partition, max_bytes=1).fetch(committed=True)

    assert first.aborted_transactions == [AbortedTransaction(producer_id=0, first_offset=0)]


async def test_transaction_that_is_open_hides_what_was_aborted_behind_it(
    make_partition: MakePartition,
) -> None:
    """The last stable offset is the end for all."""
    partition = make_partition()
    append(partition)
    transactional(partition, 7)
    transactional(partition, 8)
    end_transaction(partition, 8, ABORT)

    [data] = await Reader().wants(partition).fetch(committed=True)

    assert (sizes([data]), data.last_stable_offset, data.high_watermark) == ([len(batch())], 1, 4)
    assert data.aborted_transactions == []


# --- waiting


async def test_fetch_that_waits_holds_no_file_open(
    make_partition: MakePartition,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the one it found too little in, nor after it was woken for too little again."""
    partition = make_partition()
    size = append(partition)
    closed: list[int] = []
    close = Files.close

    def note_and_close(files: Files, fd: int) -> None:
        closed.append(fd)
        close(files, fd)

    monkeypatch.setattr(Files, "close", note_and_close)

    def let_go_of_file() -> None:
        partition.log.disk.open_files.forget(partition.log.segments.active.path)

    counts = []
    for second in (1, 3):
        nursery.start_soon(after, second, let_go_of_file)
        nursery.start_soon(after, second + 0.1, lambda: counts.append(len(closed)))
    nursery.start_soon(after, 2, lambda: append(partition))
    answer = await Reader().wants(partition).fetch(min_bytes=100 * size, wait_s=4)

    assert counts == [1, 2]
    assert sizes(answer) == [2 * size]


async def test_partition_that_is_at_its_end_is_not_opened(
    make_partition: MakePartition, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A consumer of a thousand idle partitions needs no descriptor."""
    partition = make_partition()
    append(partition, 2)
    partition.log.disk.open_files.forget(partition.log.segments.active.path)
    opened: list[str] = []
    monkeypatch.setattr(Files, "open", lambda files, path, **how: opened.append(path))

    answer = await Reader().wants(partition, 2).fetch(wait_s=1)

    assert (sizes(answer), opened) == ([0], [])


async def test_only_partitions_that_have_grown_are_looked_at_again(
    make_partition: MakePartition,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A consumer of many partitions that waits for much is woken by every append to any of them."""
    partitions = [make_partition(index=index) for index in range(10)]
    size = len(batch())
    reads: list[str] = []
    read = Partition.read

    def note_and_read(partition: Partition, *what: Any, **how: Any) -> Any:
        reads.append(str(partition.topic_partition))
        return read(partition, *what, **how)

    monkeypatch.setattr(Partition, "read", note_and_read)
    reader = Reader()
    for partition in partitions:
        reader.wants(partition)
    for second, index in ((1, 3), (2, 4), (3, 3)):
        nursery.start_soon(after, second, partial(append, partitions[index]))
    answer = await reader.fetch(min_bytes=3 * size)

    assert sizes(answer) == [0, 0, 0, 2 * size, size, 0, 0, 0, 0, 0]
    assert reads[10:13] == ["t-3", "t-4", "t-3"]
    assert len(reads) == 10 + 3 + 10


async def test_where_a_byte_is_enough_what_rings_is_read_once(
    make_partition: MakePartition,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is estimated: the answer would be read right after."""
    quiet, grows = make_partition(), make_partition("u")
    reads: list[str] = []
    read = Partition.read

    def note_and_read(partition: Partition, *what: Any, **how: Any) -> Any:
        reads.append(str(partition.topic_partition))
        return read(partition, *what, **how)

    monkeypatch.setattr(Partition, "read", note_and_read)
    nursery.start_soon(after, 1, partial(append, grows))
    answer = await Reader().wants(quiet).wants(grows).fetch(min_bytes=1)

    assert sizes(answer) == [0, len(batch())]
    assert reads == 2 * ["t-0", "u-0"]


async def test_partition_that_rings_with_nothing_to_read_is_waited_for_again(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """As often as it rings, and not beyond the deadline: until then what comes later is answered."""
    partition = make_partition()
    for second in (1, 2, 3):
        nursery.start_soon(after, second, partition.ring)
    [data] = await Reader().wants(partition).fetch(wait_s=4)

    assert data.records == b""
    assert trio.current_time() == pytest.approx(4)

    nursery.start_soon(after, 1, partition.ring)
    nursery.start_soon(after, 2, partial(append, partition))
    answer = await Reader().wants(partition).fetch(wait_s=4)

    assert sizes(answer) == [len(batch())]
    assert trio.current_time() == pytest.approx(6)


async def test_estimate_that_was_too_high_goes_on_waiting(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """Each partition may have enough for itself, and the answer's limit leave too little for all."""
    one, other = make_partition(), make_partition("u")
    size = len(batch(size=100))
    for second, partition in ((1, one), (2, other)):
        nursery.start_soon(after, second, partial(append, partition, size=100))

    reader = Reader().wants(one, max_bytes=1).wants(other, max_bytes=1)
    answer = await reader.fetch(min_bytes=size + 1, wait_s=3)

    assert sizes(answer) == [size, 0]
    assert trio.current_time() == pytest.approx(3)


async def test_start_that_moves_past_who_waits(
    make_partition: MakePartition, autojump_clock: MockClock
) -> None:
    """Retention goes on below a reader; it learns of it when its time is up."""
    partition = make_partition()
    append(partition, 2)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(after, 1, lambda: append(partition, 3))
        nursery.start_soon(after, 2, lambda: partition.log.move_start(4))
        [data] = await Reader().wants(partition, 2).fetch(min_bytes=MUCH, wait_s=3)

    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_fetch_is_woken_when_the_flush_ends_and_not_at_the_append(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, nursery: trio.Nursery
) -> None:
    """In the mode fsync nobody sees what a power cut may take away."""
    partition = make_partition(flusher=flusher, durability="fsync")
    answers: list[list[PartitionData]] = []

    async def fetch_one() -> None:
        answers.append(await Reader().wants(partition).fetch())

    nursery.start_soon(fetch_one)
    await wait_all_tasks_blocked()
    disk.hold()
    append(partition)
    await disk.has_begun(1)
    await wait_all_tasks_blocked()
    before = list(answers)
    disk.let_go()
    while not answers:
        await trio.lowlevel.checkpoint()

    assert before == []
    assert sizes(answers[0]) == [len(batch())]
    assert (answers[0][0].high_watermark, answers[0][0].last_stable_offset) == (1, 1)


async def test_indexes_of_a_large_old_segment_are_read_in_a_thread(
    make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has lost its index takes seconds; a small one is read at once, and the last always is."""
    partition = make_partition(segment_bytes=200)
    for _ in range(6):
        append(partition)
    first = partition.log.segments.all()[0]
    threads: list[bool] = []

    def noting(*arguments: Any) -> SegmentIndexes:
        threads.append(threading.current_thread() is threading.main_thread())
        return load_indexes(*arguments)

    monkeypatch.setattr("wirekafka.storage.segments.segment.load_indexes", noting)
    answers = []
    for largest_inline in (1 << 20, 0):
        monkeypatch.setattr(fetching, "_MOST_BYTES_INDEXED_INLINE", largest_inline)
        monkeypatch.setattr(first, "_loaded", False)
        answers.append(sizes(await Reader().wants(partition).wants(partition, 6).fetch()))

    assert threads == [True, False]
    assert answers[0] == answers[1] != [0, 0]


async def test_rest_of_an_older_segment_is_enough(
    make_partition: MakePartition, autojump_clock: MockClock
) -> None:
    """No read crosses the border: who waits for more than is left before it would wait in vain."""
    partition = make_partition(segment_bytes=2 * len(batch()))
    for _ in range(5):
        append(partition)

    answers = [await Reader().wants(partition, offset).fetch(min_bytes=1000) for offset in (1, 2)]
    quick = trio.current_time()
    at_the_end = await Reader().wants(partition, 4).fetch(min_bytes=1000)

    assert [sizes(answer) for answer in answers] == [[len(batch())], [2 * len(batch())]]
    assert (quick, sizes(at_the_end), trio.current_time()) == (0, [len(batch())], 10)


async def test_segment_that_begins_behind_who_waits_ends_the_wait(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    partition = make_partition(segment_bytes=2 * len(batch()))
    append(partition)
    for second in (1, 2):
        nursery.start_soon(after, second, partial(append, partition))

    answer = await Reader().wants(partition).fetch(min_bytes=1000)

    assert (sizes(answer), trio.current_time()) == ([2 * len(batch())], 2)
