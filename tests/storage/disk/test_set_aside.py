"""Tests of storage.disk.set_aside."""

from pathlib import Path

import pytest

from wirekafka.storage.disk.files import FILES, Files
from wirekafka.storage.disk.set_aside import set_aside, unlink_set_aside


def test_what_is_there_gets_another_name(tmp_path: Path) -> None:
    """What is not there is passed over: a segment has no transaction index most of the time."""
    (tmp_path / "a.log").write_bytes(b"a")

    renamed = set_aside(FILES, [str(tmp_path / "a.log"), str(tmp_path / "a.txnindex")])

    assert renamed == [str(tmp_path / "a.log.deleted")]
    assert [path.name for path in tmp_path.iterdir()] == ["a.log.deleted"]


def test_unlinking_twice_is_unlinking_once(tmp_path: Path) -> None:
    """Two cleanings in a row set the same name aside."""
    (tmp_path / "a.log.deleted").write_bytes(b"a")

    for _ in range(2):
        unlink_set_aside(FILES, [str(tmp_path / "a.log.deleted")])

    assert list(tmp_path.iterdir()) == []


class Failing(Files):
    """Refuses one path."""

    def __init__(self, refused: str) -> None:
        self._refused = refused

    def rename(self, old: str, new: str) -> None:
        self._check(old)
        super().rename(old, new)

    def unlink(self, path: str) -> None:
        self._check(path)
        super().unlink(path)

    def _check(self, path: str) -> None:
        if path.endswith(self._refused):
            raise OSError(28, "No space left on device")


def test_all_are_set_aside_or_none(tmp_path: Path) -> None:
    """Half a segment is none: it stays in the log, with its batches."""
    for name in ("a.log", "a.index", "a.timeindex"):
        (tmp_path / name).write_bytes(name.encode())

    with pytest.raises(OSError, match="No space"):
        set_aside(
            Failing(".timeindex"), [str(tmp_path / name) for name in ("a.log", "a.index", "a.timeindex")]
        )

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        name: name for name in ("a.log", "a.index", "a.timeindex")
    }


def test_a_file_that_cannot_be_unlinked_keeps_no_other(tmp_path: Path) -> None:
    """It is told when the others are gone."""
    paths = [tmp_path / f"{name}.deleted" for name in "abc"]
    for path in paths:
        path.write_bytes(b"")

    with pytest.raises(OSError, match="No space"):
        unlink_set_aside(Failing("b.deleted"), [str(path) for path in paths])

    assert list(tmp_path.iterdir()) == [paths[1]]
