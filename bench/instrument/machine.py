"""The machine, and the versions of what runs on it. Written into every result."""

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from instrument.processes import PROCESSORS

_PACKAGES = (
    "trio",
    "crc32c",
    "cramjam",
    "construct",
    "confluent-kafka",
    "kafka-python",
    "aiokafka",
    "pika",
    "stomp.py",
)


def describe() -> dict[str, str]:
    """What a reader has to know of the machine, by name; what is not there is left out."""
    return {name: value for name, value in _lines() if value}


def _lines() -> Iterator[tuple[str, str]]:
    yield "processors", f"{len(PROCESSORS)} of {_after('/proc/cpuinfo', 'model name')}"
    yield "memory", f"{int(_after('/proc/meminfo', 'MemTotal').split()[0]) / 1024 / 1024:.1f} GiB"
    yield "kernel", f"{platform.system()} {platform.release()}"
    yield "Python", platform.python_version()
    for package in _PACKAGES:
        yield package, _version(package)
    yield "librdkafka", _librdkafka()
    yield "Java", _java()


def _after(path: str, name: str) -> str:
    found = re.search(rf"^{name}\s*:\s*(.+)$", Path(path).read_text(), re.MULTILINE)
    return found[1] if found else "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _librdkafka() -> str:
    try:
        from confluent_kafka import libversion
    except ImportError:
        return ""
    return str(libversion()[0])


def _java() -> str:
    if shutil.which("java") is None:
        return ""
    said = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "([^"]+)"', said)
    return found[1] if found else ""
