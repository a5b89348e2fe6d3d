"""Tests of storage.folder.locking: one process has a data folder."""

import os
from pathlib import Path

import pytest

from tests.storage.support import FaultyFiles
from wirekafka.storage.disk.files import FILES
from wirekafka.storage.folder.locking import DataDirectoryInUse, take_lock


def test_a_second_holder_is_told_who_has_it(tmp_path: Path) -> None:
    """By the process id in the file; the lock goes with the object."""
    first = take_lock(FILES, str(tmp_path))

    with pytest.raises(DataDirectoryInUse, match=f"in use by process {os.getpid()}"):
        take_lock(FILES, str(tmp_path))
    del first
    assert take_lock(FILES, str(tmp_path)).read(20, 0) == f"{os.getpid()}\n".encode()


def test_a_lock_file_without_an_id_says_so(tmp_path: Path) -> None:
    """Kafka's own has none."""
    lock = take_lock(FILES, str(tmp_path))
    lock.truncate(0)

    with pytest.raises(DataDirectoryInUse, match="another process"):
        take_lock(FILES, str(tmp_path))


@pytest.mark.parametrize("call", ["ftruncate", "pwrite"])
def test_a_full_disk_keeps_nobody_from_the_lock(tmp_path: Path, faulty_files: FaultyFiles, call: str) -> None:
    """The process id is for people only."""
    faulty_files.fail_next(call)
    lock = take_lock(faulty_files, str(tmp_path))

    with pytest.raises(DataDirectoryInUse, match="another process"):
        take_lock(FILES, str(tmp_path))
    del lock
