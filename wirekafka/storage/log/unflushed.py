"""`Unflushed`: what of one log may not be on the disk yet.

Owned by `log`, whose thread says what it has written; `flushing` takes it from there, in another thread. What
is kept in memory only, the leader epochs and the indexes of sealed segments, is written when a flush begins.

Source: Kafka's LocalLog (recoveryPoint, unflushedMessages, flush) and UnifiedLog.flush.
"""

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wirekafka.storage.disk.checkpoints import LEADER_EPOCHS, PARTITION_METADATA, encode_epochs
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import Files, replace_file, sync_file, sync_names
from wirekafka.storage.log.epochs import LeaderEpochs
from wirekafka.storage.segments.segment import Segment
from wirekafka.storage.segments.segments import Segments

NOTHING_SINCE = -1


class FlushedLog(Protocol):
    """What a flush that is under way asks of its log."""

    closed: bool

    def has_segment(self, segment: Segment) -> bool:
        """Whether the log is open and the segment is still one of it."""


@dataclass(slots=True, kw_only=True)
class Flush:
    """What one log has to have made last, as of the moment when it was asked."""

    end_offset: int
    since_ms: int
    segments: list[Segment]
    files: list[str]
    folders: list[str]

    def is_closed_unsynced(self, paths: set[str]) -> bool:
        """Whether the log was written through a descriptor that is closed by now."""
        return bool(paths) and any(segment.path in paths for segment in self.segments)

    def sync(self, files: Files, log: FlushedLog) -> None:
        """Sync file by file. What was removed meanwhile needs none. Raises SyncFailed, OSError."""
        for segment in self.segments:
            try:
                segment.file.sync()
            except FileNotFoundError:
                if log.has_segment(segment):
                    raise
        for path in self.files:
            with contextlib.suppress(FileNotFoundError):
                sync_file(files, path)
        for path in self.folders:
            try:
                sync_names(files, path)
            except FileNotFoundError:
                if not log.closed:
                    raise


class Unflushed:
    """The recovery point, and what was written beside the segments and not synced."""

    __slots__ = (
        "_disk",
        "_epochs",
        "_files",
        "_folder",
        "_folders",
        "_writing",
        "recovery_point",
        "since_ms",
    )

    def __init__(self, disk: Disk, folder: str, epochs: LeaderEpochs, *, recovery_point: int) -> None:
        self._disk = disk
        self._folder = folder
        self._epochs = epochs
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._writing = threading.Lock()
        self.recovery_point = recovery_point
        self.since_ms = NOTHING_SINCE
        """When the first append was that no flush has begun for since."""

    def add_new_folder(self) -> None:
        """Say that the folder itself is new."""
        self._files.add(f"{self._folder}/{PARTITION_METADATA}")
        self._folders.update((self._folder, self._folder.rpartition("/")[0]))

    def add_files(self, paths: Sequence[str]) -> None:
        """Say that files of the folder were written that may be new."""
        self._files.update(paths)
        self._folders.add(self._folder)

    def write_epochs(self) -> None:
        """Write the leader epochs if their file lags behind; it does not when this returns. Raises OSError.

        Called by the flush's thread and by the event loop, which then wait for each other.
        """
        with self._writing:
            if not self._epochs.dirty:
                return
            self._epochs.dirty = False  # first: an epoch assigned meanwhile may not be in the file
            path = f"{self._folder}/{LEADER_EPOCHS}"
            try:
                replace_file(self._disk.files, path, encode_epochs(self._epochs.entries()), sync=False)
            except OSError:
                self._epochs.dirty = True
                raise
            self.add_files([path])

    def take_since_ms(self) -> int:
        """Begin to wait for the next append; to be called before the log's end is read for a flush."""
        since_ms, self.since_ms = self.since_ms, NOTHING_SINCE
        return since_ms

    def begin(self, end_offset: int, segments: Segments, since_ms: int) -> Flush | None:
        """Write what is kept in memory only, and say what is to be synced; None when nothing is.

        Raises OSError.
        """
        try:
            return self._begin(end_offset, segments, since_ms)
        except OSError:
            self.since_ms = since_ms
            raise

    def _begin(self, end_offset: int, segments: Segments, since_ms: int) -> Flush | None:
        if end_offset <= self.recovery_point and not (self._epochs.dirty or self._files or self._folders):
            return None
        all_segments = segments.all()  # as they are at one moment: the log may roll beside this
        unflushed = [segment for segment in all_segments if segment.next_offset > self.recovery_point]
        for sealed in unflushed:
            if sealed is not all_segments[-1]:
                sealed.write_indexes(final=True)
                self.add_files(sealed.index_paths())
        self.write_epochs()
        return Flush(
            end_offset=end_offset,
            since_ms=since_ms,
            segments=unflushed,
            files=_emptied(self._files),
            folders=_emptied(self._folders),
        )

    def end(self, flush: Flush) -> None:
        """Take note that all of it lasts."""
        self.recovery_point = max(flush.end_offset, self.recovery_point)

    def give_up(self, flush: Flush) -> None:
        """Take note that it does not, and is to be flushed again."""
        self._files.update(flush.files)
        self._folders.update(flush.folders)
        self.since_ms = flush.since_ms


def _emptied(paths: set[str]) -> list[str]:
    # One by one: what another thread adds meanwhile is taken or stays, and is never lost.
    taken = []
    while paths:
        taken.append(paths.pop())
    return taken
