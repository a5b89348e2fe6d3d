"""Tests of storage.disk."""

from pathlib import Path

from wirekafka.storage.disk import Disk
from wirekafka.storage.files import FILES


def test_a_disk_holds_as_many_files_open_as_it_was_told(tmp_path: Path) -> None:
    """The limit is handed on."""
    disk = Disk.on(FILES, open_files=2)

    for name in "abc":
        disk.open_files.get(str(tmp_path / name), create=True)

    assert len(disk.open_files) == 2
