"""Tests of storage.set_aside."""

from pathlib import Path

from wirekafka.storage.files import FILES
from wirekafka.storage.set_aside import set_aside, unlink_set_aside


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
