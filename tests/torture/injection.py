"""`Injected`: strace lets one system call of a real broker fail, or be the last, and the load goes on.

A death for `Campaign`: which call, which of them and what becomes of it is drawn anew for each life. Needs
strace and the right to trace.
"""

import random
import shutil
import subprocess
import time

from tests.torture.load import Load
from tests.torture.process import BrokerProcess

CALLS = ("pwrite64", "fdatasync", "fsync", "syncfs", "rename", "unlink", "ftruncate", "mkdir")
"""What storage's files come down to; none of them is a socket's."""
OUTCOMES = ("signal=SIGKILL", "error=EIO", "error=ENOSPC")
_LATEST = {"pwrite64": 400, "fdatasync": 60, "fsync": 60, "rename": 40}
_LATEST_OF_OTHERS = 20
_LONGEST_LIFE_SECONDS = 1.5
_POLL_SECONDS = 0.02


def not_possible() -> str:
    """Why nothing can be injected here; empty if it can."""
    if shutil.which("strace") is None:
        return "needs strace"
    traced = subprocess.run([*_under("fsync", OUTCOMES[1], 1), "true"], capture_output=True)
    return "needs the right to trace processes" if traced.returncode else ""


def _under(call: str, outcome: str, when: int) -> list[str]:
    """The command to put before another, which keeps its process id: the tracer is a grandchild."""
    what = ["-e", f"trace={call}", "-e", f"inject={call}:{outcome}:when={when}"]
    return ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", *what]


class Injected:
    """A death for `Campaign`, or none: after an error the broker goes on until it is killed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.drawn: list[str] = []
        """What each life was given, for the report."""

    def strike(self, broker: BrokerProcess, load: Load) -> None:
        end = time.monotonic() + _LONGEST_LIFE_SECONDS
        while broker.alive and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)
        broker.kill()
        call, outcome = self._random.choice(CALLS), self._random.choice(OUTCOMES)
        when = self._random.randint(1, _LATEST.get(call, _LATEST_OF_OTHERS))
        broker.prefix = _under(call, outcome, when)
        self.drawn.append(f"{call}:{outcome}:when={when}")


def failing_sync(when: int) -> list[str]:
    """The command to put before a broker whose `when`th fdatasync tells of an error, and none after it."""
    return _under("fdatasync", "error=EIO", when)
