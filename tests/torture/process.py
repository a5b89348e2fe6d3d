"""`BrokerProcess`: a real `wirekafka serve`, started, killed, frozen and measured from outside.

Used by every part that judges whole processes. It keeps its port over restarts, as a broker does.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.metadata import MetadataRequest

HOST = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 60.0
_POLL_SECONDS = 0.005


class DidNotStart(Exception):
    """The broker ended, or did not answer in time; the text has the end of its log."""


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.create_server((HOST, 0)) as server:
        port: int = server.getsockname()[1]
        return port


class BrokerProcess:
    """A broker on one data folder and one port. Used as a context manager: nothing outlives it."""

    def __init__(
        self,
        data_dir: Path,
        log_path: Path,
        *,
        settings: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        port: int | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.log_path = log_path
        self.settings = dict(settings or {})
        self.prefix = list(prefix)
        """What the command is run under, such as strace; it has to leave the process id the broker's."""
        self.port = free_port() if port is None else port
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def process_id(self) -> int:
        assert self._popen is not None
        return self._popen.pid

    @property
    def alive(self) -> bool:
        return self._popen is not None and self._popen.poll() is None

    def __enter__(self) -> "BrokerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def exec(self) -> None:
        """Begin to start; `wait_until_ready` says when it has."""
        assert not self.alive
        command = [*self.prefix, sys.executable, "-m", "wirekafka", "serve"]
        command += ["--data-dir", str(self.data_dir), "--listen", self.bootstrap]
        for name, value in self.settings.items():
            command += ["--set", f"{name}={value}"]
        with self.log_path.open("ab") as log:
            self._popen = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        self._exec_at = time.perf_counter()

    def wait_until_ready(self, seconds: float = START_SECONDS) -> float:
        """Wait until it answers Metadata; give the seconds since `exec`. Raises DidNotStart."""
        while not self._answers():
            waited = time.perf_counter() - self._exec_at
            if not self.alive or waited > seconds:
                raise DidNotStart(f"no answer after {waited:.1f} s; its log ends:\n{self.log_end()}")
            time.sleep(_POLL_SECONDS)
        return time.perf_counter() - self._exec_at

    def _answers(self) -> bool:
        try:
            with RawClient(self.bootstrap) as raw:
                raw.ask(MetadataRequest(topics=[]), 12)
        except OSError:
            return False
        return True

    def start(self) -> float:
        """Start, and give the seconds until it answered. Raises DidNotStart."""
        self.exec()
        return self.wait_until_ready()

    def kill(self) -> None:
        """kill -9, and wait for the end."""
        if self._popen is not None:
            self._popen.kill()
            self._popen.wait()

    def stop(self) -> int:
        """SIGTERM; give the exit status. Raises subprocess.TimeoutExpired."""
        assert self._popen is not None
        self._popen.terminate()
        return self._popen.wait(STOP_SECONDS)

    def wait(self, seconds: float) -> int:
        """Wait for an end that something else brings about. Raises subprocess.TimeoutExpired."""
        assert self._popen is not None
        return self._popen.wait(seconds)

    def freeze(self) -> None:
        """Stop it where it is, and wait until every thread of it has stopped.

        A thread inside a system call ends that first, and is not let return.
        """
        os.kill(self.process_id, signal.SIGSTOP)
        while any(state not in "TtZX" for state in self._thread_states()):
            time.sleep(_POLL_SECONDS)

    def _thread_states(self) -> list[str]:
        tasks = Path(f"/proc/{self.process_id}/task")
        stats = [(task / "stat").read_text() for task in tasks.iterdir()]
        return [stat.rpartition(")")[2].split()[0] for stat in stats]

    def cpu_seconds(self) -> float:
        """Processor time it has used so far, of all its threads."""
        stat = Path(f"/proc/{self.process_id}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def open_descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process_id}/fd"))

    def log(self) -> str:
        """All that it, and its forerunners on this log, wrote to standard error."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_end(self) -> str:
        return "\n".join(self.log().splitlines()[-25:])
