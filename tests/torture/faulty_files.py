"""`CountedFiles`: the operating system's calls, of which the n-th that writes fails or is the last.

Used by `scenarios` and the tests. What writes is everything but a list of calls that only read, so a
call that storage learns in future is counted without being named here.
"""

import errno
import os
from collections.abc import Callable
from enum import Enum
from typing import Any

from wirekafka.storage import Files

_READING = {
    "can_sync_filesystem",
    "close",
    "descriptor_limit",
    "drop_cache",
    "list_folder",
    "list_folders_in",
    "lock",
    "modified_ms",
    "open_folder",
    "pread",
    "process_id",
    "random_bytes",
    "size",
    "size_of",
}
_SYNCING = {"fdatasync", "sync_filesystem", "sync_folder"}


class Killed(BaseException):
    """The process is no more. Nothing may catch it, and no call after it reaches the disk."""


class Fault(Enum):
    """What befalls the call."""

    EIO = "the disk does not do it"
    ENOSPC = "there is no space for it"
    SHORT = "a write ends half way, and then there is no space"
    KILL = "the process dies before it"
    TORN_KILL = "the process dies half way through a write"


class CountedFiles(Files):
    """Counts the calls that write; the one in place `at` meets `fault`. Syncs reach no disk."""

    def __init__(self, fault: Fault | None = None, at: int = 0) -> None:
        self.fault, self.at = fault, at
        self.calls: list[str] = []
        self.killed = False
        self._descriptors: set[int] = set()

    @property
    def struck(self) -> bool:
        """Whether the call was reached that was to meet the fault."""
        return 0 < self.at <= len(self.calls)

    def let_go(self) -> None:
        """Close what is still open, as the end of a process does, the lock with it."""
        for fd in self._descriptors:
            os.close(fd)
        self._descriptors.clear()

    def _call(self, name: str, real: Callable[..., Any], arguments: Any, named: Any) -> Any:
        if self.killed:
            raise Killed
        if _writes(name, named):
            path = arguments[0] if isinstance(arguments[0], str) else ""
            self.calls.append(f"{name} {path}".strip())
            if len(self.calls) == self.at:
                self._strike(name, real, arguments)
        if name in _SYNCING:
            return None
        return real(self, *arguments, **named)

    def _strike(self, name: str, real: Callable[..., Any], arguments: Any) -> None:
        if name == "pwrite" and self.fault in (Fault.SHORT, Fault.TORN_KILL):
            fd, data, position = arguments
            real(self, fd, bytes(data)[: len(data) // 2], position)
        match self.fault:
            case Fault.KILL | Fault.TORN_KILL:
                self.killed = True
                raise Killed
            case Fault.EIO:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            case Fault.ENOSPC | Fault.SHORT:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open(self, path: str, *, create: bool = False, truncate: bool = False) -> int:
        fd: int = self._call("open", Files.open, (path,), {"create": create, "truncate": truncate})
        self._descriptors.add(fd)
        return fd

    def open_folder(self, path: str) -> int:
        fd: int = self._call("open_folder", Files.open_folder, (path,), {})
        self._descriptors.add(fd)
        return fd

    def close(self, fd: int) -> None:
        if fd in self._descriptors:
            self._descriptors.discard(fd)
            os.close(fd)


def _writes(name: str, named: dict[str, bool]) -> bool:
    if name == "open":
        return named["create"] or named["truncate"]
    return name not in _READING


def _counted(name: str) -> Callable[..., Any]:
    real = getattr(Files, name)

    def call(self: CountedFiles, *arguments: Any, **named: Any) -> Any:
        return self._call(name, real, arguments, named)

    return call


for _name in vars(Files):
    if not _name.startswith("_") and _name not in vars(CountedFiles):
        setattr(CountedFiles, _name, _counted(_name))
