"""What a process uses, and where it runs: read from /proc, so on Linux. Called by questions and rivals.

Clients and servers are pinned to two processors where a question asks for it: left to itself the scheduler
now and then puts both on one, which halves a figure by chance.
"""

import os
import socket
import threading
import time
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
    own = [time.clock_gettime(~pid << 3 | _CPU_CLOCK_OF_PROCESS) for pid in _with_children(process_id)]
    return sum(own) + _seconds_of_children_gone(process_id)


def _seconds_of_children_gone(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def loop_seconds(process_id: int) -> float:
    """What the first thread of a process, which has the event loop, has used of a processor so far."""
    return int(Path(f"/proc/{process_id}/schedstat").read_text().split()[0]) / 1e9


def resident_mib(process_id: int) -> float:
    """What a process and all its children hold in memory (RSS): what two share is counted twice."""
    return sum(_resident_mib(pid) for pid in _with_children(process_id))


def _resident_mib(process_id: int) -> float:
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0  # it has just ended


def _with_children(process_id: int) -> list[int]:
    """The process, its children and theirs."""
    found = [process_id]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
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
            except FileNotFoundError:
                return  # the process has ended
            if self._ended.wait(self._every_seconds):
                return
