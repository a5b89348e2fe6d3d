"""A segment's indexes beside the segment: built of batches, read from files, written."""

import errno
from pathlib import Path

import pytest

from tests.storage.support import UnsyncedFiles, simple_batch
from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.disk.files import FILES, Files, OpenFile
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.segment_indexes import (
    LARGEST_RELATIVE_OFFSET,
    Extent,
    SegmentIndexes,
    load_indexes,
    rebuild_indexes,
)
from wirekafka.storage.segments.time_index import TimeIndex

BASE = 10
INTERVAL = 100


def made(folder: Path, *timestamps: int, base_offset: int = BASE) -> tuple[OpenFile, SegmentIndexes]:
    """A file of batches of two records each, and the indexes as appends make them."""
    file = OpenFile(FILES, str(folder / f"{BASE:020d}.log"), create=True)
    indexes = SegmentIndexes(BASE, INTERVAL)
    for timestamp_ms in timestamps:
        data = simple_batch(2, timestamp_ms=timestamp_ms, base_offset=max(base_offset, indexes.next_offset))
        file.write(data, indexes.size)
        indexes.note(RecordBatch(data), indexes.size)
    return file, indexes


def extent_of(indexes: SegmentIndexes, *, next_offset: int = BASE) -> Extent:
    return Extent(BASE, next_offset, indexes.size)


def facts(indexes: SegmentIndexes) -> tuple[object, ...]:
    ends = indexes.size, indexes.next_offset
    times = indexes.first_timestamp, indexes.max_timestamp, indexes.max_timestamp_offset
    found = [indexes.recent.find(offset, indexes.size) for offset in range(BASE, indexes.next_offset)]
    return ends, times, indexes.offsets.encode(), indexes.times.encode(), indexes.recent.start_offset, found


def test_what_is_rebuilt_of_the_batches_is_what_appends_made(tmp_path: Path) -> None:
    """Ends, times, entries and the places behind the last entry."""
    file, indexes = made(tmp_path, 1003, 1001, 1009, 1002, 1005, 1004)

    assert facts(rebuild_indexes(file, extent_of(indexes), INTERVAL)) == facts(indexes)


@pytest.mark.parametrize("timestamps", [(), (1000,), (1003, 1001, 1009, 1002, 1005, 1004)])
def test_what_was_written_is_read(tmp_path: Path, timestamps: tuple[int, ...]) -> None:
    """As it stands, with the batches behind the last entry; and is not written again."""
    file, indexes = made(tmp_path, *timestamps)
    assert indexes.written is None
    indexes.write(FILES, str(tmp_path / f"{BASE:020d}"), final=False)

    loaded = load_indexes(FILES, file, extent_of(indexes), INTERVAL)

    assert facts(loaded) == facts(indexes)
    assert loaded.written == indexes.written == (len(indexes.offsets), len(indexes.times))


def test_a_time_index_that_names_offsets_behind_the_end_is_not_believed(tmp_path: Path) -> None:
    """Nor is what else cannot be; the indexes are made of the batches then, and the files to be made anew."""
    file, indexes = made(tmp_path, *range(1000, 1010))
    expected = facts(indexes)
    stem = str(tmp_path / f"{BASE:020d}")
    indexes.write(FILES, stem, final=False)
    indexes.times.add(2000, indexes.next_offset)
    indexes.write(FILES, stem, final=False)

    loaded = load_indexes(FILES, file, extent_of(indexes), INTERVAL)

    assert facts(loaded) == expected
    assert loaded.written is None


def test_batches_that_do_not_fill_the_file_are_damage(tmp_path: Path) -> None:
    """With the place where the next one had to begin."""
    file, indexes = made(tmp_path, 1000, 1001, 1002)
    size = indexes.size // 3
    file.write(bytes(61), size)

    with pytest.raises(Damaged, match=f"no batch begins at position {size} of 0{{18}}10.log"):
        rebuild_indexes(file, extent_of(indexes), INTERVAL)


def test_a_first_batch_that_is_damaged_does_not_hide_the_others(tmp_path: Path) -> None:
    """Behind the last entry all is well; the first batch's time is then not known."""
    file, indexes = made(tmp_path, *range(1000, 1010))
    indexes.write(FILES, str(tmp_path / f"{BASE:020d}"), final=False)
    file.write(bytes(61), 0)

    loaded = load_indexes(FILES, file, extent_of(indexes), INTERVAL)

    assert (loaded.first_timestamp, loaded.next_offset) == (-1, indexes.next_offset)


@pytest.mark.parametrize("base_offset", [BASE - 1, BASE + LARGEST_RELATIVE_OFFSET])
def test_an_offset_that_cannot_be_told_relative_to_the_base_is_damage(
    tmp_path: Path, base_offset: int
) -> None:
    """A flipped bit in a base offset, which no checksum covers."""
    file, indexes = made(tmp_path, 1000)
    file.write(base_offset.to_bytes(8, "big"), 0)

    with pytest.raises(Damaged, match="position 0"):
        rebuild_indexes(file, extent_of(indexes), INTERVAL)


def test_batches_that_reach_the_next_segment_are_damage(tmp_path: Path) -> None:
    """One offset would be in two segments."""
    file, indexes = made(tmp_path, 1000, 1001)

    rebuild_indexes(file, extent_of(indexes, next_offset=BASE + 4), INTERVAL)
    with pytest.raises(Damaged, match="run into the next segment"):
        rebuild_indexes(file, extent_of(indexes, next_offset=BASE + 3), INTERVAL)


def test_a_failed_read_of_an_index_is_told(tmp_path: Path) -> None:
    """It says nothing about the index, which is not to be made anew for it."""

    class Unlucky(UnsyncedFiles):
        def pread(self, fd: int, length: int, position: int) -> bytes:
            raise OSError(errno.EIO, "once")

    file, indexes = made(tmp_path, *range(1000, 1010))
    unlucky: Files = Unlucky()
    indexes.write(FILES, str(tmp_path / f"{BASE:020d}"), final=False)

    with pytest.raises(OSError, match="once"):
        load_indexes(unlucky, file, extent_of(indexes), INTERVAL)


def test_either_index_may_be_full(tmp_path: Path) -> None:
    """segment.index.bytes over 8, or over 12. The time index keeps a place for its last entry: a rolled
    segment always gets its largest timestamp (TimeIndex.isFull)."""
    _, indexes = made(tmp_path, *range(1000, 1010))
    entries = len(indexes.offsets)

    assert not indexes.is_full(12 * (entries + 2))
    assert indexes.is_full(12 * (entries + 1))
    assert indexes.is_full(8 * entries)
    indexes.times = TimeIndex(BASE)
    assert indexes.is_full(8 * entries + 7)
    assert not indexes.is_full(8 * entries + 8)


def test_files_that_were_just_made_are_added_to(tmp_path: Path) -> None:
    """They are not truncated by the first write."""
    _, indexes = made(tmp_path)

    indexes.say_files_are_new()

    assert indexes.written == (0, 0)
