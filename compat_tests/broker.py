"""A broker in a process of its own, on a port and a folder that outlive it.

Called by the fixture `restartable_broker`; runs the command given with --serve-command.
Source: none.
"""

from __future__ import annotations

import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

WIREKAFKA_COMMAND = f"{sys.executable} -m wirekafka serve --listen 127.0.0.1:{{port}} --data-dir {{data}}"
START_SECONDS = 60.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RestartableBroker:
    """A broker process that can be ended by a signal and started again on the same port and data."""

    def __init__(self, command: str, folder: Path) -> None:
        self._port = _free_port()
        self._log = folder / "broker.log"
        self._command = shlex.split(command.format(port=self._port, data=folder / "data"))
        self._process: subprocess.Popen[bytes] | None = None
        self.bootstrap = f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start the process and wait until it accepts connections."""
        with self._log.open("ab") as log:
            process = subprocess.Popen(self._command, stdout=log, stderr=log)
        self._process = process
        deadline = time.monotonic() + START_SECONDS
        while not self._accepts():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the broker did not start:\n{self._log.read_text()[-4000:]}")
            time.sleep(0.02)

    def _accepts(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
        except OSError:
            return False
        return True

    def restart(self, ending: signal.Signals) -> None:
        """End the process by this signal, wait until it is gone, and start it again."""
        self.stop(ending)
        self.start()

    def stop(self, ending: signal.Signals = signal.SIGTERM) -> None:
        """End the process by this signal and wait until it is gone."""
        if self._process is not None:
            self._process.send_signal(ending)
            self._process.wait(START_SECONDS)
            self._process = None
