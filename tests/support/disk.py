"""A disk that a test slows, holds or breaks: it stands before every fdatasync of this process's brokers."""

import errno
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from wirekafka.storage import Files

WAIT_SECONDS = 10.0


class SlowDisk:
    """Counts syncs, and does with them what the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.syncs = 0
        self.seconds = 0.0
        """What each sync takes."""
        self.broken = False
        self._open = threading.Event()
        self._open.set()
        monkeypatch.setattr(Files, "fdatasync", lambda files, fd: self._fdatasync())

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
