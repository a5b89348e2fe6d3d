"""The one Java class of the clients (`Again.java`), compiled once. Called by `fleet` and `by_perf_test`."""

import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("Again.java")
_CLASSES = _SOURCE.parents[1] / ".fetched" / "classes"
"""Which git ignores."""
MAIN_CLASS = "Again"


def compiled() -> Path:
    """Give the folder with the class, compiling it first if need be."""
    made = _CLASSES / f"{MAIN_CLASS}.class"
    if not made.exists() or made.stat().st_mtime < _SOURCE.stat().st_mtime:
        subprocess.run(["javac", "-d", str(_CLASSES), str(_SOURCE)], check=True)
    return _CLASSES
