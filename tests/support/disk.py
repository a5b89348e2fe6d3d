"""A disk that a test slows, holds, breaks or fills: it stands before the calls of this process's brokers."""

import errno
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from wirekafka.storage import Files
from wirekafka.storage.disk.files import Data

WAIT_SECONDS = 10.0


class SlowDisk:
    """Counts syncs, and does with them what the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.syncs = 0
        self.seconds = 0.0
        """What each sync takes."""
        self.broken = False
        """Whether syncs fail."""
        self.full = False
        """Whether there is no space to write."""
        self.no_descriptors = False
        """Whether no file can be opened."""
        self._open = threading.Event()
        self._open.set()
        write, open_file = Files.pwrite, Files.open

        def pwrite(files: Files, fd: int, data: Data, position: int) -> int:
            if self.full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(files, fd, data, position)

        def open_if_possible(files: Files, path: str, **how: bool) -> int:
            if self.no_descriptors:
                raise OSError(errno.EMFILE, "Too many open files")
            return open_file(files, path, **how)

        monkeypatch.setattr(Files, "fdatasync", lambda files, fd: self._fdatasync())
        monkeypatch.setattr(Files, "pwrite", pwrite)
        monkeypatch.setattr(Files, "open", open_if_possible)

    def _fdatasync(self) -> None:
        self.syncs += 1
        time.sleep(self.seconds)
        assert self._open.wait(WAIT_SECONDS)
        if self.broken:
            raise OSError(errno.EIO, "Input/output error")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no sync end within the block."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    def wait_for_sync(self, count: int) -> None:
        """Return when that many syncs have begun."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.syncs < count:
            assert time.monotonic() < deadline, "no sync has begun"
            time.sleep(0.001)
