"""Tests of storage.cleaning.cleanable."""

from typing import Any

import pytest

from tests.storage.cleaning.support import end_transaction, put, put_transactional
from tests.storage.support import NOW_MS, Store
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.cleaning import Cleanable, cleanable


def filled(store: Store, *ages_ms: int, **config: Any) -> PartitionLog:
    """A log with a segment of one record for each age; the last one is active."""
    store.config = LogConfig(cleanup_policy=("compact",), **config)
    log = store.open()
    for age_ms in ages_ms:
        log.roll(NOW_MS)
        put(log, ("k", "v"), timestamp_ms=NOW_MS - age_ms)
    log.flush()
    return log


def look(log: PartitionLog, cleaned_up_to: int | None = None, **given: int) -> Cleanable:
    bounds = {"high_watermark": log.log_end_offset, "flushed_up_to": log.recovery_point, "now_ms": NOW_MS}
    return cleanable(log, cleaned_up_to, **{**bounds, **given})


def test_all_but_the_active_segment(store: Store) -> None:
    """From the log's start, when it was never compacted."""
    log = filled(store, 0, 0, 0, 0)
    size = log.size_bytes // 4

    found = look(log)

    assert (found.first_dirty_offset, found.end_offset) == (0, 3)
    assert (found.clean_bytes, found.cleanable_bytes, found.dirty_ratio) == (0, 3 * size, 1.0)
    assert found.is_due


def test_what_was_compacted_counts_as_clean(store: Store) -> None:
    """The ratio is of what is dirty to all that is sealed."""
    log = filled(store, 0, 0, 0, 0, 0, min_cleanable_dirty_ratio=0.5)

    assert (look(log, 2).dirty_ratio, look(log, 2).is_due) == (0.5, False)
    assert (look(log, 1).dirty_ratio, look(log, 1).is_due) == (0.75, True)
    assert (look(log, 4).dirty_ratio, look(log, 4).is_due) == (0.0, False)


@pytest.mark.parametrize("cleaned_up_to", [0, 99])
def test_a_checkpoint_outside_of_the_log_is_none(store: Store, cleaned_up_to: int) -> None:
    """The log was shortened at one of its ends."""
    log = filled(store, 0, 0, 0)
    log.move_start(1)

    assert look(log, cleaned_up_to).first_dirty_offset == 1


@pytest.mark.parametrize("bound", ["high_watermark", "flushed_up_to"])
def test_what_may_still_be_lost_or_unseen_is_left(store: Store, bound: str) -> None:
    """A segment that ends behind the bound is left whole."""
    log = filled(store, 0, 0, 0, 0)
    put(log, ("k", "v"))
    log.roll(NOW_MS)

    assert look(log, **{bound: 2}).end_offset == 2
    assert look(log, **{bound: 4}).end_offset == 3
    assert look(log, **{bound: 0}).end_offset == 0


def test_an_open_transaction_is_left(store: Store) -> None:
    """Nothing behind the last stable offset."""
    log = filled(store, 0, 0)
    log.roll(NOW_MS)
    put_transactional(log, ("k", "v"), producer_id=1, base_sequence=0)
    log.roll(NOW_MS)
    log.flush()

    assert look(log).end_offset == 2
    end_transaction(log, 1, commit=True)
    assert look(log).end_offset == 3


def test_what_is_younger_than_the_lag_is_left(store: Store) -> None:
    """By the largest timestamp of a segment; what follows it is left as well (KIP-58)."""
    log = filled(store, 5000, 1000, 5000, 0, min_compaction_lag_ms=2000)

    assert look(log).end_offset == 1
    assert look(log, now_ms=NOW_MS + 1000).end_offset == 3


def test_what_waits_too_long_is_due_whatever_the_ratio(store: Store) -> None:
    """max.compaction.lag.ms counts from the first record of a segment that is dirty (KIP-354)."""
    log = filled(store, 9000, 3000, 0, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=4000)

    assert look(log).is_due
    assert not look(log, 1).is_due
    assert look(log, 1, now_ms=NOW_MS + 1001).is_due


def test_nothing_to_compact_is_not_due(store: Store) -> None:
    """An empty log has no ratio."""
    log = filled(store, min_cleanable_dirty_ratio=0.0)

    assert (look(log).dirty_ratio, look(log).is_due) == (0.0, False)
