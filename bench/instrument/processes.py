"""What a process uses, and where it runs: read from /proc, so on Linux. Called by questions and rivals.

Clients and servers are pinned to two processors where a question asks for it: left to itself the scheduler
now and then puts both on one, which halves a figure by chance.
"""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
"""Those we may run on, as it was at the start."""
CLIENTS, SERVERS = 0, 1
"""Places to be pinned to."""
_CPU_CLOCK_OF_PROCESS = 2


def pin(process_id: int, place: int) -> None:
    """Keep a process on one processor, where there are at least two. 0 is this process."""
    if len(PROCESSORS) > 1:
        os.sched_setaffinity(process_id, {PROCESSORS[place % len(PROCESSORS)]})


def pin_this_process() -> None:
    pin(0, CLIENTS)


def cpu_seconds(process_id: int) -> float:
    """What a process, all its threads and all its children have used of processors so far."""
    return _with_children(process_id, _cpu_seconds) + _seconds_of_children_gone(process_id)


def _cpu_seconds(process_id: int) -> float:
    return time.clock_gettime(~process_id << 3 | _CPU_CLOCK_OF_PROCESS)


def _seconds_of_children_gone(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def loop_seconds(process_id: int) -> float:
    """What the first thread of a process, which has the event loop, has used of a processor so far."""
    return int(Path(f"/proc/{process_id}/schedstat").read_text().split()[0]) / 1e9


def thread_seconds(process_id: int) -> dict[int, float]:
    """What each thread of a process has used of processors so far, by its id."""
    found: dict[int, float] = {}
    for task in Path(f"/proc/{process_id}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has ended in the meantime
            found[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


def busiest_seconds(before: Mapping[int, float], after: Mapping[int, float]) -> float:
    """The most that one thread used between two looks, of those that are still there."""
    return max(seconds - before.get(thread, 0.0) for thread, seconds in after.items())


def resident_mib(process_id: int) -> float:
    """What a process and all its children hold in memory (RSS): what two share is counted twice."""
    return _with_children(process_id, _resident_mib)


def _resident_mib(process_id: int) -> float:
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0  # it has just ended


def _with_children(process_id: int, read: Callable[[int], float]) -> float:
    """The sum over a process, its children and theirs. Raises OSError when the process itself is gone."""
    total = read(process_id)
    waiting = _children(process_id)
    while waiting:
        child = waiting.pop()
        with contextlib.suppress(OSError):  # it has ended in the meantime
            total += read(child)
        waiting += _children(child)
    return total


def _children(process_id: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{process_id}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has ended in the meantime
            found += map(int, task.read_text().split())
    return found


def open_files(process_id: int) -> int:
    return len(os.listdir(f"/proc/{process_id}/fd"))


def free_port() -> int:
    """A port of 127.0.0.1 that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class MemoryOverTime:
    """Looks at a process's memory for as long as the block lasts. `samples` are seconds and MiB."""

    def __init__(self, process_id: int, *, every_seconds: float = 0.25) -> None:
        self.samples: list[tuple[float, float]] = []
        self._process_id = process_id
        self._every_seconds = every_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "MemoryOverTime":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        begun = time.perf_counter()
        while True:
            try:
                self.samples.append((time.perf_counter() - begun, resident_mib(self._process_id)))
            except OSError:
                return  # the process has ended
            if self._ended.wait(self._every_seconds):
                return
