"""What the storage tests share: a data folder to open and kill, files that fail on demand, batches."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wirekafka.ids import TopicPartition
from wirekafka.protocol.records import Record, build_batch
from wirekafka.storage import Files, LogConfig, LogDirectory, PartitionLog
from wirekafka.storage.log.retention import has_passed_segments, start_after_retention

TOPIC_PARTITION = TopicPartition("t", 0)
TOPIC_ID = bytes(range(16))
NOW_MS = 1_000_000


class UnsyncedFiles(Files):
    """Syncs nothing: a kill of the process loses nothing of it, and tests do not wait for a disk."""

    def fdatasync(self, fd: int) -> None:
        return

    def sync_filesystem(self, fd: int) -> None:
        return

    def sync_folder(self, path: str) -> None:
        return


class FaultyFiles(UnsyncedFiles):
    """Counts its calls, and fails the `fail_at`th; a failing write may leave half of the data."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fail_at = 0
        self.fails_from_then_on = False
        self.only = ""
        self.tears = False

    def fails(self, name: str) -> bool:
        """Note a call; whether it is to fail."""
        if self.only and name != self.only:
            return False
        self.calls.append(name)
        count = len(self.calls)
        return count == self.fail_at or (self.fails_from_then_on and 0 < self.fail_at < count)

    def fail_next(self, name: str, *, always: bool = False) -> None:
        """Fail the next call of one kind, or all from then on."""
        self.calls, self.only, self.fail_at, self.fails_from_then_on = [], name, 1, always


def _faulty(name: str) -> Callable[..., Any]:
    real = getattr(UnsyncedFiles, name)

    def call(self: FaultyFiles, *arguments: Any, **named: Any) -> Any:
        if self.fails(name):
            if name == "pwrite" and self.tears:
                fd, data, position = arguments
                real(self, fd, bytes(data)[: len(data) // 2], position)
            raise OSError(errno.ENOSPC, "no space left on the test's device")
        return real(self, *arguments, **named)

    return call


for _name in (
    "open",
    "pread",
    "pwrite",
    "ftruncate",
    "fdatasync",
    "sync_filesystem",
    "sync_folder",
    "rename",
    "unlink",
    "make_folder",
    "remove_folder",
    "list_folder",
):
    setattr(FaultyFiles, _name, _faulty(_name))


class Store:
    """A data folder with one partition, opened, closed and killed at will."""

    def __init__(self, path: Path, files: Files) -> None:
        self.path, self.files = path, files
        self.config = LogConfig()
        self.directory: LogDirectory | None = None

    @property
    def folder(self) -> Path:
        return self.path / str(TOPIC_PARTITION)

    def open(self, *, now_ms: int = NOW_MS) -> PartitionLog:
        self.directory = LogDirectory.open(self.path, node_id=1, files=self.files)
        return self.directory.open_log(TOPIC_PARTITION, TOPIC_ID, self.config, now_ms=now_ms)

    def stop(self, *, clean: bool = True) -> None:
        assert self.directory is not None
        self.directory.close(clean=clean)
        self.directory = None

    def kill(self) -> None:
        """Leave everything as it is, as a kill does."""
        self.stop(clean=False)

    def log_path(self, base_offset: int = 0) -> Path:
        return self.folder / f"{base_offset:020d}.log"


def apply_retention(log: PartitionLog, *, high_watermark: int, now_ms: int) -> list[str]:
    """Drop what is due, as the broker does but for its checkpoint; give the files that were set aside."""
    start = start_after_retention(log, high_watermark=high_watermark, now_ms=now_ms)
    if start == log.log_start_offset and not has_passed_segments(log):
        return []
    return log.delete_records_before(start)


def simple_batch(values: int = 1, *, size: int = 10, timestamp_ms: int = NOW_MS, **header: Any) -> bytearray:
    """A batch of records with values of one size and one timestamp."""
    return build_batch([Record(None, b"v" * size, timestamp_ms)] * values, **header)
