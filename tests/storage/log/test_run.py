"""Tests of storage.log.run: what several batches written by one call leave, against one append for each."""

import errno
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.support import NOW_MS, FaultyFiles, Store, UnsyncedFiles, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Codec, Record, batches_in, build_batch
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.disk.files import Data
from wirekafka.storage.log.plain import NOT_PLAIN
from wirekafka.storage.log.run import MOST_BATCHES, Run, begin_run

ATTRIBUTES_LOW_BYTE, MAGIC, BASE_OFFSET_LOW_BYTE = 22, 16, 7
PRODUCER = {"producer_id": 7, "producer_epoch": 0}


def run_on(log: PartitionLog) -> Run:
    run = begin_run(log, max(log.latest_epoch, 0), NOW_MS)
    assert run is not None
    return run


def filled(store: Store) -> PartitionLog:
    """A log with a first batch: into an empty segment goes nothing plain."""
    log = store.open()
    log.append(simple_batch(**PRODUCER, base_sequence=0), leader_epoch=0, now_ms=NOW_MS)
    return log


def take(run: Run, batch: bytearray) -> int:
    return run.take(memoryview(batch))


def stored(log: PartitionLog) -> list[tuple[int, int, bool]]:
    """Base offset, epoch, and whether the CRC is right, of every batch."""
    data = log.read(0, 1 << 20, up_to_offset=log.log_end_offset, at_least_one_batch=True).read()
    return [(batch.base_offset, batch.partition_leader_epoch, batch.crc_ok()) for batch in batches_in(data)]


def test_batches_get_offsets_one_after_the_other_and_are_seen_when_written(store: Store) -> None:
    log = filled(store)
    run = run_on(log)

    offsets = [take(run, simple_batch(2)), take(run, simple_batch(3))]
    before = log.log_end_offset
    run.write()

    assert (offsets, before, log.log_end_offset) == ([1, 3], 1, 6)
    assert stored(log) == [(0, 0, True), (1, 0, True), (3, 0, True)]
    assert log.unflushed.since_ms == NOW_MS


def test_several_batches_are_written_by_one_call(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """A large one by itself: it is not copied."""
    log = filled(faulty_store)
    run = run_on(log)
    faulty_files.calls.clear()

    taken = [take(run, simple_batch()), take(run, simple_batch()), take(run, simple_batch(size=70_000))]
    run.write()

    assert taken == [1, 2, NOT_PLAIN]
    assert faulty_files.calls == ["pwrite"]
    assert take(run_on(log), simple_batch(size=70_000)) == 3


def test_a_run_without_batches_writes_nothing(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    log = filled(faulty_store)
    faulty_files.calls.clear()

    run_on(log).write()

    assert faulty_files.calls == []


def test_a_failed_write_leaves_nothing_of_any_batch(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """Half of it is cut off again, and what producers have sent is as unknown as it was."""
    log = filled(faulty_store)
    size = log.segments.active.file.size()
    run = run_on(log)
    take(run, simple_batch(**PRODUCER, base_sequence=1))
    take(run, simple_batch(**PRODUCER, base_sequence=2))
    faulty_files.tears = True
    faulty_files.fail_next("pwrite")

    with pytest.raises(KafkaError) as refusal:
        run.write()

    assert refusal.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (log.log_end_offset, log.segments.active.file.size(), log.failed) == (1, size, False)
    assert take(run_on(log), simple_batch(**PRODUCER, base_sequence=1)) == 1


def test_a_failed_write_that_cannot_be_removed_ends_the_log(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """As after one append: nothing may be written behind bytes of which nobody knows."""
    log = filled(faulty_store)
    run = run_on(log)
    take(run, simple_batch())
    faulty_files.calls, faulty_files.fail_at, faulty_files.fails_from_then_on = [], 1, True

    with pytest.raises(KafkaError):
        run.write()

    assert faulty_files.calls == ["pwrite", "ftruncate", "pwrite"]
    assert (log.failed, log.log_end_offset, begin_run(log, 0, NOW_MS)) == (True, 1, None)


class HalfWritten(UnsyncedFiles):
    """Writes half of what is asked for, once, and never makes a file shorter."""

    def __init__(self) -> None:
        self.is_to_fail = self.has_failed = False

    def pwrite(self, fd: int, data: Data, position: int) -> int:
        if not self.is_to_fail or self.has_failed:
            return super().pwrite(fd, data, position)
        self.has_failed = True
        super().pwrite(fd, bytes(data)[: len(data) // 2], position)
        raise OSError(errno.EIO, "the test's device is broken")

    def ftruncate(self, fd: int, length: int) -> None:
        if self.is_to_fail:
            raise OSError(errno.EIO, "the test's device is broken")
        super().ftruncate(fd, length)


@pytest.mark.parametrize("clean", [True, False], ids=["stopped", "killed"])
def test_what_was_refused_is_not_there_after_a_start(tmp_path: Path, *, clean: bool) -> None:
    """Not even batches that are whole and could not be removed: who sent them sends them again."""
    files = HalfWritten()
    store = Store(tmp_path / "data", files)
    log = filled(store)
    run = run_on(log)
    for sequence in range(1, 6):
        take(run, simple_batch(**PRODUCER, base_sequence=sequence))
    files.is_to_fail = True
    with pytest.raises(KafkaError):
        run.write()
    files.is_to_fail = False
    store.stop(clean=clean)

    log = store.open()

    assert (files.has_failed, log.log_end_offset) == (True, 1)
    again = simple_batch(**PRODUCER, base_sequence=1)
    assert log.append(again, leader_epoch=0, now_ms=NOW_MS).base_offset == 1
    assert stored(log) == [(0, 0, True), (1, 0, True)]
    store.stop(clean=False)


def test_a_fault_of_ours_once_it_is_written_ends_the_log(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in the file and not in the books would be written over in part, or counted twice."""
    log = filled(store)
    run = run_on(log)
    take(run, simple_batch(**PRODUCER, base_sequence=1))
    log.producers.producers.clear()

    with pytest.raises(KeyError):
        run.write()

    assert (log.failed, log.log_end_offset, begin_run(log, 0, NOW_MS)) == (True, 1, None)


def test_what_is_taken_in_stays_as_it_is_until_it_is_written(store: Store) -> None:
    """So that it can still go the usual way."""
    run = run_on(filled(store))
    batch = simple_batch()
    before = bytes(batch)

    take(run, batch)

    assert batch == before
    run.write()
    assert batch[7] == 1


def test_sequences_go_on_within_a_run(store: Store) -> None:
    """What was taken in counts, though the log does not have it yet; a gap and a repetition are not plain."""
    log = filled(store)
    run = run_on(log)

    taken = [take(run, simple_batch(2, **PRODUCER, base_sequence=sequence)) for sequence in (1, 3, 3, 6, 5)]
    run.write()

    assert taken == [1, 3, NOT_PLAIN, NOT_PLAIN, 5]
    assert [batch.last_sequence for batch in log.producers.producers[7].batches] == [0, 2, 4, 6]


def test_sequences_begin_again_at_0_within_a_run(store: Store) -> None:
    log, last = filled(store), 2**31 - 1
    other = {"producer_id": 8, "producer_epoch": 3}
    log.append(simple_batch(**other, base_sequence=last - 1), leader_epoch=0, now_ms=NOW_MS)
    run = run_on(log)

    taken = [take(run, simple_batch(2, **other, base_sequence=sequence)) for sequence in (last, 1)]
    run.write()

    assert taken == [2, 4]
    assert [batch.last_sequence for batch in log.producers.producers[8].batches] == [last - 1, 0, 2]


def changed(position: int, value: int) -> bytearray:
    batch = simple_batch(2)
    batch[position] = value
    return batch


NOT_FOR_A_RUN = {
    "nothing": bytearray(),
    "cut": simple_batch()[:-1],
    "two batches": simple_batch() + simple_batch(),
    "base offset": changed(BASE_OFFSET_LOW_BYTE, 1),
    "magic": changed(MAGIC, 1),
    "CRC": changed(-1, 0xFF),
    "a flag": simple_batch(attributes=0x40),
    "codec 5": simple_batch(attributes=5),
    "control": simple_batch(attributes=0x20),
    "transactional": simple_batch(attributes=0x10, **PRODUCER, base_sequence=1),
    "LogAppendTime": simple_batch(attributes=0x08),
    "no records": build_batch([]),
    "more records than bytes": build_batch([Record()] * 3)[:61],
    "no time": build_batch([Record(value=b"v")]),
    "too late": simple_batch(timestamp_ms=NOW_MS + 3_600_001),
    "unknown producer": simple_batch(producer_id=8, producer_epoch=0, base_sequence=0),
    "another epoch": simple_batch(producer_id=7, producer_epoch=1, base_sequence=0),
    "no sequence": simple_batch(producer_id=7, producer_epoch=0),
    "too large": simple_batch(size=2_000_000),
}


@pytest.mark.parametrize("batch", NOT_FOR_A_RUN.values(), ids=NOT_FOR_A_RUN)
def test_what_is_not_plain_is_left_alone(store: Store, batch: bytearray) -> None:
    """The usual way says what is wrong with it, if anything is."""
    run = run_on(filled(store))
    before = bytes(batch)

    assert (take(run, batch), bytes(batch)) == (NOT_PLAIN, before)


@pytest.mark.parametrize("codec", Codec)
def test_packed_batches_are_plain(store: Store, codec: int) -> None:
    run = run_on(filled(store))

    assert take(run, build_batch([Record(value=b"v" * 100)], timestamp_ms=NOW_MS, codec=codec)) == 1


def test_a_run_ends_before_it_has_more_batches_than_it_may(store: Store) -> None:
    run = run_on(filled(store))

    taken = [take(run, simple_batch()) for _ in range(MOST_BATCHES + 1)]

    assert taken == [*range(1, MOST_BATCHES + 1), NOT_PLAIN]


def test_no_run_begins_where_nothing_is_plain(store: Store) -> None:
    """The log is closed, has failed, gets its times from the broker, or a new leader epoch is to be noted."""
    store.config = LogConfig(message_timestamp_type="LogAppendTime")
    stamped = store.open()
    stamped.append(simple_batch(), leader_epoch=0, now_ms=NOW_MS)

    assert begin_run(stamped, 0, NOW_MS) is None
    stamped.config = LogConfig()
    assert begin_run(stamped, 1, NOW_MS) is None
    assert begin_run(stamped, 0, NOW_MS) is not None
    stamped.failed = True
    assert begin_run(stamped, 0, NOW_MS) is None


def test_the_first_batch_of_a_segment_is_not_plain(store: Store) -> None:
    """The segment's age is counted from it."""
    log = store.open()
    log.assign_leader_epoch(0)

    assert take(run_on(log), simple_batch()) == NOT_PLAIN


SIZE = len(simple_batch())


@pytest.mark.parametrize(
    ("config", "taken"),
    [
        (LogConfig(segment_bytes=3 * SIZE), [1, 2, NOT_PLAIN]),
        (LogConfig(segment_bytes=3 * SIZE - 1), [1, NOT_PLAIN, NOT_PLAIN]),
        (LogConfig(segment_ms=100), [1, 2, NOT_PLAIN]),
        (LogConfig(segment_index_bytes=100), [NOT_PLAIN] * 3),
    ],
    ids=["full", "nearly full", "old", "index full"],
)
def test_no_batch_of_a_run_begins_a_segment(store: Store, config: LogConfig, taken: list[int]) -> None:
    """That is left to the usual way."""
    log = filled(store)
    log.config = config
    run = run_on(log)

    assert [take(run, simple_batch(timestamp_ms=NOW_MS + late)) for late in (0, 100, 101)] == taken


# --- against the slow twin


class Sent(NamedTuple):
    """A batch as a producer may send it."""

    records: int
    late_ms: int
    codec: Codec
    producer_id: int
    sequence_off_by: int
    spoilt: int
    """A byte that is other than it should be; none if negative."""


SENT = st.builds(
    Sent,
    st.integers(1, 4),
    st.sampled_from([0, 0, 0, 5, -5, 4_000_000]),
    st.sampled_from([Codec.NONE, Codec.NONE, Codec.GZIP, Codec.ZSTD]),
    st.sampled_from([-1, -1, 1, 2]),
    st.sampled_from([0, 0, 0, 0, -1, 1]),
    st.sampled_from([-1] * 8 + [3, MAGIC, ATTRIBUTES_LOW_BYTE, 40, 60, 64]),
)
CONFIGS = st.sampled_from(
    [
        LogConfig(),
        LogConfig(segment_bytes=500, index_interval_bytes=100),
        LogConfig(segment_ms=3),
        LogConfig(segment_index_bytes=64 * 12 + 36, index_interval_bytes=1),
    ]
)


def batches_of(sent: Iterable[Sent]) -> Iterator[bytearray]:
    sequences: dict[int, int] = {}
    for each in sent:
        header = {}
        if each.producer_id >= 0:
            expected = sequences.get(each.producer_id, 0)
            sequences[each.producer_id] = expected + each.records
            header = {
                "producer_id": each.producer_id,
                "producer_epoch": 0,
                "base_sequence": max(0, expected + each.sequence_off_by),
            }
        records = [Record(value=b"v" * 10)] * each.records
        batch = build_batch(records, timestamp_ms=NOW_MS + each.late_ms, codec=each.codec, **header)
        if each.spoilt >= 0:
            batch[each.spoilt] ^= 1
        yield batch


def append(log: PartitionLog, batch: bytearray) -> int | ErrorCode:
    try:
        return log.append(batch, leader_epoch=0, now_ms=NOW_MS).base_offset
    except KafkaError as error:
        return error.code


def one_by_one(log: PartitionLog, batches: list[bytearray]) -> list[int | ErrorCode]:
    return [append(log, batch) for batch in batches]


def in_runs(log: PartitionLog, batches: list[bytearray]) -> list[int | ErrorCode]:
    """As many as can be together; what is not plain as it always was."""
    outcome: list[int | ErrorCode] = []
    left = list(batches)
    while left:
        run = begin_run(log, 0, NOW_MS)
        if run is not None:
            while left and (base_offset := take(run, left[0])) != NOT_PLAIN:
                outcome.append(base_offset)
                left.pop(0)
            run.write()
        if left:
            outcome.append(append(log, left.pop(0)))
    return outcome


@contextmanager
def folder(config: LogConfig) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as path:
        store = Store(Path(path) / "data", UnsyncedFiles())
        store.config = config
        yield store
        if store.directory is not None:
            store.stop()


def left_behind(store: Store) -> dict[str, bytes]:
    """Every file of the partition after a clean stop."""
    store.stop()
    return {path.name: path.read_bytes() for path in sorted(store.folder.iterdir())}


@settings(max_examples=150, deadline=None)
@given(CONFIGS, st.lists(SENT, max_size=30))
def test_runs_leave_what_appends_leave(config: LogConfig, sent: list[Sent]) -> None:
    """The same answers, the same bytes in every file, indexes and producers among them."""
    with folder(config) as fast_store, folder(config) as slow_store:
        fast, slow = fast_store.open(), slow_store.open()

        answers = in_runs(fast, list(batches_of(sent))), one_by_one(slow, list(batches_of(sent)))

        assert answers[0] == answers[1]
        assert fast.log_end_offset == slow.log_end_offset
        remembered = [
            {who: list(producer.batches) for who, producer in log.producers.producers.items()}
            for log in (fast, slow)
        ]
        assert remembered[0] == remembered[1]
        assert left_behind(fast_store) == left_behind(slow_store)
