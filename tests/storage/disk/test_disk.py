"""Tests of storage.disk.disk."""

import errno
from pathlib import Path

import pytest

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FILES, Files, SyncFailed


class CountingFiles(Files):
    """Remembers which folders' filesystems were synced, and which descriptors were closed."""

    def __init__(self, failure: OSError | None = None) -> None:
        self.synced: list[int] = []
        self.closed: list[int] = []
        self.failure = failure

    def sync_filesystem(self, fd: int) -> None:
        self.synced.append(fd)
        if self.failure is not None:
            raise self.failure

    def close(self, fd: int) -> None:
        self.closed.append(fd)
        super().close(fd)


def test_a_disk_holds_as_many_files_open_as_it_was_told(tmp_path: Path) -> None:
    """The limit is handed on."""
    disk = Disk.on(FILES, open_files=2)

    for name in "abc":
        disk.open_files.get(str(tmp_path / name), create=True)

    assert len(disk.open_files) == 2


def test_the_filesystem_is_synced_through_one_descriptor_open_all_the_time(tmp_path: Path) -> None:
    """It is told of every write-back that failed since it was opened (fs/sync.c: f_sb_err)."""
    files = CountingFiles()
    disk = Disk.on(files, root=str(tmp_path))

    disk.sync_filesystem(str(tmp_path))
    disk.sync_filesystem(str(tmp_path))

    assert (files.synced, files.closed) == ([disk.witness] * 2, [])
    disk.close()
    assert files.closed == [disk.witness]


def test_a_disk_without_a_folder_opens_it_for_the_sync(tmp_path: Path) -> None:
    """And lets go of it."""
    files = CountingFiles()

    Disk.on(files).sync_filesystem(str(tmp_path))

    assert files.synced == files.closed


def test_a_sync_of_the_filesystem_covers_the_open_and_the_closed(tmp_path: Path) -> None:
    """No file is in want of another one."""
    disk = Disk.on(FILES, open_files=1)
    for name in "ab":
        disk.open_files.get(str(tmp_path / name), create=True).write(b"x", 0)
    still_open = disk.open_files.get(str(tmp_path / "b"))
    assert (disk.open_files.closed_unsynced, still_open.written) == ({str(tmp_path / "a")}, True)

    disk.sync_filesystem(str(tmp_path))

    assert (disk.open_files.closed_unsynced, still_open.written) == (set(), False)


def test_a_failed_sync_of_the_filesystem_is_told_as_one(tmp_path: Path) -> None:
    """And forgets nothing."""
    disk = Disk.on(CountingFiles(OSError(errno.EIO, "lost")), root=str(tmp_path))
    disk.open_files.closed_unsynced.add("a")

    with pytest.raises(SyncFailed, match="lost"):
        disk.sync_filesystem(str(tmp_path))

    assert disk.open_files.closed_unsynced == {"a"}


def test_only_a_failed_sync_is_final() -> None:
    """A full disk and a lack of descriptors pass; what a failed sync has lost does not come back."""
    disk = Disk.on(FILES)

    full = disk.storage_error("It could not be written", OSError(errno.ENOSPC, "No space left"))
    disk.health.check()
    lost = disk.storage_error("It could not be synced", SyncFailed(errno.EIO, "Input/output error"))

    assert (full.code, full.message) == (
        ErrorCode.KAFKA_STORAGE_ERROR,
        "It could not be written: No space left.",
    )
    assert lost.message == "It could not be synced: Input/output error."
    with pytest.raises(KafkaError, match="It could not be synced: Input/output error"):
        disk.health.check()
