"""Tests of storage.log.retention, and of the ages it goes by."""

import os
from typing import Any

import pytest

from tests.storage.support import NOW_MS, FaultyFiles, Store, apply_retention, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.log.retention import start_after_retention

BATCH_BYTES = len(simple_batch(2))


def filled(store: Store, *ages_ms: int, **config: Any) -> PartitionLog:
    """A log with a segment for each age, of one batch of two records; the last one is active."""
    store.config = LogConfig(**config)
    log = store.open()
    for age_ms in ages_ms:
        log.roll(NOW_MS)
        log.append(simple_batch(2, timestamp_ms=NOW_MS - age_ms), leader_epoch=0, now_ms=NOW_MS)
    return log


def retained(
    log: PartitionLog, *, high_watermark: int | None = None, now_ms: int = NOW_MS
) -> tuple[int, int]:
    """Apply retention; give the start offset and how many segments there are then."""
    visible = log.log_end_offset if high_watermark is None else high_watermark
    apply_retention(log, high_watermark=visible, now_ms=now_ms)
    return log.log_start_offset, len(log.segments.all())


# --- time


def test_segments_older_than_retention_ms_go(store: Store) -> None:
    """By their largest timestamp; what is exactly as old stays."""
    log = filled(store, 3000, 2001, 2000, 0, retention_ms=2000)

    assert retained(log) == (4, 2)


def test_only_a_prefix_goes(store: Store) -> None:
    """A segment that is old stays behind one that is not."""
    log = filled(store, 3000, 0, 3000, 0, retention_ms=2000)

    assert retained(log) == (2, 3)


def test_a_log_that_is_all_old_begins_anew(store: Store) -> None:
    """The active segment is sealed and goes as well; offsets and producers go on."""
    log = filled(store, 3000, 3000, retention_ms=2000)
    log.append(
        simple_batch(1, timestamp_ms=NOW_MS - 2500, producer_id=7, producer_epoch=0, base_sequence=0),
        leader_epoch=0,
        now_ms=NOW_MS,
    )

    assert retained(log) == (5, 1)
    store.kill()
    log = store.open()

    assert (log.log_start_offset, log.log_end_offset) == (5, 5)
    assert 7 in log.producers.producers


def test_retention_for_ever(store: Store) -> None:
    """retention.ms=-1."""
    log = filled(store, 10**6, 0, retention_ms=-1)

    assert retained(log) == (0, 2)


def test_without_timestamps_the_age_is_that_of_the_file(store: Store) -> None:
    """As LogSegment.largestTimestamp."""
    store.config = LogConfig(retention_ms=2000)
    log = store.open()
    for _ in range(2):
        log.roll(NOW_MS)
        log.append(simple_batch(1, timestamp_ms=-1), leader_epoch=0, now_ms=NOW_MS)
    os.utime(store.log_path(0), (1000, NOW_MS / 1000 - 3))
    os.utime(store.log_path(1), (1000, NOW_MS / 1000))

    assert retained(log) == (1, 1)


# --- size


@pytest.mark.parametrize(
    ("retention_bytes", "start"), [(4 * BATCH_BYTES, 0), (3 * BATCH_BYTES, 2), (3 * BATCH_BYTES - 1, 2)]
)
def test_segments_go_while_enough_stays(store: Store, retention_bytes: int, start: int) -> None:
    """Never so many that less than retention.bytes would be left."""
    log = filled(store, 0, 0, 0, 0, retention_bytes=retention_bytes)

    assert retained(log)[0] == start


def test_no_bytes_at_all(store: Store) -> None:
    """retention.bytes=0 keeps nothing, and goes on doing so."""
    log = filled(store, 0, 0, retention_bytes=0)

    assert retained(log) == (4, 1)
    assert retained(log) == (4, 1)


# --- what holds it back


def test_what_readers_may_not_see_yet_stays(store: Store) -> None:
    """The start never goes past the high watermark."""
    log = filled(store, 3000, 3000, 3000, retention_ms=2000)

    assert retained(log, high_watermark=3) == (2, 2)


def test_a_compacted_log_keeps_everything_but_what_lies_before_its_start(store: Store) -> None:
    """cleanup.policy=compact; with delete beside it both hold."""
    log = filled(store, 3000, 3000, 3000)
    log.config = LogConfig(cleanup_policy=("compact",), retention_ms=2000, retention_bytes=0)

    assert retained(log) == (0, 3)
    log.move_start(3)
    assert retained(log) == (3, 2)
    log.config = LogConfig(cleanup_policy=("compact", "delete"), retention_ms=2000)
    assert retained(log) == (6, 1)


def test_an_empty_log_is_left_alone(store: Store) -> None:
    """Whatever its settings are."""
    log = filled(store, retention_ms=0, retention_bytes=0)

    assert retained(log) == (0, 1)


def test_deciding_changes_nothing(store: Store) -> None:
    """The start can be checkpointed before anything is removed."""
    log = filled(store, 3000, 0, retention_ms=2000)

    assert start_after_retention(log, high_watermark=4, now_ms=NOW_MS) == 2
    assert (log.log_start_offset, len(log.segments.all())) == (0, 2)


def test_the_files_are_given_back_to_be_unlinked(store: Store) -> None:
    """They have names that a start passes over, and removes."""
    log = filled(store, 3000, 0, retention_ms=2000)

    gone = apply_retention(log, high_watermark=4, now_ms=NOW_MS)

    assert f"{store.log_path(0)}.deleted" in gone
    assert sorted(gone) == sorted(str(path) for path in store.folder.glob("*.deleted"))
    store.kill()
    log = store.open()
    assert list(store.folder.glob("*.deleted")) == []
    assert (log.log_start_offset, log.log_end_offset) == (2, 4)


def test_whatever_call_fails_no_record_in_front_of_others_is_lost(faulty_store: Store) -> None:
    """The log has a suffix of what was there, in memory and after a restart; and the next attempt does it."""
    store, files = faulty_store, faulty_store.files
    assert isinstance(files, FaultyFiles)
    failures: list[ErrorCode] = []
    for fail_at in range(1, 100):
        log = filled(store, 3000, 3000, 3000, 3000, retention_ms=2000)
        end = log.log_end_offset
        files.calls, files.only, files.fail_at = [], "", fail_at
        try:
            apply_retention(log, high_watermark=end, now_ms=NOW_MS)
        except KafkaError as error:
            failures.append(error.code)
        done, files.fail_at = len(files.calls) < fail_at, 0
        if not (log.failed or log.disk.health.failure):
            apply_retention(log, high_watermark=end, now_ms=NOW_MS)
            assert (log.log_start_offset, len(log.segments.all())) == (end, 1)
        store.kill()
        log = store.open()
        assert log.log_end_offset == end
        assert log.log_start_offset <= end
        store.kill()
        for path in store.folder.iterdir():
            path.unlink()
        if done:
            break
    assert fail_at > 20
    assert set(failures) <= {ErrorCode.KAFKA_STORAGE_ERROR}
