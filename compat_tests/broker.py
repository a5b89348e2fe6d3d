"""A broker in a process of its own, on a port and a folder that outlive it.

Called by the fixture `restartable_broker`; runs the command given with --serve-command, or Apache Kafka.
Source: none.
"""

from __future__ import annotations

import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from compat_tests.apache_kafka.node import free_port, start_node

WIREKAFKA_COMMAND = f"{sys.executable} -m wirekafka serve --listen 127.0.0.1:{{port}} --data-dir {{data}}"
START_SECONDS = 60.0
APACHE_KAFKA_SETTINGS = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
"""The controller takes a killed broker back when its old session is over, which is 9 s by default."""


class RestartableBroker:
    """A broker process that can be ended by a signal and started again on the same port and data."""

    def __init__(self, bootstrap: str, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self.bootstrap = bootstrap
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process and wait until it takes requests."""
        self._process = self._start()

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


def broker_of_command(command: str, folder: Path) -> RestartableBroker:
    """Give the broker that a command with {port} and {data} runs in the foreground."""
    port = free_port()
    arguments = shlex.split(command.format(port=port, data=folder / "data"))

    def start() -> subprocess.Popen[bytes]:
        log_file = folder / "broker.log"
        with log_file.open("ab") as log:
            process = subprocess.Popen(arguments, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not _accepts(port):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise RuntimeError(f"the broker did not start:\n{log_file.read_text()[-4000:]}")
            time.sleep(0.02)
        return process

    return RestartableBroker(f"127.0.0.1:{port}", start)


def broker_of_apache_kafka(folder: Path, settings: Mapping[str, str]) -> RestartableBroker:
    """Give an Apache Kafka node whose data stay in `folder`. Starting it may raise NotAvailable."""
    port = free_port()
    together = {**settings, **APACHE_KAFKA_SETTINGS}
    return RestartableBroker(f"127.0.0.1:{port}", lambda: start_node(folder, together, port=port).process)


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
