"""A rival: what it is, what it lacks, and how a process of it is started, watched and ended.

Called by the rivals' own modules and by `rivals.start`.
"""

import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from instrument import processes

ROOT = Path(__file__).resolve().parents[2]
FETCHED = ROOT / "bench" / ".fetched"
"""Everything the benches fetch or build lies under this folder; git ignores it."""
START_SECONDS = 90.0
STOP_SECONDS = 30.0
_API_VERSIONS_V0 = struct.pack(">ihhih", 10, 18, 0, 1, -1)

Settings = Mapping[str, object]
"""By Kafka's names."""


class NotAvailable(Exception):
    """Why a rival cannot be run here, in one line."""


@dataclass(slots=True)
class RunningBroker:
    """A broker process that was started, and is ended, by the bench."""

    name: str
    bootstrap: str
    process: "subprocess.Popen[bytes]"
    exec_at: float
    """`time.perf_counter()` when it was executed."""
    said: Path
    """The file with all that it wrote to its standard output and error."""

    @property
    def process_id(self) -> int:
        return self.process.pid

    def cpu_seconds(self) -> float:
        return processes.cpu_seconds(self.process_id)

    def resident_mib(self) -> float:
        return processes.resident_mib(self.process_id)

    def stop(self, ending: signal.Signals = signal.SIGTERM) -> None:
        """End the process by its id and wait until it is gone."""
        if self.process.poll() is None:
            self.process.send_signal(ending)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass(frozen=True, slots=True)
class Rival:
    """One kind of broker."""

    name: str
    what: str
    """One line for the reader."""
    version: Callable[[], str]
    fetch: Callable[[], object]
    """Make sure that it is here; raises NotAvailable. Needs the machine's own network only the first time."""
    launch: Callable[[Path, Settings], RunningBroker]
    """Execute it on an empty folder; need not wait until it answers."""
    is_here: Callable[[], bool] = lambda: True
    """Whether nothing has to be fetched."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """What a question must not ask of it, and why. Some of: "topics" (made by an admin client, with as many
    partitions as wanted), "zstd", "groups", "settings", "keeping" (all that was written can be read) and
    "disk" (what was written outlives the process)."""


def execute(
    name: str, port: int, command: Sequence[str], folder: Path, environment: Mapping[str, str] = os.environ
) -> RunningBroker:
    """Start a process that will listen on the port; what it says goes into a file beside its data."""
    folder.mkdir(parents=True, exist_ok=True)
    said = folder / f"{name}.out"
    with said.open("ab") as out:
        exec_at = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=ROOT,
            env=environment,
        )
    return RunningBroker(name, f"127.0.0.1:{port}", process, exec_at, said)


def wait_until_it_answers(broker: RunningBroker) -> None:
    """Ask for ApiVersions until there is an answer. Raises NotAvailable if none comes."""
    deadline = broker.exec_at + START_SECONDS
    while not _answers(int(broker.bootstrap.rpartition(":")[2])):
        if broker.process.poll() is not None:
            last = broker.said.read_text(errors="replace").strip().rpartition("\n")[2]
            raise NotAvailable(f"{broker.name} ended with status {broker.process.returncode}: {last}")
        if time.perf_counter() > deadline:
            raise NotAvailable(f"{broker.name} did not answer within {START_SECONDS:.0f} s")
        time.sleep(0.002)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
            sock.sendall(_API_VERSIONS_V0)
            return len(sock.recv(4)) > 0
    except OSError:
        return False
