"""Tests of storage.log.log: one partition, as the broker uses it."""

import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.support import NOW_MS, TOPIC_ID, FaultyFiles, Store, UnsyncedFiles, simple_batch
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import (
    ControlRecordType,
    EndTxnMarker,
    Record,
    batches_in,
    build_batch,
    build_marker_batch,
    decode_records,
)
from wirekafka.storage import Appended, LogConfig, Origin, PartitionLog, TimestampOffset
from wirekafka.storage.log.timestamps import search_largest, searches_at_or_after

OTHER = TopicPartition("t", 1)
SMALL_SEGMENTS = LogConfig(segment_bytes=400, index_interval_bytes=100)


def fill(log: PartitionLog, batches: int, *, records: int = 2, epoch: int = 0) -> None:
    for _ in range(batches):
        log.append(simple_batch(records), leader_epoch=epoch, now_ms=NOW_MS)


def base_offsets(log: PartitionLog, offset: int, *, up_to: int | None = None) -> list[int]:
    """Base offsets of everything from an offset on, read as a consumer does."""
    found: list[int] = []
    end = log.log_end_offset if up_to is None else up_to
    while True:
        data = log.read(offset, 300, up_to_offset=end, at_least_one_batch=True).read()
        batches = list(batches_in(data))
        if not batches:
            return found
        found += [batch.base_offset for batch in batches]
        offset = batches[-1].last_offset + 1


def code_of(error: pytest.ExceptionInfo[KafkaError]) -> ErrorCode:
    return error.value.code


# --- append


def test_batches_get_offsets_one_after_the_other(store: Store) -> None:
    """The base offset and the epoch are written into the batch; the answer says where it went."""
    log = store.open()

    first = log.append(simple_batch(3), leader_epoch=4, now_ms=NOW_MS)
    second = log.append(simple_batch(2), leader_epoch=4, now_ms=NOW_MS)

    assert first == Appended(0, 2, -1, 0, False)
    assert second == Appended(3, 4, -1, 0, False)
    assert (log.log_end_offset, log.last_stable_offset, log.latest_epoch) == (5, 5, 4)
    stored = list(batches_in(log.read(0, 1000, up_to_offset=5, at_least_one_batch=True).read()))
    assert [(batch.base_offset, batch.partition_leader_epoch) for batch in stored] == [(0, 4), (3, 4)]
    assert all(batch.crc_ok() for batch in stored)


def test_the_records_buffer_is_not_kept(store: Store) -> None:
    """The frame it is a part of can be used again at once."""
    log = store.open()
    batch = simple_batch()
    log.append(batch, leader_epoch=0, now_ms=NOW_MS)

    batch[:] = bytes(len(batch))
    batch.clear()

    assert base_offsets(log, 0) == [0]


def test_bytes_behind_the_batch_are_not_written(store: Store) -> None:
    """A torn second batch is trimmed, as in Kafka."""
    log = store.open()
    batch = simple_batch()

    log.append(batch + batch[:30], leader_epoch=0, now_ms=NOW_MS)

    assert log.size_bytes == len(batch)


def test_a_refused_batch_changes_nothing(store: Store) -> None:
    """The error comes from validation; the log stays as it is."""
    log = store.open()
    fill(log, 1)

    with pytest.raises(KafkaError) as caught:
        log.append(simple_batch(base_offset=1), leader_epoch=1, now_ms=NOW_MS)

    assert code_of(caught) is ErrorCode.INVALID_RECORD
    assert (log.log_end_offset, log.latest_epoch) == (2, 0)


def test_a_repeated_batch_is_answered_and_not_written(store: Store) -> None:
    """Idempotence: with the offsets, and the time, of the batch that was kept."""
    log = store.open()
    fill(log, 1)
    for sequence in (0, 2):
        log.append(
            simple_batch(2, producer_id=7, producer_epoch=0, base_sequence=sequence),
            leader_epoch=0,
            now_ms=NOW_MS,
        )
    size = log.size_bytes

    again = log.append(
        simple_batch(2, producer_id=7, producer_epoch=0, base_sequence=0), leader_epoch=0, now_ms=NOW_MS
    )

    assert again == Appended(2, 3, NOW_MS, 0, True)
    assert (log.size_bytes, log.log_end_offset) == (size, 6)


def test_log_append_time_is_the_brokers(store: Store) -> None:
    """And a repeated batch is answered with the time of the first."""
    store.config = LogConfig(message_timestamp_type="LogAppendTime")
    log = store.open()
    header = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}

    first = log.append(simple_batch(timestamp_ms=5, **header), leader_epoch=0, now_ms=NOW_MS)
    again = log.append(simple_batch(timestamp_ms=5, **header), leader_epoch=0, now_ms=NOW_MS + 9)

    assert (first.log_append_time_ms, again.log_append_time_ms, again.duplicate) == (NOW_MS, NOW_MS, True)
    (batch,) = log.batches(0)
    assert (batch.is_log_append_time, batch.max_timestamp, batch.crc_ok()) == (True, NOW_MS, True)


def test_config_may_change_at_any_time(store: Store) -> None:
    """The next append goes by it."""
    log = store.open()
    fill(log, 1)
    log.config = LogConfig(max_message_bytes=10)

    with pytest.raises(KafkaError) as caught:
        fill(log, 1)

    assert code_of(caught) is ErrorCode.MESSAGE_TOO_LARGE


def test_idle_producers_are_forgotten(store: Store) -> None:
    """After producer.id.expiration.ms, when housekeeping asks; any sequence is taken then (KIP-360)."""
    log = store.open()
    header = {"producer_id": 7, "producer_epoch": 0}
    log.append(simple_batch(base_sequence=0, **header), leader_epoch=0, now_ms=NOW_MS)
    later = NOW_MS + 24 * 3600 * 1000
    with pytest.raises(KafkaError) as caught:
        log.append(simple_batch(base_sequence=5, **header), leader_epoch=0, now_ms=later)

    log.expire_producers(later - 1)
    assert 7 in log.producers.producers
    log.expire_producers(later)
    appended = log.append(simple_batch(base_sequence=5, **header), leader_epoch=0, now_ms=later)

    assert code_of(caught) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert appended.base_offset == 1


def test_an_open_transaction_holds_the_stable_offset(store: Store) -> None:
    """Until the coordinator's marker is appended."""
    log = store.open()
    fill(log, 1)
    header = {"producer_id": 7, "producer_epoch": 0}
    log.append(simple_batch(base_sequence=0, attributes=0x10, **header), leader_epoch=0, now_ms=NOW_MS)
    fill(log, 1)
    assert (log.last_stable_offset, log.log_end_offset) == (2, 5)

    marker = EndTxnMarker(ControlRecordType.COMMIT, 0)
    log.append(
        build_marker_batch(marker, timestamp_ms=NOW_MS, **header),
        leader_epoch=0,
        now_ms=NOW_MS,
        origin=Origin.COORDINATOR,
    )

    assert (log.last_stable_offset, log.log_end_offset) == (6, 6)


# --- read


def test_reading_follows_the_log_over_its_segments(store: Store) -> None:
    """From any offset to the end."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)

    assert len(list(store.folder.glob("*.log"))) > 3
    for offset in range(40):
        assert base_offsets(log, offset) == list(range(offset // 2 * 2, 40, 2))


def test_reading_at_the_end_is_empty_and_behind_it_an_error(store: Store) -> None:
    """Also between the offset up to which may be read and the end (UnifiedLog.read)."""
    log = store.open()
    fill(log, 3)

    assert len(log.read(6, 100, up_to_offset=6, at_least_one_batch=True)) == 0
    assert len(log.read(5, 100, up_to_offset=4, at_least_one_batch=True)) == 0
    assert base_offsets(log, 0, up_to=4) == [0, 2]
    for offset in (-1, 7):
        with pytest.raises(KafkaError) as caught:
            log.read(offset, 100, up_to_offset=6, at_least_one_batch=True)
        assert code_of(caught) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_an_empty_log_reads_empty(store: Store) -> None:
    """Offset 0 is its end."""
    log = store.open()

    assert len(log.read(0, 100, up_to_offset=0, at_least_one_batch=True)) == 0
    assert list(log.batches(0)) == []


def test_batches_come_with_their_records(store: Store) -> None:
    """What loads an internal topic: every batch from an offset on, larger ones than read at a time too."""
    store.config = LogConfig(max_message_bytes=1 << 24, segment_bytes=1 << 22)
    log = store.open()
    for size in (10, 3_000_000, 20, 1_500_000, 30):
        log.append(build_batch([Record(b"k", b"v" * size, NOW_MS)]), leader_epoch=0, now_ms=NOW_MS)

    values = [decode_records(batch)[0].value for batch in log.batches(1)]

    assert [len(value or b"") for value in values] == [3_000_000, 20, 1_500_000, 30]


def test_records_are_found_by_time(store: Store) -> None:
    """The exact record, over segments, also after reopening."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    for i in range(20):
        times = [1000 + 20 * i, 1010 + 20 * i]
        data = build_batch([Record(None, b"x", time) for time in times], codec=i % 5)
        log.append(data, leader_epoch=2, now_ms=NOW_MS)

    for _ in range(2):
        for time in range(990, 1391, 7):
            step = max(-(-(time - 1000) // 10), 0)
            found = next(searches_at_or_after(log, time)).run()
            assert found == TimestampOffset(1000 + 10 * step, step, 2)
        assert list(searches_at_or_after(log, 1391)) == []
        largest = search_largest(log)
        assert largest is not None
        assert largest.run() == TimestampOffset(1390, 39, 2)
        store.stop()
        log = store.open()


# --- epochs


def test_epochs_are_remembered_over_a_restart(store: Store) -> None:
    """Where each began, for OffsetForLeaderEpoch."""
    log = store.open()
    fill(log, 2, epoch=0)
    fill(log, 1, epoch=3)

    for _ in range(2):
        assert [log.end_offset_for_epoch(epoch) for epoch in (0, 1, 3, 4)] == [
            (0, 4),
            (0, 4),
            (3, 6),
            (-1, -1),
        ]
        assert [log.epoch_of(offset) for offset in (0, 3, 4, 9)] == [0, 0, 3, 3]
        store.stop()
        log = store.open()


# --- delete_records_before


def test_deleting_records_moves_the_start_and_drops_segments(store: Store) -> None:
    """Whole segments go; slices that were given out stay readable."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)
    held = log.read(0, 100, up_to_offset=40, at_least_one_batch=True)
    size = log.size_bytes

    log.delete_records_before(25)

    assert (log.log_start_offset, log.log_end_offset) == (25, 40)
    assert log.size_bytes < size
    assert base_offsets(log, 25) == list(range(24, 40, 2))
    assert next(batches_in(held.read())).base_offset == 0
    with pytest.raises(KafkaError) as caught:
        log.read(24, 100, up_to_offset=40, at_least_one_batch=True)
    assert code_of(caught) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_the_start_never_goes_back_and_never_behind_the_end(store: Store) -> None:
    """As maybeIncrementLogStartOffset."""
    log = store.open()
    fill(log, 3)
    log.delete_records_before(4)
    log.delete_records_before(2)

    assert log.log_start_offset == 4
    for offset in (7, -1):
        with pytest.raises(KafkaError) as caught:
            log.delete_records_before(offset)
        assert code_of(caught) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_deleting_everything_frees_everything(store: Store) -> None:
    """A new segment begins at the end, and offsets go on."""
    log = store.open()
    fill(log, 3)

    log.delete_records_before(6)

    assert (log.size_bytes, log.log_start_offset) == (0, 6)
    fill(log, 1)
    assert base_offsets(log, 6) == [6]
    store.stop()
    log = store.open()
    assert (log.log_start_offset, log.log_end_offset, base_offsets(log, 6)) == (6, 8, [6])


def test_snapshots_go_with_their_segments(store: Store) -> None:
    """And the start offset is the stable one's floor."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)
    before = len(list(store.folder.glob("*.snapshot")))

    log.delete_records_before(40)

    assert before > 3
    assert [path.name for path in store.folder.glob("*.snapshot")] == [f"{40:020d}.snapshot"]


# --- lasting


def test_flush_advances_the_recovery_point(store: Store) -> None:
    """Only flush does; what was flushed needs no second sync."""
    log = store.open()
    fill(log, 2)
    assert log.recovery_point == 0

    log.flush()

    assert log.recovery_point == 4
    assert (store.folder / "leader-epoch-checkpoint").read_text() == "0\n1\n0 0\n"


def test_append_waits_for_no_disk(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """Not one sync, not when a segment is rolled, not when a partition is made."""
    faulty_store.config = SMALL_SEGMENTS
    log = faulty_store.open()
    faulty_files.calls.clear()

    fill(log, 20)
    created = faulty_store.directory
    assert created is not None

    assert not {"fdatasync", "sync_folder", "sync_filesystem"} & set(faulty_files.calls)
    log.flush()
    assert {"fdatasync", "sync_folder"} <= set(faulty_files.calls)


def test_a_flush_without_news_asks_nothing_of_the_disk(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """Housekeeping may flush thousands of idle partitions."""
    log = faulty_store.open()
    log.flush()
    faulty_files.calls.clear()
    log.flush()
    assert faulty_files.calls == []

    fill(log, 1)
    log.flush()
    faulty_files.calls.clear()
    log.flush()
    assert faulty_files.calls == []


def test_after_a_failed_sync_the_folder_takes_nothing(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """The kernel calls lost bytes clean after it: only a restart finds out what is there (fsyncgate)."""
    log = faulty_store.open()
    assert faulty_store.directory is not None
    other = faulty_store.directory.open_log(OTHER, TOPIC_ID, LogConfig(), now_ms=NOW_MS)
    fill(log, 1)
    fill(other, 1)
    faulty_files.fail_next("fdatasync")
    with pytest.raises(KafkaError) as caught:
        log.flush()
    assert code_of(caught) is ErrorCode.KAFKA_STORAGE_ERROR
    faulty_files.only, faulty_files.fail_at = "", 0
    faulty_files.calls.clear()

    attempts: list[Callable[[], None]] = [
        lambda: fill(log, 1),
        lambda: fill(other, 1),
        log.flush,
        other.flush,
        other.write_out,
        log.close,
    ]
    for refused in attempts:
        with pytest.raises(KafkaError, match="could not be flushed") as caught:
            refused()
        assert code_of(caught) is ErrorCode.KAFKA_STORAGE_ERROR
    assert not {"fdatasync", "sync_folder", "sync_filesystem"} & set(faulty_files.calls)
    assert (log.recovery_point, other.recovery_point) == (0, 0)
    assert base_offsets(other, 0) == [0]


@pytest.mark.parametrize("call", ["open", "pwrite", "rename"])
def test_a_flush_that_fails_without_a_failed_sync_is_tried_again(
    faulty_store: Store, faulty_files: FaultyFiles, call: str
) -> None:
    """A full disk, or no descriptor left, passes: nothing that was written is in doubt."""
    log = faulty_store.open()
    fill(log, 1)
    faulty_files.fail_next(call)
    with pytest.raises(KafkaError) as caught:
        log.flush()
    assert (code_of(caught), log.recovery_point) == (ErrorCode.KAFKA_STORAGE_ERROR, 0)
    assert log.unflushed.since_ms == NOW_MS

    fill(log, 1)
    log.flush()

    assert (log.recovery_point, log.unflushed.since_ms) == (4, -1)
    assert (faulty_store.folder / "leader-epoch-checkpoint").read_text() == "0\n1\n0 0\n"
    assert list(faulty_store.folder.glob("*.tmp")) == []


def test_a_full_disk_refuses_appends_and_nothing_else(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """KAFKA_STORAGE_ERROR, which clients try again on; reads go on, and so do appends once there is room."""
    log = faulty_store.open()
    fill(log, 1)
    faulty_files.tears = True
    faulty_files.fail_next("pwrite", always=True)

    with pytest.raises(KafkaError) as caught:
        fill(log, 1)

    assert code_of(caught) is ErrorCode.KAFKA_STORAGE_ERROR
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOSPC
    assert str(faulty_store.path) not in caught.value.message
    assert base_offsets(log, 0) == [0]
    faulty_files.fail_at = 0
    fill(log, 1)
    assert base_offsets(log, 0) == [0, 2]


def test_bytes_that_cannot_be_removed_stop_the_log(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """Memory and file differ then; the log says so until the next start."""
    log = faulty_store.open()
    fill(log, 1)
    faulty_files.fail_at, faulty_files.fails_from_then_on = len(faulty_files.calls) + 1, True
    with pytest.raises(KafkaError):
        fill(log, 1)
    faulty_files.fail_at = 0

    with pytest.raises(KafkaError, match="takes no records: bytes of a failed write") as caught:
        fill(log, 1)

    assert code_of(caught) is ErrorCode.KAFKA_STORAGE_ERROR


def test_a_read_error_is_a_storage_error(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """The client tries again."""
    faulty_store.config = SMALL_SEGMENTS
    log = faulty_store.open()
    fill(log, 20)
    faulty_files.fail_next("pread", always=True)

    with pytest.raises(KafkaError) as caught:
        log.read(0, 100, up_to_offset=40, at_least_one_batch=True)

    assert code_of(caught) is ErrorCode.KAFKA_STORAGE_ERROR


def test_a_failed_roll_can_be_tried_again(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """Nothing of it shows; the next append rolls."""
    faulty_store.config = SMALL_SEGMENTS
    log = faulty_store.open()
    fill(log, 3)
    for name in ("open", "open", "pwrite", "open"):
        faulty_files.fail_next(name)
        with pytest.raises(KafkaError):
            fill(log, 20)
        faulty_files.fail_at = 0

    fill(log, 5)
    assert base_offsets(log, 0) == list(range(0, log.log_end_offset, 2))
    faulty_store.kill()
    reopened = faulty_store.open()
    assert base_offsets(reopened, 0) == list(range(0, reopened.log_end_offset, 2))


def test_flush_runs_beside_appends_and_reads(store: Store) -> None:
    """In a thread, while segments are rolled and removed."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    stop = threading.Event()
    errors: list[KafkaError] = []

    def flush() -> None:
        while not stop.is_set():
            try:
                log.flush()
            except KafkaError as error:
                errors.append(error)

    thread = threading.Thread(target=flush)
    thread.start()
    for i in range(300):
        fill(log, 1, epoch=i // 50)
        if i % 40 == 39:
            log.delete_records_before(log.log_end_offset - 20)
        log.read(log.log_end_offset - 2, 500, up_to_offset=log.log_end_offset, at_least_one_batch=True)
    stop.set()
    thread.join()

    assert errors == []
    log.flush()
    assert log.recovery_point == 600
    assert base_offsets(log, log.log_start_offset)[-1] == 598


def test_a_closed_log_takes_nothing(store: Store) -> None:
    """Closing twice is closing once."""
    log = store.open()
    fill(log, 1)

    log.close()
    log.close()

    with pytest.raises(KafkaError) as caught:
        fill(log, 1)
    assert code_of(caught) is ErrorCode.KAFKA_STORAGE_ERROR


# --- all of it, against a model

operations = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 5), st.integers(0, 150)),
        st.tuples(st.just("flush")),
        st.tuples(st.just("delete"), st.floats(0, 1)),
        st.tuples(st.just("restart")),
        st.tuples(st.just("kill")),
    ),
    max_size=40,
)


@settings(max_examples=50, deadline=None)
@given(operations=operations)
def test_a_log_is_a_list_of_batches(
    operations: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever is done to it: it has what was appended, in order, from its start on."""

    store = Store(tmp_path_factory.mktemp("model") / "data", UnsyncedFiles())
    store.config = LogConfig(segment_bytes=600, index_interval_bytes=150, max_message_bytes=590)
    log = store.open()
    model: list[tuple[int, int]] = []
    start = end = 0
    for operation, *arguments in operations:
        match operation:
            case "append":
                count, size = arguments[0], arguments[1] // arguments[0]
                log.append(simple_batch(count, size=size), leader_epoch=len(model) // 7, now_ms=NOW_MS)
                model.append((end, end + count - 1))
                end += count
            case "flush":
                log.flush()
            case "delete":
                start = max(start, int(arguments[0] * end))
                log.delete_records_before(start)
            case "restart":
                store.stop()
                log = store.open()
            case _:
                # A kill loses nothing that was appended, but a start offset that is not checkpointed.
                assert store.directory is not None
                store.directory.checkpoint()
                store.kill()
                log = store.open()

        assert (log.log_start_offset, log.log_end_offset) == (start, end)
    for offset in range(start, end):
        expected = [first for first, last in model if last >= offset]
        assert base_offsets(log, offset) == expected
    store.stop()


def test_a_full_disk_is_freed_by_deleting(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """What can go without a new file goes; the last segment goes when there is room for the next."""
    faulty_store.config = SMALL_SEGMENTS
    log = faulty_store.open()
    fill(log, 20)
    faulty_files.fail_next("open", always=True)

    freed = log.delete_records_before(40)

    faulty_files.fail_at = 0
    assert {Path(path).name.split(".")[1] for path in freed} == {"log", "index", "timeindex", "snapshot"}
    assert (log.log_start_offset, len(log.segments.all()), log.failed) == (40, 1, False)
    assert log.segments.active.size > 0
    assert log.delete_records_before(40) != []
    assert log.segments.active.size == 0
    fill(log, 1)
    assert base_offsets(log, 40) == [40]


def test_a_log_of_one_segment_on_a_full_disk_says_so(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """Nothing could be freed."""
    log = faulty_store.open()
    fill(log, 2)
    faulty_files.fail_next("open", always=True)

    with pytest.raises(KafkaError, match="could not be shortened"):
        log.delete_records_before(4)

    faulty_files.fail_at = 0
    assert log.delete_records_before(4) != []


def test_a_leader_has_an_epoch_before_it_writes(store: Store) -> None:
    """It begins where the log ends (Partition.makeLeader); an older one does not take its place."""
    log = store.open()
    log.assign_leader_epoch(0)
    fill(log, 1)
    log.assign_leader_epoch(3)
    log.assign_leader_epoch(2)

    assert log.epochs.entries() == [(0, 0), (3, 2)]
    assert log.end_offset_for_epoch(0) == (0, 2)


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_that_was_made_anew_is_there_after_a_stop(store: Store, suffix: str) -> None:
    """Of a sealed segment too, which is not written to any more."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)
    store.stop()
    path = store.folder / f"{0:020d}{suffix}"
    right = path.read_bytes()
    path.write_bytes(b"damaged")

    log = store.open()
    assert base_offsets(log, 0)[:2] == [0, 2]
    store.stop()

    assert path.read_bytes() == right
