"""One driver process: a request line out, a reply line in, within a deadline.

Called by `driver`; ended by closing its standard input, or by SIGKILL through its process id.
Source: DRIVERS.md beside this file.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

from compat_tests.clients.adapter import DEADLINE_SECONDS, BrokerError

# A driver gives up by itself after DEADLINE_SECONDS and says why; only one that hangs is waited for longer.
ANSWER_SECONDS = 2 * DEADLINE_SECONDS
STOP_SECONDS = 10.0
KEPT_LINES = 40


class DriverError(Exception):
    """A driver's report of a failure that is no broker's refusal, or its silence."""


class DriverProcess:
    """A running driver; one request at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self._replies: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._complaints: deque[str] = deque(maxlen=KEPT_LINES)
        self._number = 0
        self._threads = [
            self._reading(self._read_replies, self._process.stdout),
            self._reading(self._read_complaints, self._process.stderr),
        ]

    @staticmethod
    def _reading(read: Any, stream: IO[bytes] | None) -> threading.Thread:
        thread = threading.Thread(target=read, args=(stream,), name="driver", daemon=True)
        thread.start()
        return thread

    def _read_replies(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._replies.put(json.loads(line))
        self._replies.put(None)

    def _read_complaints(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._complaints.append(line.decode(errors="replace"))

    @property
    def is_alive(self) -> bool:
        """Tell whether the process still runs."""
        return self._process.poll() is None

    def ask(self, method: str, **fields: Any) -> Any:
        """Send one request and give what its reply holds.

        Raises BrokerError where the broker refused, DriverError where anything else failed. A driver that
        stays silent is killed: the next client of the session gets a new one.
        """
        self._number += 1
        request = json.dumps({"id": self._number, "method": method, **fields}) + "\n"
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            raise DriverError(f"{method}: the driver has ended")
        with contextlib.suppress(BrokenPipeError):  # a driver that died is reported by its missing reply
            stdin.write(request.encode())
            stdin.flush()
        reply = self._reply_to(method)
        if "error" not in reply:
            return reply["ok"]
        code, message = reply["error"]["code"], f"{method}: {reply['error']['message']}"
        if code is not None:
            raise BrokerError(code, message)
        raise DriverError(message)

    def _reply_to(self, method: str) -> dict[str, Any]:
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                reply = self._replies.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                self.kill()
                raise DriverError(self._told(f"{method} was not answered in {ANSWER_SECONDS:g} s")) from None
            if reply is None:
                self.kill()
                raise DriverError(self._told(f"{method}: the driver ended"))
            if reply["id"] == self._number:
                return reply

    def _told(self, what: str) -> str:
        return f"{what}; it told:\n{''.join(self._complaints)}"

    def close(self) -> None:
        """Close its standard input, at which a driver ends, and wait; harmless when repeated."""
        self._close_input()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._end()

    def kill(self) -> None:
        """End the process at once, without a farewell to any broker."""
        self._process.kill()
        self._close_input()
        self._end()

    def send_signal(self, number: signal.Signals) -> None:
        """Send the process a signal, such as that which stops it where it stands."""
        self._process.send_signal(number)

    def _close_input(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    def _end(self) -> None:
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


_shared: dict[tuple[str, ...], DriverProcess] = {}


def shared_driver(command: Sequence[str]) -> DriverProcess:
    """Give the one driver this run has for a command, starting it if there is none that lives."""
    key = tuple(command)
    driver = _shared.get(key)
    if driver is None or not driver.is_alive:
        driver = _shared[key] = DriverProcess(command)
        atexit.register(driver.close)
    return driver
