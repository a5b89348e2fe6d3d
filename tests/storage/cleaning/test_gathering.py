"""Tests of storage.cleaning.gathering."""

from tests.storage.cleaning.support import COMPACTED, end_transaction, put, put_transactional, seal
from tests.storage.support import NOW_MS, Store
from wirekafka.storage import PartitionLog
from wirekafka.storage.cleaning import OffsetMap, cleanable
from wirekafka.storage.cleaning.gathering import gather
from wirekafka.storage.cleaning.offset_map import BYTES_AN_ENTRY
from wirekafka.storage.cleaning.work import Work, at_once, unhurried


def gathered(log: PartitionLog, cleaned_up_to: int = 0, *, keys: int = 100) -> OffsetMap:
    """What is known of the dirty part, with room for so many keys."""
    end = log.log_end_offset
    what = cleanable(log, cleaned_up_to, high_watermark=end, flushed_up_to=end, now_ms=NOW_MS)
    newest = OffsetMap(keys * BYTES_AN_ENTRY, 1.0)
    gather(Work(log, at_once, unhurried, list[str]().extend, NOW_MS), what, newest)
    return newest


def opened(store: Store) -> PartitionLog:
    store.config = COMPACTED
    return store.open()


def test_the_newest_offset_of_each_key_in_the_dirty_part(store: Store) -> None:
    """What is clean is not looked at, nor the active segment."""
    log = opened(store)
    put(log, ("a", "1"), ("b", "1"), ("c", "1"))
    put(log, ("a", "2"), ("b", "2"))
    seal(log)
    put(log, ("a", "3"))

    newest = gathered(log, 1)

    assert [newest.newest(key) for key in (b"a", b"b", b"c")] == [3, 4, 2]
    assert newest.latest_offset == 4
    assert gathered(log, 3).newest(b"c") == -1


def test_nothing_dirty(store: Store) -> None:
    """Up to where it begins everything is known to be clean."""
    log = opened(store)
    put(log, ("a", "1"))
    seal(log)

    newest = gathered(log, 1)

    assert (len(newest), newest.latest_offset) == (0, 0)


def test_it_ends_where_no_room_is_left(store: Store) -> None:
    """In the middle of a batch, if need be; the next compaction begins there."""
    log = opened(store)
    put(log, ("a", "1"), ("b", "1"), ("a", "2"), ("c", "1"), ("a", "3"))
    seal(log)

    newest = gathered(log, keys=2)

    assert (len(newest), newest.latest_offset) == (2, 2)


def test_a_gap_at_the_end_of_a_segment_is_known(store: Store) -> None:
    """Offsets that compaction has taken away count as looked at."""
    log = opened(store)
    put_transactional(log, ("a", "1"), producer_id=1, base_sequence=0)
    end_transaction(log, 1, commit=True)
    seal(log)

    assert gathered(log).latest_offset == 1


def test_what_was_aborted_counts_for_nothing(store: Store) -> None:
    """Also where the marker is in the active segment."""
    log = opened(store)
    put(log, ("a", "1"))
    put_transactional(log, ("a", "2"), producer_id=1, base_sequence=0)
    seal(log)
    end_transaction(log, 1, commit=False)

    assert gathered(log).newest(b"a") == 0
