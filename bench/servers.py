"""Server processes: started, pinned, asked what they cost, stopped.

Clients and servers are pinned to two processors where there are two: left to itself the scheduler now
and then puts both on one, which halves a figure by chance.
"""

import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
"""Those we may run on, as it was at the start."""
HERE = Path(__file__).resolve().parent
_CLIENTS, _SERVERS = 0, 1


def pin(process_id: int, place: int) -> None:
    """Keep a process on one processor, where there are at least two."""
    if len(PROCESSORS) > 1:
        os.sched_setaffinity(process_id, {PROCESSORS[place]})


def pin_this_process() -> None:
    pin(0, _CLIENTS)


class Server:
    """A server process that prints its port on its first line that has one.

    With `open_files` it may have no more descriptors than that.
    """

    def __init__(
        self,
        *command: str,
        pinned: bool = True,
        open_files: int | None = None,
        folder: Path | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        )
        if pinned:
            pin(self.process.pid, _SERVERS)
        if open_files is not None:
            resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (open_files, open_files))
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "127.0.0.1:" in line:
                self.port = int(line.split("127.0.0.1:")[1].split()[0].rstrip(","))
                return
        self.process.wait()
        raise RuntimeError(f"{command} did not start")

    def connect(self) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def cpu_seconds(self) -> float:
        """What its first thread, which has the event loop, has used of a processor so far."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9

    def resident_mib(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no VmRSS in /proc")

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def broker_process_id(self) -> int:
        return self.process.pid

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash does: it writes nothing more."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def processor_seconds(process_id: int) -> float:
    """What all threads of a process have used of processors so far."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_broker(
    folder: Path,
    settings: Mapping[str, object] | None = None,
    *,
    pinned: bool = True,
    open_files: int | None = None,
) -> Server:
    """A broker on a port of the system's choice, with its data under `folder`."""
    words = ["-m", "wirekafka", "serve", "--listen", "127.0.0.1:0", "--data-dir", str(folder)]
    for name, value in {"message.max.bytes": 20_000_000, **(settings or {})}.items():
        words += ["--set", f"{name}={value}"]
    return Server(*words, pinned=pinned, open_files=open_files)


def start_bare(folder: Path, *options: str) -> Server:
    """The bare server, with its files under `folder`."""
    return Server(str(HERE / "bare_server.py"), str(folder), *options)
