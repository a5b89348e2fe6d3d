"""Apache Kafka's jars: fetched once with Maven into a folder that git ignores.

Called by `node`, and by whoever runs Kafka's own tools or the Java driver.
Source: pom.xml beside this file.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FETCHED = HERE.parent / ".fetched"
"""Everything the suite fetches lies under this folder."""
LIBRARY = FETCHED / "kafka-4.4.0"
FETCH_SECONDS = 900


class NotAvailable(Exception):
    """Why Apache Kafka cannot be run here, in one line."""


def missing_tools() -> str | None:
    """Say in one line what this machine lacks to run Apache Kafka; None when nothing."""
    lacks = [name for name in ("java", "mvn") if shutil.which(name) is None]
    return f"no Apache Kafka here: {' and '.join(lacks)} not found" if lacks else None


def fetch() -> Path:
    """Give the folder with the jars, fetching them if they are not there. Raises NotAvailable."""
    if (reason := missing_tools()) is not None:
        raise NotAvailable(reason)
    LIBRARY.mkdir(parents=True, exist_ok=True)
    # Of runs that begin together one fetches, and the others wait.
    with (LIBRARY / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (LIBRARY / ".complete").exists():
            _copy_dependencies()
    return LIBRARY


def _copy_dependencies() -> None:
    command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies"]
    result = subprocess.run(
        [*command, f"-DoutputDirectory={LIBRARY}"], capture_output=True, text=True, timeout=FETCH_SECONDS
    )
    if result.returncode:
        raise NotAvailable(f"no Apache Kafka here: Maven failed: {_last_line(result.stdout)}")
    (LIBRARY / ".complete").touch()


def class_path() -> str:
    """Give what `java -cp` takes. Raises NotAvailable."""
    return f"{fetch()}/*"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "without a word"
