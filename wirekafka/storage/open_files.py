"""`OpenFiles`: the files of a data folder that are held open, the least used closed first.

Used by `segment`. A file that somebody still reads (a slice on its way to a client) stays open until they
let go of it, whatever happens here.

Source: ours; Kafka holds every segment's file open.
"""

import contextlib
import errno
from collections import OrderedDict

from wirekafka.storage.files import Files, OpenFile

DEFAULT_LIMIT = 4000
_NO_MORE_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_CLOSED_AT_ONCE_WHEN_SHORT = 16


class OpenFiles:
    """At most `limit` open files by path. May be used from several threads."""

    __slots__ = ("_files", "_limit", "_open")

    def __init__(self, files: Files, limit: int = DEFAULT_LIMIT) -> None:
        self._files = files
        self._limit = limit
        self._open: OrderedDict[str, OpenFile] = OrderedDict()

    def get(self, path: str, *, create: bool = False) -> OpenFile:
        """Give the open file, opening it if it is not. Raises OSError, FileNotFoundError unless `create`."""
        found = self._open.get(path)
        if found is None:
            found = self._open_file(path, create)
            self._open[path] = found
            while len(self._open) > self._limit:
                self._close_oldest()
        else:
            with contextlib.suppress(KeyError):  # another thread has closed it meanwhile; ours is open
                self._open.move_to_end(path)
        return found

    def forget(self, path: str) -> None:
        """Close a file, unless somebody reads it: its name is about to go, or to mean another file."""
        self._open.pop(path, None)

    def _open_file(self, path: str, create: bool) -> OpenFile:
        try:
            return OpenFile(self._files, path, create=create)
        except OSError as error:
            if error.errno not in _NO_MORE_DESCRIPTORS or not self._open:
                raise
        for _ in range(_CLOSED_AT_ONCE_WHEN_SHORT):
            self._close_oldest()
        return OpenFile(self._files, path, create=create)

    def _close_oldest(self) -> None:
        with contextlib.suppress(KeyError):  # another thread was first
            self._open.popitem(last=False)

    def __len__(self) -> int:
        return len(self._open)
