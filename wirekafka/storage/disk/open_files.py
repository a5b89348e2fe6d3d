"""`OpenFiles`: the files of a data folder that are held open, the least used closed first.

Shared by the segments of a data folder, by way of `disk`. A file that somebody still reads (a slice on its
way to a client) stays open until they let go of it, whatever happens here. To find a file costs one look
into a dict and a mark; which file is closed for another is found as a clock does it: one that was asked for
since the hand passed it last is passed over once.

A file may be closed here with bytes that are not on the disk yet, and their write-back may fail when nobody
has it open. Linux reports an error that nobody was told of to the first fsync of a descriptor opened later;
not so when another process asked first, nor when the kernel has forgotten the file, as it does under
pressure: then that fsync says that all is well (tests/torture/test_write_back.py shows both). So such files
are remembered in `closed_unsynced`, and `flushing` makes them last by a sync of the whole filesystem through
a descriptor that was open all the time, which is told of every error.

Source: ours (Kafka holds every segment open); Linux's Documentation/core-api/errseq and "errseq: Always
report a writeback error once" (commit b4678df184b3).
"""

import errno
import threading

from wirekafka.storage.disk.files import Files, OpenFile

_MOST = 4000
_NO_MORE_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_CLOSED_AT_ONCE_WHEN_SHORT = 16


class OpenFiles:
    """At most `limit` open files by path; 0: 4,000, or half of what the process may have open.

    May be used from several threads.
    """

    __slots__ = ("_files", "_lock", "_open", "closed_unsynced", "limit")

    def __init__(self, files: Files, limit: int = 0) -> None:
        self._files = files
        self.limit = limit or max(min(_MOST, files.descriptor_limit() // 2), 1)
        self._lock = threading.RLock()
        self._open: dict[str, OpenFile] = {}
        self.closed_unsynced: set[str] = set()
        """Paths of files that were closed after bytes were written to them and before those were synced."""

    def get(self, path: str, *, create: bool = False) -> OpenFile:
        """Give the open file, opening it if it is not. Raises OSError, FileNotFoundError unless `create`."""
        found = self._open.get(path)
        if found is not None:
            found.used = True
            return found
        with self._lock:
            found = self._open.get(path)
            if found is None:
                while len(self._open) >= self.limit:
                    self._close_one()
                found = self._open_file(path, create)
                self._open[path] = found
        return found

    def mark_synced(self) -> None:
        """Take note that all files are about to be synced."""
        for file in list(self._open.values()):
            file.written = False

    def forget(self, path: str) -> None:
        """Close a file, unless somebody reads it: its name is about to go, or to mean another file.

        What was written to it since the last sync is given up.
        """
        with self._lock:
            found = self._open.pop(path, None)
        if found is not None:
            found.written = False
        self.closed_unsynced.discard(path)

    def _open_file(self, path: str, create: bool) -> OpenFile:
        while True:
            try:
                return OpenFile(self._files, path, create=create, unsynced=self.closed_unsynced)
            except OSError as error:
                if error.errno not in _NO_MORE_DESCRIPTORS or not self._open:
                    raise
            for _ in range(min(_CLOSED_AT_ONCE_WHEN_SHORT, len(self._open))):
                self._close_one()

    def _close_one(self) -> None:
        while True:
            path = next(iter(self._open))
            file = self._open.pop(path)
            if not file.used:
                return
            file.used = False
            self._open[path] = file

    def __len__(self) -> int:
        return len(self._open)
