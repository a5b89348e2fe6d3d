"""Tests of storage.segments.segments."""

from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, FaultyFiles, simple_batch
from wirekafka.protocol.records import RecordBatch, batches_in
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FILES, Files
from wirekafka.storage.segments.segment import Segment
from wirekafka.storage.segments.segments import Segments

CONFIG = LogConfig()
EVERYTHING = 1 << 40


def filled(folder: Path, bases: tuple[int, ...], batches: int = 3, files: Files = FILES) -> Segments:
    """Segments at these offsets, each with so many batches of two records."""
    made = []
    for base in bases:
        segment = Segment.create(Disk.on(files), str(folder), base, config=CONFIG, created_ms=NOW_MS)
        for _ in range(batches):
            data = simple_batch(2, base_offset=segment.next_offset)
            segment.append(data, RecordBatch(data))
        made.append(segment)
    return Segments(made)


def offsets(segments: Segments, offset: int, max_bytes: int = 10_000, up_to: int = EVERYTHING) -> list[int]:
    piece = segments.slice(offset, max_bytes, up_to, True)
    return [batch.base_offset for batch in batches_in(piece.read())]


def test_a_slice_begins_with_the_batch_that_holds_the_offset(tmp_path: Path) -> None:
    """And goes to the end of that segment."""
    segments = filled(tmp_path, (0, 6))

    assert offsets(segments, 0) == [0, 2, 4]
    assert offsets(segments, 3) == [2, 4]
    assert offsets(segments, 5) == [4]
    assert offsets(segments, 6) == [6, 8, 10]


def test_an_offset_between_segments_leads_to_the_next(tmp_path: Path) -> None:
    """Compaction and deletion leave gaps; the next batch that there is comes."""
    segments = filled(tmp_path, (0, 100))

    assert offsets(segments, 50) == [100, 102, 104]


def test_a_slice_ends_before_the_batch_it_may_not_show(tmp_path: Path) -> None:
    """`up_to_offset` inside a batch hides the whole of it; in a later segment it hides nothing here."""
    segments = filled(tmp_path, (0, 6))

    assert offsets(segments, 0, up_to=4) == [0, 2]
    assert offsets(segments, 0, up_to=3) == [0]
    assert offsets(segments, 2, up_to=3) == []
    assert offsets(segments, 0, up_to=5) == [0, 2]
    assert offsets(segments, 0, up_to=6) == [0, 2, 4]
    assert offsets(segments, 0, up_to=7) == [0, 2, 4]


def test_max_bytes_may_end_a_slice_on_any_byte(tmp_path: Path) -> None:
    """But not inside the first batch: that comes whole, if it is asked for (KIP-74), or not at all."""
    segments = filled(tmp_path, (0,))
    size = segments.size_bytes // 3

    assert len(segments.slice(0, size + 7, EVERYTHING, True)) == size + 7
    assert len(segments.slice(0, 1, EVERYTHING, True)) == size
    assert len(segments.slice(0, size - 1, EVERYTHING, False)) == 0
    assert len(segments.slice(0, 0, EVERYTHING, True)) == size
    assert len(segments.slice(0, 0, EVERYTHING, False)) == 0


def test_whole_segments_before_an_offset_are_set_aside(tmp_path: Path) -> None:
    """Never the last one, and none that still holds the offset; the files have names no start reads."""
    segments = filled(tmp_path, (0, 6, 12))

    renamed = segments.remove_before(11)
    assert segments.first_offset == 6
    renamed += segments.remove_before(EVERYTHING)

    assert (segments.first_offset, len(segments.all())) == (12, 1)
    gone = {str(path) for path in tmp_path.iterdir() if path.name[:20] != segments.active.file_name[:20]}
    assert gone == set(renamed)
    assert all(path.endswith(".deleted") for path in renamed)


def test_a_segment_that_cannot_be_renamed_stays(tmp_path: Path, faulty_files: FaultyFiles) -> None:
    """And the next attempt takes it."""
    segments = filled(tmp_path, (0, 6), files=faulty_files)

    faulty_files.fail_next("rename")
    with pytest.raises(OSError, match="no space"):
        segments.remove_before(6)
    assert offsets(segments, 0) == [0, 2, 4]

    segments.remove_before(6)
    assert segments.first_offset == 6


def test_what_was_set_aside_before_a_failure_is_told(tmp_path: Path, faulty_files: FaultyFiles) -> None:
    """Else nobody would unlink it before the next start, on a disk that may be full."""
    segments = filled(tmp_path, (0, 6, 12), files=faulty_files)
    names = [segment.file_name for segment in segments.all()]

    faulty_files.fail_next("rename", always=True)
    faulty_files.fail_at = 5
    gone = segments.remove_before(12)

    assert [path.rpartition("/")[2] for path in gone if ".log" in path] == [f"{names[0]}.deleted"]
    assert segments.first_offset == 6
    faulty_files.fail_at = 0
    gone += segments.remove_before(12)
    there = {str(path) for path in tmp_path.iterdir() if path.name[:20] != names[2][:20]}
    assert there == set(gone)


def test_neighbours_are_replaced_by_one(tmp_path: Path) -> None:
    """As a compaction does."""
    segments = filled(tmp_path, (0, 6, 12))
    first, second, active = segments.all()
    merged = Segment.existing(
        Disk.on(FILES), str(tmp_path), 0, config=CONFIG, created_ms=NOW_MS, next_offset=12
    )

    segments.replace([first, second], merged)

    assert segments.all() == [merged, active]


@pytest.mark.parametrize("which", [(0, 2), (1, 2), (0, 1, 2)])
def test_only_sealed_neighbours_are_replaced(tmp_path: Path, which: tuple[int, ...]) -> None:
    """Whatever was removed meanwhile must not come back, and the last segment is appended to."""
    segments = filled(tmp_path, (0, 6, 12))
    before = segments.all()

    with pytest.raises(ValueError, match="not those of the log"):
        segments.replace([before[slot] for slot in which], before[0])

    assert segments.all() == before


def test_all_gives_a_list_of_its_own(tmp_path: Path) -> None:
    """A flush in a thread walks it while segments come and go."""
    segments = filled(tmp_path, (0, 6))

    before = segments.all()
    segments.remove_before(6)

    assert (len(before), len(segments.all())) == (2, 1)


@pytest.mark.parametrize("release", [False, True])
def test_released_files_are_opened_again(tmp_path: Path, release: bool) -> None:
    """Letting go of a file is not losing it."""
    segments = filled(tmp_path, (0, 6))
    if release:
        segments.release()

    assert offsets(segments, 0) == [0, 2, 4]


def test_a_segment_whose_indexes_were_not_read_is_told_by_an_offset(tmp_path: Path) -> None:
    """The last one's always are."""
    segments = filled(tmp_path, (0, 6, 12))
    first, _, active = segments.all()
    first._loaded = active._loaded = False

    assert [segments.unread(offset) for offset in (0, 5, 6, 12, 99)] == [first, first, None, None, None]
    first.load()
    assert segments.unread(0) is None
