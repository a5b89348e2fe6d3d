"""Tests of storage.cleaning.grouping."""

from pathlib import Path

import pytest

from tests.storage.support import NOW_MS
from wirekafka.storage.cleaning.grouping import groups_by_size
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FILES
from wirekafka.storage.segments.segment import Segment

SEGMENT_BYTES, INDEX_BYTES = 1000, 100


def groups(folder: Path, *segments: tuple[int, int, int], end: int = 1000) -> list[list[int]]:
    """Group segments given as (base offset, bytes, bytes of an index); give their base offsets."""
    disk, indexes, made = Disk.on(FILES), {}, []
    for base, size, index_bytes in segments:
        segment = Segment.create(disk, str(folder), base, config=LogConfig(), created_ms=NOW_MS)
        segment.size = size
        indexes[base] = index_bytes
        made.append(segment)
    grouped = groups_by_size(
        made,
        end,
        segment_bytes=SEGMENT_BYTES,
        segment_index_bytes=INDEX_BYTES,
        index_bytes=lambda segment: (0, indexes[segment.base_offset]),
    )
    return [[segment.base_offset for segment in group] for group in grouped]


def test_neighbours_share_a_segment_up_to_its_size(tmp_path: Path) -> None:
    """Exactly segment.bytes fit."""
    assert groups(tmp_path, (0, 400, 1), (10, 600, 1), (20, 1, 1), (30, 999, 1)) == [[0, 10], [20, 30]]


def test_one_that_is_too_large_stands_alone(tmp_path: Path) -> None:
    """It was written when segment.bytes was more."""
    assert groups(tmp_path, (0, 10, 1), (10, 2000, 1), (20, 10, 1)) == [[0], [10], [20]]


def test_an_index_has_its_own_bound(tmp_path: Path) -> None:
    """As segment.index.bytes."""
    assert groups(tmp_path, (0, 10, 60), (10, 10, 40), (20, 10, 1)) == [[0, 10], [20]]


@pytest.mark.parametrize(("end", "together"), [((1 << 31), True), ((1 << 31) + 1, False)])
def test_offsets_are_told_relative_to_the_first(tmp_path: Path, end: int, together: bool) -> None:
    """31 bits are there for that. Where the segment ends is known by the next one, or by `end_offset`."""
    assert groups(tmp_path, (0, 10, 1), (10, 10, 1), end=end) == ([[0, 10]] if together else [[0], [10]])


def test_an_empty_segment_has_no_offsets(tmp_path: Path) -> None:
    """So that none is left alone for ever."""
    assert groups(tmp_path, (0, 10, 1), (10, 0, 0), end=1 << 40) == [[0, 10]]


def test_no_segments(tmp_path: Path) -> None:
    """No groups."""
    assert groups(tmp_path) == []
