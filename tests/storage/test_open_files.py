"""Tests of storage.open_files."""

import errno
from pathlib import Path

import pytest

from wirekafka.storage.files import FILES, Files
from wirekafka.storage.open_files import OpenFiles


class FewDescriptors(Files):
    """Has so many descriptors and no more."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def open(self, path: str, *, create: bool = False, truncate: bool = False) -> int:
        if not self.left:
            raise OSError(errno.EMFILE, "too many open files")
        self.left -= 1
        return super().open(path, create=create, truncate=truncate)

    def close(self, fd: int) -> None:
        self.left += 1
        super().close(fd)


def test_a_file_is_opened_once(tmp_path: Path) -> None:
    """The second who asks gets the same."""
    open_files = OpenFiles(FILES)

    first = open_files.get(str(tmp_path / "a"), create=True)

    assert open_files.get(str(tmp_path / "a")) is first


def test_a_missing_file_is_not_made_unasked(tmp_path: Path) -> None:
    """FileNotFoundError tells what is gone."""
    with pytest.raises(FileNotFoundError):
        OpenFiles(FILES).get(str(tmp_path / "a"))


def test_the_least_used_is_closed_first(tmp_path: Path) -> None:
    """What was asked for last stays."""
    files = FewDescriptors(10)
    open_files = OpenFiles(files, limit=2)
    for name in "ab":
        open_files.get(str(tmp_path / name), create=True)
    kept = open_files.get(str(tmp_path / "a"))

    open_files.get(str(tmp_path / "c"), create=True)

    assert (files.left, len(open_files)) == (8, 2)
    assert open_files.get(str(tmp_path / "a")) is kept


def test_who_reads_a_file_may_read_on(tmp_path: Path) -> None:
    """A slice on its way to a client outlives the cache's hold, and the file's name."""
    open_files = OpenFiles(FILES, limit=1)
    reading = open_files.get(str(tmp_path / "a"), create=True)
    reading.write(b"bytes", 0)

    open_files.get(str(tmp_path / "b"), create=True)
    (tmp_path / "a").unlink()

    assert reading.read(5, 0) == b"bytes"


def test_a_forgotten_name_is_opened_anew(tmp_path: Path) -> None:
    """After a rename the name means another file."""
    open_files = OpenFiles(FILES)
    before = open_files.get(str(tmp_path / "a"), create=True)

    open_files.forget(str(tmp_path / "a"))

    assert open_files.get(str(tmp_path / "a")) is not before


def test_without_descriptors_others_are_closed_for_it(tmp_path: Path) -> None:
    """EMFILE costs the least used files their descriptors, not the caller its request."""
    files = FewDescriptors(3)
    open_files = OpenFiles(files)
    for name in "abc":
        open_files.get(str(tmp_path / name), create=True)

    open_files.get(str(tmp_path / "d"), create=True)

    assert len(open_files) == 1


def test_without_descriptors_and_nothing_to_close_the_error_is_told(tmp_path: Path) -> None:
    """There is nothing to give up."""
    with pytest.raises(OSError, match="too many"):
        OpenFiles(FewDescriptors(0)).get(str(tmp_path / "a"), create=True)
