"""Tests of storage.producers.snapshots."""

import errno
from pathlib import Path

import pytest

from tests.storage.support import TOPIC_PARTITION, FaultyFiles
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FILES
from wirekafka.storage.producers.snapshots import ProducerSnapshots
from wirekafka.storage.producers.state import Producer, ProducerState


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_one_is_taken_when_there_is_something_new_to_it(tmp_path: Path) -> None:
    """Behind the last one, or behind the start of the log where there is none (takeSnapshot)."""
    snapshots = ProducerSnapshots(Disk.on(FILES), str(tmp_path), [])

    taken = [snapshots.take(offset, {}, log_start_offset=5) for offset in (5, 6, 6, 8)]

    assert taken == [None, snapshots.path(6), None, snapshots.path(8)]
    assert names(tmp_path) == ["00000000000000000006.snapshot", "00000000000000000008.snapshot"]


def test_one_that_fails_leaves_no_file(tmp_path: Path) -> None:
    """A start would take it for the newest; the next attempt makes it."""
    files = FaultyFiles()
    snapshots = ProducerSnapshots(Disk.on(files), str(tmp_path), [])
    files.fail_next("pwrite")
    with pytest.raises(OSError, match="no space") as caught:
        snapshots.take(6, {}, log_start_offset=0)
    assert (caught.value.errno, names(tmp_path)) == (errno.ENOSPC, [])

    assert snapshots.take(6, {}, log_start_offset=0) is not None

    assert names(tmp_path) == ["00000000000000000006.snapshot"]


def test_the_newest_good_one_is_loaded(tmp_path: Path) -> None:
    """Of those at or before an offset; a damaged one is passed over."""
    snapshots = ProducerSnapshots(Disk.on(FILES), str(tmp_path), [])
    for offset in (2, 4, 6, 8):
        snapshots.take(offset, {offset: Producer(epoch=1)}, log_start_offset=0)
    Path(snapshots.path(6)).write_bytes(b"torn")
    Path(snapshots.path(4)).unlink()
    producers = ProducerState(TOPIC_PARTITION)

    assert snapshots.load(7, producers) == 2
    assert list(producers.producers) == [2]
    assert snapshots.load(8, producers) == 8
    assert list(producers.producers) == [8]
    assert snapshots.load(1, producers) == 0


def test_those_of_segments_that_go_are_set_aside(tmp_path: Path) -> None:
    """Renamed, so that no start takes them for the log's; those that are not there are passed over."""
    snapshots = ProducerSnapshots(Disk.on(FILES), str(tmp_path), [])
    for offset in (2, 4, 6):
        snapshots.take(offset, {}, log_start_offset=0)
    assert snapshots.before(6) == [2, 4]

    renamed = snapshots.set_aside([2, 3, 4])

    assert renamed == [snapshots.path(2) + ".deleted", snapshots.path(4) + ".deleted"]
    assert snapshots.before(100) == [6]
