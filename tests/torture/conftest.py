"""Fixtures of the judge of durability."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder in memory where there is such a place: ten thousand of them are no matter for a disk."""
    path = MEMORY / f"wirekafka-{random.SystemRandom().randrange(10**12)}"
    yield path if MEMORY.is_dir() else tmp_path / "data"
    shutil.rmtree(path, ignore_errors=True)
