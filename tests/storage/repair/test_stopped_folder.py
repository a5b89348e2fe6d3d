"""Tests of storage.stopped_folder: a data folder without its broker."""

from pathlib import Path

import pytest

from tests.storage.damaging import filled, flip
from tests.storage.support import TOPIC_PARTITION, Store
from wirekafka.storage import DataDirectoryInUse
from wirekafka.storage.repair import stopped_folder


def test_a_folder_in_use_is_not_taken(store: Store) -> None:
    """Only to be read, when that is asked for."""
    filled(store)
    store.open()

    with pytest.raises(DataDirectoryInUse), stopped_folder(store.path, files=store.files):
        pass
    with stopped_folder(store.path, files=store.files, live=True) as folder:
        assert folder.verify(TOPIC_PARTITION).findings == []


def test_no_broker_starts_meanwhile(store: Store) -> None:
    """The lock is the broker's own, and is let go of."""
    filled(store)
    with stopped_folder(store.path, files=store.files), pytest.raises(DataDirectoryInUse):
        store.open()

    assert store.open().log_end_offset == 40


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A slip of the pen is no new data folder."""
    with pytest.raises(FileNotFoundError), stopped_folder(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()


def test_partitions_are_those_with_a_folder(store: Store) -> None:
    """Others are passed over."""
    filled(store)
    (store.path / "lost+found").mkdir()

    with stopped_folder(store.path, files=store.files) as folder:
        assert folder.partitions() == [TOPIC_PARTITION]


def test_the_checkpoints_follow_a_repair(store: Store) -> None:
    """The next start trusts them: what was given up is not missed."""
    filled(store)
    flip(store.log_path(), 30)
    with stopped_folder(store.path, files=store.files) as folder:
        folder.truncate(TOPIC_PARTITION)

    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        assert (store.path / name).read_text() == "0\n1\nt 0 0\n"
    assert store.open().log_end_offset == 0


def test_checkpoints_that_cannot_be_read_are_told(store: Store) -> None:
    """As a start of the broker does."""
    filled(store)
    (store.path / "recovery-point-offset-checkpoint").write_text("1\n0\n")

    with stopped_folder(store.path, files=store.files) as folder:
        assert "recovery-point-offset-checkpoint cannot be read" in folder.notices[0]
