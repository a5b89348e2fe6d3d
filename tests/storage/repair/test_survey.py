"""Tests of storage.repair.survey: the good stretches of a segment's file, and the bad ones."""

from pathlib import Path

import pytest

from tests.storage.damaging import BATCH_BYTES, filled, flip, overwrite
from tests.storage.support import Store, UnsyncedFiles
from wirekafka.storage.disk.files import OpenFile
from wirekafka.storage.repair.survey import Stretch, survey

FILES = UnsyncedFiles()
CRC_COVERED = 30


def stretches(path: Path, base_offset: int = 0) -> list[Stretch]:
    return survey(OpenFile(FILES, str(path)), base_offset)


def told(path: Path, base_offset: int = 0) -> list[tuple[str, int, int, int]]:
    """Good or bad, batches from and to (by the size of one), first offset."""
    return [
        ("good" if s.is_good else "bad", s.start // BATCH_BYTES, s.end // BATCH_BYTES, s.first_offset)
        for s in stretches(path, base_offset)
    ]


@pytest.fixture
def log(store: Store) -> Path:
    """The file of a segment of six batches, of offsets 0 to 11."""
    return filled(store, 6).log_path()


def test_a_good_file_is_one_stretch(log: Path) -> None:
    """With its batches and records counted; an empty file has none."""
    (only,) = stretches(log)

    assert (only.is_good, only.size_bytes, only.batches, only.records) == (True, 6 * BATCH_BYTES, 6, 12)
    assert (only.first_offset, only.next_offset) == (0, 12)
    log.write_bytes(b"")
    assert stretches(log) == []


def test_a_batch_with_a_wrong_crc_is_a_bad_stretch(log: Path) -> None:
    """The rest is found again."""
    flip(log, 2 * BATCH_BYTES + CRC_COVERED)

    assert told(log) == [("good", 0, 2, 0), ("bad", 2, 3, 4), ("good", 3, 6, 6)]
    assert "its CRC is wrong" in stretches(log)[1].why


def test_neighbours_that_are_wrong_are_one_stretch(log: Path) -> None:
    """And so are those at the very begin and end of a file."""
    for number in (0, 1, 5):
        flip(log, number * BATCH_BYTES + CRC_COVERED)

    assert told(log) == [("bad", 0, 2, 0), ("good", 2, 5, 4), ("bad", 5, 6, 10)]


def test_a_torn_end_is_bad(log: Path) -> None:
    """At any byte."""
    log.write_bytes(log.read_bytes()[:-1])

    assert told(log)[:1] == [("good", 0, 5, 0)]
    assert [(s.is_good, s.size_bytes) for s in stretches(log)] == [
        (True, 5 * BATCH_BYTES),
        (False, BATCH_BYTES - 1),
    ]


def test_zeros_are_told_as_such(log: Path) -> None:
    """Pages that were never written."""
    overwrite(log, 4 * BATCH_BYTES, bytes(2 * BATCH_BYTES))

    assert stretches(log)[-1].why == "zeros are there"


def test_a_batch_with_a_higher_offset_is_at_fault_itself(log: Path) -> None:
    """No checksum covers an offset; the next batch, which fits without it, is good."""
    flip(log, 2 * BATCH_BYTES + 7, 0x40)

    assert told(log) == [("good", 0, 2, 0), ("bad", 2, 3, 4), ("good", 3, 6, 6)]
    assert stretches(log)[1].why == "the batch there has offset 68, and the next one a lower"


def test_a_batch_with_a_lower_offset_is_at_fault(log: Path) -> None:
    """It comes after offsets that are higher than its own."""
    flip(log, 4 * BATCH_BYTES + 7, 0x08)

    assert told(log) == [("good", 0, 4, 0), ("bad", 4, 5, 8), ("good", 5, 6, 10)]
    assert stretches(log)[1].why == "the batch there has offset 0, after offset 7"


def test_missing_offsets_part_good_stretches(log: Path) -> None:
    """A compaction leaves them, or a flipped bit in the last batch."""
    flip(log, 5 * BATCH_BYTES + 7, 0x40)

    assert told(log) == [("good", 0, 5, 0), ("good", 5, 6, 74)]


def test_a_magic_of_old_is_bad_and_does_not_stop_the_walk(log: Path) -> None:
    """Formats before v2 are not served here."""
    flip(log, 3 * BATCH_BYTES + 16, 0x03)

    assert [told(log)[0], told(log)[-1]] == [("good", 0, 3, 0), ("good", 4, 6, 8)]


def test_every_good_batch_is_told(log: Path) -> None:
    """With its position."""
    positions: list[int] = []
    survey(OpenFile(FILES, str(log)), 0, on_batch=lambda position, batch: positions.append(position))

    assert positions == [number * BATCH_BYTES for number in range(6)]
