"""Tests of storage.segments.recent_batches."""

from wirekafka.storage.segments.recent_batches import RecentBatches


def test_the_batch_that_holds_an_offset_is_found() -> None:
    """Or the first behind it, where compaction has left a hole; the last one ends where the file does."""
    recent = RecentBatches(10)
    recent.add(12, 0)
    recent.add(19, 100)

    found = [recent.find(offset, 150) for offset in (10, 12, 13, 19, 20)]

    assert found == [(0, 100), (0, 100), (100, 50), (100, 50), None]


def test_an_index_entry_begins_them_anew() -> None:
    """What lies before it the index finds."""
    recent = RecentBatches(10)
    recent.add(12, 0)

    recent.begin(13)
    recent.add(14, 100)

    assert (recent.start_offset, recent.find(13, 150)) == (13, (100, 50))
