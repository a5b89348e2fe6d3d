"""Fixtures of the storage tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.support import FaultyFiles, Store, UnsyncedFiles


@pytest.fixture
def faulty_files() -> FaultyFiles:
    """Files that fail on demand."""
    return FaultyFiles()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A data folder with one partition."""
    store = Store(tmp_path / "data", UnsyncedFiles())
    yield store
    if store.directory is not None:
        store.directory.close(clean=False)


@pytest.fixture
def faulty_store(tmp_path: Path, faulty_files: FaultyFiles) -> Iterator[Store]:
    """A data folder on files that fail on demand."""
    store = Store(tmp_path / "data", faulty_files)
    yield store
    if store.directory is not None:
        store.directory.close(clean=False)
