"""Tests of storage.log.ages."""

import os

from tests.storage.support import NOW_MS, Store, simple_batch
from wirekafka.storage.log.ages import largest_timestamp_ms, last_modified_ms


def test_the_age_is_that_of_the_newest_record(store: Store) -> None:
    """Whatever the file's own age."""
    log = store.open()
    log.append(simple_batch(1, timestamp_ms=NOW_MS + 5), leader_epoch=0, now_ms=NOW_MS)
    log.append(simple_batch(1, timestamp_ms=NOW_MS), leader_epoch=0, now_ms=NOW_MS)

    assert largest_timestamp_ms(log, log.segments.active) == NOW_MS + 5


def test_without_timestamps_it_is_that_of_the_file(store: Store) -> None:
    """Old producers write none."""
    log = store.open()
    log.append(simple_batch(1, timestamp_ms=-1), leader_epoch=0, now_ms=NOW_MS)
    os.utime(store.log_path(), (1, 77.5))

    assert largest_timestamp_ms(log, log.segments.active) == 77_500
    assert last_modified_ms(log, log.segments.active) == 77_500
