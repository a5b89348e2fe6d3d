"""Tests of storage.log.flushing: what is synced, and what a failure costs."""

import errno
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, TOPIC_ID, UnsyncedFiles, simple_batch
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, LogDirectory, PartitionLog
from wirekafka.storage.log.flushing import flush_logs

Call = tuple[str, str]


class SyncLog(UnsyncedFiles):
    """Remembers what is synced, by name, and fails or blocks on demand."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.fail: dict[str, int] = {}
        self.paths: dict[int, str] = {}
        self.can_sync = True
        self.on_sync = threading.Event()
        self.on_sync.set()

    @property
    def can_sync_filesystem(self) -> bool:
        return self.can_sync

    def open(self, path: str, *, create: bool = False, truncate: bool = False) -> int:
        fd = super().open(path, create=create, truncate=truncate)
        self.paths[fd] = path.split("/data/")[-1]
        return fd

    def _sync(self, kind: str, name: str) -> None:
        self.calls.append((kind, name))
        self.on_sync.wait(10)
        if name in self.fail:
            raise OSError(self.fail[name], "failed on demand")

    def fdatasync(self, fd: int) -> None:
        self._sync("file", self.paths[fd])

    def sync_folder(self, path: str) -> None:
        self._sync("folder", path.rpartition("/")[2])

    def sync_filesystem(self, fd: int) -> None:
        self._sync("filesystem", "")

    def synced(self) -> set[Call]:
        calls = set(self.calls)
        self.calls.clear()
        return calls


@pytest.fixture
def files() -> SyncLog:
    """The witness of every sync."""
    return SyncLog()


@pytest.fixture
def directory(tmp_path: Path, files: SyncLog) -> Iterator[LogDirectory]:
    """An open data folder."""
    directory = LogDirectory.open(tmp_path / "data", node_id=1, files=files, open_files=30)
    files.calls.clear()
    yield directory
    files.on_sync.set()
    directory.close(clean=False)


def open_logs(directory: LogDirectory, count: int, config: LogConfig | None = None) -> list[PartitionLog]:
    return [
        directory.open_log(TopicPartition("t", number), TOPIC_ID, config or LogConfig(), now_ms=NOW_MS)
        for number in range(count)
    ]


def append(log: PartitionLog, batches: int = 1, *, now_ms: int = NOW_MS) -> None:
    for _ in range(batches):
        log.append(simple_batch(), leader_epoch=0, now_ms=now_ms)


def flush(directory: LogDirectory, logs: list[PartitionLog]) -> None:
    flush_logs(directory.disk, directory.path, logs)


def test_a_new_partition_lasts_with_its_folder_and_its_names(directory: LogDirectory, files: SyncLog) -> None:
    """Batches that no start would find are lost as well."""
    (log,) = open_logs(directory, 1)
    append(log)

    flush(directory, [log])

    assert files.synced() == {
        ("file", "t-0/00000000000000000000.log"),
        ("file", "t-0/leader-epoch-checkpoint"),
        ("file", "t-0/partition.metadata"),
        ("folder", "t-0"),
        ("folder", "data"),
    }
    append(log)
    flush(directory, [log])
    assert files.synced() == {("file", "t-0/00000000000000000000.log")}


def test_a_rolled_segment_lasts_with_its_indexes_and_its_snapshot(
    directory: LogDirectory, files: SyncLog
) -> None:
    """From the recovery point on nothing of it would be rebuilt."""
    (log,) = open_logs(directory, 1)
    flush(directory, [log])
    append(log)
    flush(directory, [log])
    files.calls.clear()

    append(log)
    log.roll(NOW_MS)
    append(log)
    flush(directory, [log])

    assert files.synced() == {
        ("file", "t-0/00000000000000000000.log"),
        ("file", "t-0/00000000000000000000.index"),
        ("file", "t-0/00000000000000000000.timeindex"),
        ("file", "t-0/00000000000000000002.log"),
        ("file", "t-0/00000000000000000002.index"),
        ("file", "t-0/00000000000000000002.timeindex"),
        ("file", "t-0/00000000000000000002.snapshot"),
        ("folder", "t-0"),
    }
    assert log.recovery_point == 3


@pytest.mark.parametrize(
    ("count", "can_sync", "at_once"),
    [(1, True, False), (16, True, False), (17, True, True), (17, False, False)],
)
def test_many_logs_are_synced_at_once(
    directory: LogDirectory, files: SyncLog, count: int, can_sync: bool, at_once: bool
) -> None:
    """More than 16 by one sync of the filesystem, where that can be trusted; file by file else."""
    files.can_sync = can_sync
    logs = open_logs(directory, count)
    for log in logs:
        append(log)

    flush(directory, logs)

    assert (files.synced() == {("filesystem", "")}) is at_once
    assert [log.recovery_point for log in logs] == [1] * count
    flush(directory, logs)
    assert files.synced() == set()


def test_a_file_that_was_closed_with_unsynced_bytes_costs_a_sync_of_the_filesystem(
    directory: LogDirectory, files: SyncLog
) -> None:
    """Its write-back may have failed when nobody had it open; the folder's descriptor is told of that."""
    logs = open_logs(directory, 31)
    for log in logs:
        append(log)

    flush(directory, logs[:1])

    assert files.synced() == {("filesystem", "")}
    append(logs[0])
    flush(directory, logs[:1])
    assert files.synced() == {("file", "t-0/00000000000000000000.log")}


@pytest.mark.parametrize("count", [1, 5, 17])
def test_a_failed_sync_is_final_for_the_folder(directory: LogDirectory, files: SyncLog, count: int) -> None:
    """No log of the flush advances, none is flushed again, no sync is called again."""
    logs = open_logs(directory, count)
    for log in logs:
        append(log)
    files.fail = {"t-0/00000000000000000000.log": errno.EIO, "": errno.EIO}
    with pytest.raises(KafkaError, match="failed on demand") as caught:
        flush(directory, logs)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    files.fail = {}
    files.calls.clear()

    with pytest.raises(KafkaError, match="until the broker is restarted"):
        flush(directory, logs)

    assert (files.calls, [log.recovery_point for log in logs]) == ([], [0] * count)
    assert logs[0].unflushed.since_ms == NOW_MS


def test_a_log_that_cannot_be_written_out_keeps_no_other_from_lasting(
    directory: LogDirectory, files: SyncLog, tmp_path: Path
) -> None:
    """The disk is full, or descriptors are: the next flush may do it."""
    logs = open_logs(directory, 2)
    for log in logs:
        append(log)
    (tmp_path / "data/t-0/leader-epoch-checkpoint.tmp").mkdir()

    with pytest.raises(KafkaError, match="t-0 could not be flushed: Is a directory"):
        flush(directory, logs)

    assert [log.recovery_point for log in logs] == [0, 1]
    (tmp_path / "data/t-0/leader-epoch-checkpoint.tmp").rmdir()
    flush(directory, logs)
    assert [log.recovery_point for log in logs] == [1, 1]


def test_a_log_that_is_deleted_before_anything_of_it_was_written_is_passed_over(
    directory: LogDirectory, files: SyncLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is gone when its leader epochs are to be written: no failure of the disk."""
    logs = open_logs(directory, 2)
    for log in logs:
        append(log)
    rename = files.rename

    def delete_first(old: str, new: str) -> None:
        if not logs[0].closed and "t-0/" in old:
            directory.delete_log(logs[0])
        rename(old, new)

    monkeypatch.setattr(files, "rename", delete_first)
    flush(directory, logs)

    assert (logs[0].closed, [log.recovery_point for log in logs]) == (True, [0, 1])


def test_a_log_that_is_deleted_meanwhile_is_passed_over(directory: LogDirectory, files: SyncLog) -> None:
    """Its files have other names by then, or none; the others last."""
    logs = open_logs(directory, 2)
    for log in logs:
        append(log)
    files.on_sync.clear()
    failures: list[KafkaError] = []

    def run() -> None:
        try:
            flush(directory, logs)
        except KafkaError as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while not files.calls:
        pass
    directory.delete_log(logs[1])
    files.on_sync.set()
    thread.join()

    assert failures == []
    assert directory.disk.health.failure == ""
    assert logs[0].recovery_point == 1


def test_what_is_appended_during_a_flush_is_left_for_the_next(
    directory: LogDirectory, files: SyncLog
) -> None:
    """The kernel may or may not have taken it along."""
    (log,) = open_logs(directory, 1)
    append(log, 2)
    files.on_sync.clear()
    thread = threading.Thread(target=flush, args=(directory, [log]))
    thread.start()
    while not files.calls:
        pass

    append(log, now_ms=NOW_MS + 5)
    files.on_sync.set()
    thread.join()

    assert (log.recovery_point, log.log_end_offset, log.unflushed.since_ms) == (2, 3, NOW_MS + 5)
    flush(directory, [log])
    assert (log.recovery_point, log.log_end_offset, log.unflushed.since_ms) == (3, 3, -1)
