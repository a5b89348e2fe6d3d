"""Server processes: started, pinned, asked what they cost, stopped.

Called by the questions that look at one broker closely or at a bare server; `rivals` start brokers side by
side.
"""

import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from instrument import processes

HERE = Path(__file__).resolve().parent


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
            processes.pin(self.process.pid, processes.SERVERS)
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
        return processes.loop_seconds(self.process.pid)

    def resident_mib(self) -> float:
        return processes.resident_mib(self.process.pid)

    def open_files(self) -> int:
        return processes.open_files(self.process.pid)

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
