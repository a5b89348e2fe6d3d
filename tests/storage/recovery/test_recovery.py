"""Tests of storage.recovery.recovery: what a start makes of what a stop, a kill or a power cut left."""

import contextlib
import shutil
from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, TOPIC_ID, TOPIC_PARTITION, FaultyFiles, Store, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import ControlRecordType, EndTxnMarker, batches_in, build_marker_batch
from wirekafka.storage import LogConfig, LogDirectory, Origin, PartitionLog

SMALL_SEGMENTS = LogConfig(segment_bytes=400, index_interval_bytes=100)
HEADER = {"producer_id": 7, "producer_epoch": 0}
CRC_FROM = 17


def fill(log: PartitionLog, batches: int, *, epoch: int = 0) -> None:
    for _ in range(batches):
        log.append(simple_batch(2), leader_epoch=epoch, now_ms=NOW_MS)


def send(log: PartitionLog, sequence: int, *, attributes: int = 0) -> bool:
    """Append as an idempotent producer; whether it was a duplicate."""
    batch = simple_batch(1, base_sequence=sequence, attributes=attributes, **HEADER)
    return log.append(batch, leader_epoch=0, now_ms=NOW_MS).duplicate


def offsets(log: PartitionLog) -> list[int]:
    return [batch.base_offset for batch in log.batches(0)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refusal(store: Store) -> KafkaError:
    with pytest.raises(KafkaError) as caught:
        store.open()
    store.kill()
    return caught.value


def notices(store: Store) -> str:
    assert store.directory is not None
    return " | ".join(store.directory.notices)


def test_a_kill_loses_nothing_that_was_appended(store: Store) -> None:
    """What is written outlives the process; nothing was flushed or closed."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)
    store.kill()

    log = store.open()

    assert offsets(log) == list(range(0, 40, 2))
    assert (log.log_end_offset, log.recovery_point, notices(store)) == (40, 0, "")
    fill(log, 1)
    assert offsets(log)[-1] == 40


def test_a_log_torn_at_any_byte_is_cut_to_whole_batches(store: Store) -> None:
    """And a second start, after another kill, finds and leaves the same bytes."""
    log = store.open()
    fill(log, 3)
    size = log.size_bytes // 3
    store.kill()
    data = store.log_path().read_bytes()

    for length in range(len(data) + 1):
        store.log_path().write_bytes(data[:length])
        log = store.open()
        assert log.log_end_offset == 2 * (length // size)
        assert bool(notices(store)) == (length % size != 0)
        store.kill()
        first = contents(store.folder)
        store.open()
        store.kill()
        assert contents(store.folder) == first
        assert len(first[f"{0:020d}.log"]) == length // size * size


@pytest.mark.parametrize(
    "tail", [bytes(5000), b"\xff" * 777, b"\x00\x00\x00\x00\x00\x00\x00\x06" + bytes(60)]
)
def test_a_tail_that_is_no_batch_is_cut(store: Store, tail: bytes) -> None:
    """Pages that were never written, or noise (a power cut)."""
    log = store.open()
    fill(log, 3)
    store.kill()
    with store.log_path().open("ab") as file:
        file.write(tail)

    log = store.open()

    assert (log.log_end_offset, f"cut {len(tail)} bytes" in notices(store)) == (6, True)
    fill(log, 1)
    assert offsets(log) == [0, 2, 4, 6]


def test_damage_in_the_last_batch_is_cut_and_before_it_refused(store: Store) -> None:
    """Any byte that the CRC covers, and the CRC itself. What has good batches behind it is left alone."""
    log = store.open()
    fill(log, 3)
    size = log.size_bytes // 3
    store.kill()
    data = store.log_path().read_bytes()

    for number in range(3):
        for place in range(CRC_FROM, size, 3):
            damaged = bytearray(data)
            damaged[number * size + place] ^= 0x40
            store.log_path().write_bytes(damaged)
            if number == 2:
                assert store.open().log_end_offset == 4
                store.kill()
                continue
            error = refusal(store)
            assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
            assert f"t-0 is damaged: {0:020d}.log has no batch at position {number * size}" in error.message
            assert str(store.path) not in error.message
            assert store.log_path().read_bytes() == damaged


def test_damage_before_good_segments_is_refused(store: Store) -> None:
    """Kafka would delete every later segment here."""
    store.config = SMALL_SEGMENTS
    fill(store.open(), 20)
    store.kill()
    path = store.log_path()
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    later = contents(store.folder)

    error = refusal(store)

    assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert f"position {len(data) // 4 * 3}" in error.message
    assert contents(store.folder) == later


def test_segments_of_a_torn_log_that_hold_nothing_go(store: Store) -> None:
    """A power cut may keep a new segment's name and lose what was in it, and in the one before."""
    store.config = SMALL_SEGMENTS
    fill(store.open(), 20)
    store.kill()
    bases = sorted(int(path.stem) for path in store.folder.glob("*.log"))
    for base in bases[-2:]:
        store.log_path(base).write_bytes(bytes(50))
    path = store.log_path(bases[-3])
    path.write_bytes(path.read_bytes()[:-1])

    log = store.open()

    assert log.log_end_offset == bases[-2] - 2
    assert sorted(int(path.stem) for path in store.folder.glob("*.log")) == bases[:-2]
    assert sorted(int(path.stem) for path in store.folder.glob("*.index"))[-1] <= bases[-3]
    fill(log, 5)
    assert offsets(log) == list(range(0, log.log_end_offset, 2))


def test_nothing_below_the_recovery_points_segment_is_scanned(store: Store) -> None:
    """A start is as long as what was not flushed, not as the log."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)
    log.flush()
    assert store.directory is not None
    store.directory.checkpoint()
    fill(log, 1)
    store.kill()
    data = bytearray(store.log_path().read_bytes())
    data[-1] ^= 1
    store.log_path().write_bytes(data)

    log = store.open()

    assert (log.log_end_offset, log.recovery_point) == (42, 40)


def test_after_a_clean_stop_nothing_is_scanned(store: Store) -> None:
    """The marker says so; the recovery point is the end."""
    log = store.open()
    fill(log, 3)
    store.stop()
    data = bytearray(store.log_path().read_bytes())
    data[-1] ^= 1
    store.log_path().write_bytes(data)

    log = store.open()

    assert (log.log_end_offset, log.recovery_point) == (6, 6)


@pytest.mark.parametrize("clean", [True, False])
def test_a_torn_end_below_the_recovery_point_is_refused(store: Store, clean: bool) -> None:
    """It was made to last: what is missing was not lost by a crash, and is not cut away in silence."""
    log = store.open()
    fill(log, 3)
    log.flush()
    assert store.directory is not None
    store.directory.checkpoint()
    store.stop(clean=clean)
    data = store.log_path().read_bytes()[:-1]
    store.log_path().write_bytes(data)

    error = refusal(store)

    assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert f"{0:020d}.log has no batch at position {(len(data) + 1) // 3 * 2}" in error.message
    assert "up to offset 6 were made to last" in error.message
    assert store.log_path().read_bytes() == data


@pytest.mark.parametrize("is_torn", [False, True])
def test_room_that_was_preallocated_is_given_back_and_not_called_a_loss(store: Store, is_torn: bool) -> None:
    """A kill leaves it behind the last batch: only where something was written there may a write be lost."""
    store.config = LogConfig(preallocate=True, segment_bytes=4096)
    log = store.open()
    fill(log, 2)
    size = log.segments.active.size
    store.kill()
    assert store.log_path().stat().st_size == 4096
    if is_torn:
        with store.log_path().open("r+b") as file:
            file.seek(size + 30)
            file.write(b"torn")

    assert offsets(store.open()) == [0, 2]
    assert ("preallocated and not written to" in notices(store)) is not is_torn
    assert ("unfinished write" in notices(store)) is is_torn
    assert store.log_path().stat().st_size == size


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("suffix", [".index", ".timeindex", ".snapshot"])
@pytest.mark.parametrize("damage", ["missing", "noise"])
def test_what_can_be_rebuilt_is_rebuilt(store: Store, clean: bool, suffix: str, damage: str) -> None:
    """Indexes and snapshots may be lost or damaged; nothing is answered differently."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    for sequence in range(20):
        send(log, sequence)
    store.stop(clean=clean)
    for path in store.folder.glob(f"*{suffix}"):
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes(b"\xee" * 24)

    log = store.open()

    assert offsets(log) == list(range(20))
    assert max(segment.max_timestamp for segment in log.segments.all()) >= 0
    assert send(log, 19)
    assert not send(log, 20)
    assert ("snapshot" in notices(store)) == ((suffix, damage) == (".snapshot", "noise"))


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize(
    "damage",
    [None, b"", b"0\n9\n", b"\xff", b"0\n2\n4 0\n6 16\n", b"0\n2\n0 0\n2 18\n", b"0\n1\n0 0\n", b"0\n0\n"],
)
def test_leader_epochs_are_rebuilt_from_the_batches(store: Store, clean: bool, damage: bytes | None) -> None:
    """Every batch has its epoch; what the file says is held against them, as it has no checksum."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 8, epoch=0)
    fill(log, 8, epoch=2)
    store.stop(clean=clean)
    path = store.folder / "leader-epoch-checkpoint"
    if damage is not None:
        path.write_bytes(damage)
    elif path.exists():
        path.unlink()

    log = store.open()

    assert log.end_offset_for_epoch(0) == (0, 16)


def test_epochs_behind_a_cut_are_forgotten(store: Store) -> None:
    """The checkpoint may be ahead of what a power cut left."""
    log = store.open()
    fill(log, 2, epoch=1)
    fill(log, 1, epoch=5)
    log.flush()
    store.kill()
    store.log_path().write_bytes(store.log_path().read_bytes()[:-1])

    log = store.open()

    assert (log.latest_epoch, log.end_offset_for_epoch(1)) == (1, (1, 4))


@pytest.mark.parametrize("clean", [True, False])
def test_producers_are_remembered(store: Store, clean: bool) -> None:
    """A retry after the restart is still a duplicate, and a gap still out of order."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    for sequence in range(20):
        send(log, sequence)
    store.stop(clean=clean)

    log = store.open()

    assert send(log, 19)
    with pytest.raises(KafkaError) as caught:
        send(log, 21)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not send(log, 20)


def test_the_first_batch_behind_a_snapshot_is_replayed(store: Store) -> None:
    """The snapshot of a roll ends where the new segment begins."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    sequence = 0
    while len(list(store.folder.glob("*.log"))) < 3:
        send(log, sequence)
        sequence += 1
    store.kill()

    log = store.open()

    assert send(log, sequence - 1)


def test_a_snapshot_behind_a_cut_is_not_used(store: Store) -> None:
    """It knows of batches that are gone, whose offsets others will have."""
    log = store.open()
    for sequence in range(3):
        send(log, sequence)
    store.stop()
    (store.path / ".kafka_cleanshutdown").unlink()
    (store.path / "recovery-point-offset-checkpoint").unlink()
    store.log_path().write_bytes(store.log_path().read_bytes()[:-1])

    log = store.open()

    assert list(store.folder.glob("*.snapshot")) == []
    assert not send(log, 2)


def test_snapshots_do_not_pile_up(store: Store) -> None:
    """One a segment, and the newest."""
    store.config = SMALL_SEGMENTS
    for sequence in range(12):
        send(store.open(), sequence)
        store.stop()
    store.open()

    bases = {path.stem for path in store.folder.glob("*.log")}
    snapshots = {path.stem for path in store.folder.glob("*.snapshot")}
    assert snapshots - bases == {f"{12:020d}"}
    assert len(bases) > 2


@pytest.mark.parametrize("clean", [True, False])
def test_open_transactions_are_remembered(store: Store, clean: bool) -> None:
    """And that they were ended: by the marker's own record."""
    log = store.open()
    fill(log, 1)
    send(log, 0, attributes=0x10)
    store.stop(clean=clean)

    log = store.open()
    assert log.last_stable_offset == 2
    marker = build_marker_batch(EndTxnMarker(ControlRecordType.ABORT, 0), timestamp_ms=NOW_MS, **HEADER)
    log.append(marker, leader_epoch=0, now_ms=NOW_MS, origin=Origin.COORDINATOR)
    store.stop(clean=clean)

    log = store.open()
    assert log.last_stable_offset == log.log_end_offset == 4


def test_producers_of_old_timestamps_are_remembered_over_a_kill(store: Store) -> None:
    """CreateTime may be long past (a backfill); what a snapshot kept expires, what is replayed does not."""
    later_ms = NOW_MS + 25 * 3600 * 1000
    log = store.open(now_ms=later_ms)
    send(log, 0)
    send(log, 1)
    store.kill()

    log = store.open(now_ms=later_ms)
    batch = simple_batch(1, base_sequence=1, **HEADER)

    assert log.append(batch, leader_epoch=0, now_ms=later_ms).duplicate


def test_idle_producers_are_not_loaded(store: Store) -> None:
    """Those that expired while the broker was down."""
    send(store.open(), 5)
    store.stop()

    log = store.open(now_ms=NOW_MS + 24 * 3600 * 1000)

    assert not send(log, 77)


def test_leftovers_are_removed(store: Store) -> None:
    """Index files without a log, what was being deleted, what was being written."""
    fill(store.open(), 1)
    store.stop()
    for name in (
        f"{9:020d}.index",
        f"{9:020d}.timeindex",
        f"{0:020d}.log.deleted",
        "leader-epoch-checkpoint.tmp",
    ):
        (store.folder / name).write_bytes(b"x")

    store.open()

    assert sorted(path.name for path in store.folder.iterdir()) == [
        f"{0:020d}.index",
        f"{0:020d}.log",
        f"{0:020d}.timeindex",
        f"{2:020d}.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]


def test_a_log_that_ends_before_its_start_begins_anew(store: Store) -> None:
    """As Kafka's deleteSegmentsIfLogStartGreaterThanLogEnd: offsets never go back."""
    log = store.open()
    fill(log, 3)
    log.delete_records_before(5)
    store.stop()
    store.log_path().write_bytes(b"")

    log = store.open()

    assert (log.log_start_offset, log.log_end_offset) == (5, 5)
    assert "begins there anew" in notices(store)
    fill(log, 1)
    assert log.log_end_offset == 7


def test_a_folder_without_a_log_is_a_new_partition(store: Store) -> None:
    """A kill between making the folder and the file."""
    store.open()
    store.kill()
    store.log_path().unlink()
    (store.folder / "partition.metadata").write_bytes(b"vers")

    log = store.open()

    assert log.log_end_offset == 0
    fill(log, 1)
    assert store.directory is not None
    assert store.directory.partitions() == [(TOPIC_PARTITION, TOPIC_ID)]


def work(store: Store, acknowledged: list[int]) -> None:
    """A bit of everything that writes; `acknowledged` gets the base offset of each append."""
    log = store.open()
    for i in range(14):
        appended = log.append(simple_batch(2), leader_epoch=i // 5, now_ms=NOW_MS)
        acknowledged.append(appended.base_offset)
        if i == 6:
            log.flush()
            assert store.directory is not None
            store.directory.checkpoint()
        if i == 10:
            log.delete_records_before(9)
    store.stop()


@pytest.mark.parametrize("tears", [False, True])
@pytest.mark.parametrize("goes_on", [False, True])
def test_whatever_call_fails_nothing_acknowledged_is_lost(tmp_path: Path, tears: bool, goes_on: bool) -> None:
    """The Nth call to the operating system, for every N; alone, or with all that follow."""
    counting = Store(tmp_path / "count", FaultyFiles())
    counting.config = SMALL_SEGMENTS
    work(counting, [])
    assert isinstance(counting.files, FaultyFiles)
    total = len(counting.files.calls)
    assert total > 60

    for number in range(1, total + 1):
        files = FaultyFiles()
        files.fail_at, files.tears, files.fails_from_then_on = number, tears, goes_on
        store = Store(tmp_path / "data", files)
        store.config = SMALL_SEGMENTS
        acknowledged: list[int] = []
        with contextlib.suppress(KafkaError, OSError):
            work(store, acknowledged)
        if store.directory is not None:
            store.kill()
        files.fail_at = 0

        log = store.open()
        assert [o for o in acknowledged if o >= log.log_start_offset] == [
            o for o in offsets(log) if o >= log.log_start_offset and o in acknowledged
        ]
        assert log.log_end_offset >= max(acknowledged, default=-2) + 2
        fill(log, 1)
        store.stop()
        shutil.rmtree(tmp_path / "data")


def test_a_damaged_partition_does_not_stop_the_others(store: Store) -> None:
    """It is one partition that is offline; the folder is not called clean until it is well."""
    fill(store.open(), 3)
    store.kill()
    data = store.log_path().read_bytes()
    damaged = bytearray(data)
    damaged[70] ^= 1
    store.log_path().write_bytes(damaged)

    refusal(store)
    directory = LogDirectory.open(store.path, node_id=1, files=store.files)
    with pytest.raises(KafkaError):
        directory.open_log(TOPIC_PARTITION, TOPIC_ID, store.config, now_ms=NOW_MS)
    other = directory.open_log(TOPIC_PARTITION._replace(partition=1), TOPIC_ID, store.config, now_ms=NOW_MS)
    fill(other, 1)
    directory.close(clean=True)

    assert not (store.path / ".kafka_cleanshutdown").exists()
    refusal(store)
    store.log_path().write_bytes(data)
    log = store.open()
    assert [batch.base_offset for batch in batches_in(data)] == offsets(log)


def seal_off(store: Store, recovery_point: int | None) -> None:
    """Make the stop an unclean one, with this recovery point."""
    (store.path / ".kafka_cleanshutdown").unlink(missing_ok=True)
    text = "0\n0\n" if recovery_point is None else f"0\n1\nt 0 {recovery_point}\n"
    (store.path / "recovery-point-offset-checkpoint").write_text(text)


def test_a_hole_between_segments_is_refused(store: Store) -> None:
    """A power cut may keep a later segment and lose the end of an earlier one."""
    store.config = SMALL_SEGMENTS
    fill(store.open(), 20)
    store.kill()
    first = store.log_path()
    batch = len(simple_batch(2))
    first.write_bytes(first.read_bytes()[:-batch])

    error = refusal(store)

    assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert f"{0:020d}.log has no batch at position {3 * batch}" in error.message


def test_a_hole_is_nothing_in_a_compacted_log(store: Store) -> None:
    """Also when the topic is not compacted any more, but once was."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)
    assert store.directory is not None
    store.directory.checkpoints.note_cleaned(log.topic_partition, 8)
    store.directory.checkpoints.write_cleaner_offsets()
    store.kill()
    first = store.log_path()
    first.write_bytes(first.read_bytes()[: -len(simple_batch(2))])

    assert offsets(store.open()) == [0, 2, 4, *range(8, 40, 2)]


def test_an_empty_segment_behind_a_hole_goes(store: Store) -> None:
    """Its name lasted, what was before it did not."""
    store.config = SMALL_SEGMENTS
    fill(store.open(), 8)
    store.kill()
    store.log_path(8).write_bytes(b"")
    first = store.log_path()
    first.write_bytes(first.read_bytes()[: -len(simple_batch(2))])

    log = store.open()

    assert (log.log_end_offset, offsets(log)) == (6, [0, 2, 4])
    assert "removed the empty segments" in notices(store)


@pytest.mark.parametrize("bit", [0x01, 0x40])
def test_a_wrong_offset_of_the_last_batch_is_refused(store: Store, bit: int) -> None:
    """No checksum covers it: an unclean stop is told by the gap, a clean one by the noted end."""
    for clean in (True, False):
        fill(store.open(), 3)
        store.stop(clean=clean)
        data = bytearray(store.log_path().read_bytes())
        position = len(data) // 3 * 2
        data[position + 7] ^= bit
        store.log_path().write_bytes(data)

        error = refusal(store)

        assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert f"position {position}" in error.message
        shutil.rmtree(store.path)


def test_a_recovery_point_from_another_time_does_no_harm(store: Store) -> None:
    """Behind the end: it is said, and everything there is served."""
    fill(store.open(), 3)
    store.stop()
    seal_off(store, 99)

    log = store.open()

    assert (log.log_end_offset, log.recovery_point) == (6, 6)
    assert "ends at offset 6, though its records up to 99 were made to last" in notices(store)


def test_a_start_offset_behind_the_end_is_not_believed_after_a_clean_stop(store: Store) -> None:
    """The end is as it was noted, so the other checkpoint is wrong."""
    fill(store.open(), 3)
    store.stop()
    (store.path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 77\n")

    log = store.open()

    assert (log.log_start_offset, log.log_end_offset) == (0, 6)


def test_without_a_recovery_point_a_log_that_stopped_cleanly_is_served(store: Store) -> None:
    """The checkpoint file is missing."""
    fill(store.open(), 3)
    store.stop()
    (store.path / "recovery-point-offset-checkpoint").unlink()

    log = store.open()

    assert (log.log_end_offset, notices(store)) == (6, "")


def test_the_cache_is_dropped_before_an_unclean_log_is_read(faulty_store: Store) -> None:
    """After a failed write-back the page cache may hold what the disk has not."""
    dropped: list[int] = []

    class Noted(FaultyFiles):
        def drop_cache(self, fd: int) -> None:
            dropped.append(fd)

    faulty_store.files = Noted()
    fill(faulty_store.open(), 3)
    faulty_store.stop()
    faulty_store.open()
    assert dropped == []
    faulty_store.kill()
    faulty_store.open()

    assert len(dropped) == 1


def test_no_file_stays_open(store: Store) -> None:
    """Ten thousand partitions are opened under any limit of descriptors."""
    store.config = SMALL_SEGMENTS
    fill(store.open(), 20)
    store.kill()
    log = store.open()

    assert len(log.disk.open_files) == 0
    assert offsets(log)[-1] == 38


def test_an_unclean_log_is_served_though_the_disk_is_full(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """The indexes that were made anew stay in memory; the first flush writes them."""
    faulty_store.config = SMALL_SEGMENTS
    fill(faulty_store.open(), 20)
    faulty_store.kill()
    directory = faulty_store.directory = LogDirectory.open(faulty_store.path, node_id=1, files=faulty_files)
    faulty_files.fail_next("pwrite", always=True)
    log = directory.open_log(TOPIC_PARTITION, TOPIC_ID, SMALL_SEGMENTS, now_ms=NOW_MS)
    served = offsets(log)
    told = notices(faulty_store)
    faulty_files.fail_at = 0
    log.flush()

    assert (served, log.recovery_point) == (list(range(0, 40, 2)), 40)
    assert "indexes that were made anew could not be written: no space left" in told
    sealed = sorted(faulty_store.folder.glob("*.log"))[:-1]
    assert all(path.with_suffix(".timeindex").stat().st_size > 0 for path in sealed)


@pytest.mark.parametrize("clean", [True, False])
def test_a_segment_that_is_gone_is_told_of(store: Store, clean: bool) -> None:
    """Its index was there. One that was let go of, when a kill left the index, is not missed."""
    store.config = SMALL_SEGMENTS
    log = store.open()
    fill(log, 20)
    log.flush()
    log.move_start(8)
    assert store.directory is not None
    store.directory.checkpoint()
    store.stop(clean=clean)
    for base in (0, 8):
        store.log_path(base).unlink()
    log = store.open()

    assert log.log_start_offset == 16
    assert f"{8:020d}.log is gone, though its index was there" in notices(store)
    assert f"{0:020d}.log" not in notices(store)
