"""Tests of storage.segments.index_file."""

from pathlib import Path

from tests.storage.support import FaultyFiles
from wirekafka.storage.segments.index_file import write_index


class Letters:
    """An index whose entries are one letter each."""

    def __init__(self, letters: str) -> None:
        self.letters = letters

    def __len__(self) -> int:
        return len(self.letters)

    def encode(self, first_entry: int = 0) -> bytes:
        return self.letters[first_entry:].encode()


def test_only_what_the_file_lacks_is_written(tmp_path: Path) -> None:
    """Behind what it has."""
    path = tmp_path / "i"
    path.write_bytes(b"ab")

    assert write_index(FaultyFiles(), str(path), Letters("xyz"), entry_bytes=1, written=2) == 3

    assert path.read_bytes() == b"abz"


def test_a_file_that_lacks_nothing_is_not_opened(tmp_path: Path) -> None:
    """There are thousands of them."""
    files = FaultyFiles()

    assert write_index(files, str(tmp_path / "i"), Letters("xyz"), entry_bytes=1, written=3) == 3

    assert files.calls == []


def test_an_index_that_is_made_anew_replaces_the_file(tmp_path: Path) -> None:
    """Also by nothing."""
    path = tmp_path / "i"
    path.write_bytes(b"abcdef")

    write_index(FaultyFiles(), str(path), Letters("xyz"), entry_bytes=1, written=None)
    assert path.read_bytes() == b"xyz"
    write_index(FaultyFiles(), str(path), Letters(""), entry_bytes=1, written=None)
    assert path.read_bytes() == b""
