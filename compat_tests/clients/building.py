"""Drivers built from their sources once, into the folder that git ignores.

Called by the adapters of drivers; runs Maven, npm or Go.
Source: none.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

FETCHED = Path(__file__).resolve().parent.parent / ".fetched"
BUILD_SECONDS = 900


class DriverMissing(Exception):
    """Why a driver cannot be built here, in one line."""


def missing_programs(programs: Iterable[str]) -> str | None:
    """Say in one line which of these programs are not on the PATH; None when all are."""
    lacks = [program for program in programs if shutil.which(program) is None]
    return f"{' and '.join(lacks)} not found" if lacks else None


def built(name: str, sources: Sequence[Path], build: Callable[[Path], None]) -> Path:
    """Give the folder .fetched/NAME, built anew by `build(folder)` when a source changed.

    Workers of one test run wait for each other. A build that raises DriverMissing is tried again next time.
    """
    folder = FETCHED / name
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = folder / ".built"
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != digest:
            build(folder)
            stamp.write_text(digest)
    return folder


def run_build(command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run one command of a build in `folder`. Raises DriverMissing with what it says of a failure."""
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise DriverMissing(f"{command[0]} did not end in {BUILD_SECONDS} s") from None
    if result.returncode:
        raise DriverMissing(f"{command[0]} failed: {_complaint(result.stdout)}")


def _complaint(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # A line that ends with a colon only announces the error.
    errors = [line for line in lines if "error" in line.lower() and not line.endswith(":")]
    return [*errors, *lines[-1:], "without a word"][0]
