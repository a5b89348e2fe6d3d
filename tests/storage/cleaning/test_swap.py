"""Tests of storage.cleaning.swap: the steps one by one. That each may fail is told in test_rewriting."""

import pytest

from tests.storage.cleaning.support import COMPACTED, contents, keyed_batch, put, seal
from tests.storage.support import NOW_MS, FaultyFiles, Store
from wirekafka.storage import PartitionLog
from wirekafka.storage.cleaning import LogChanged
from wirekafka.storage.cleaning.cleaned_segment import CleanedSegment
from wirekafka.storage.cleaning.swap import announce, replace


def with_cleaned(store: Store) -> PartitionLog:
    """A log of two sealed segments, and what is to take their place, written and not announced."""
    store.config = COMPACTED
    log = store.open()
    put(log, ("a", "1"))
    seal(log)
    put(log, ("a", "2"))
    seal(log)
    cleaned = CleanedSegment(log.disk, log.folder, 0, 4096)
    cleaned.append(bytes(keyed_batch(("a", "2"), base_offset=1)))
    cleaned.finish([], None)
    return log


def names(store: Store, ending: str) -> list[str]:
    return sorted(
        path.name[20 : -len(ending)] for path in store.folder.iterdir() if path.name.endswith(ending)
    )


def test_announced_files_would_be_put_in_place_by_a_start(store: Store) -> None:
    """Before that a start throws them away."""
    log = with_cleaned(store)
    assert names(store, ".cleaned") == [".index", ".log", ".timeindex"]

    announce(log, log.segments.all()[:2])

    assert names(store, ".cleaned") == []
    assert names(store, ".swap") == [".index", ".log", ".timeindex"]
    store.kill()
    assert contents(store.open()) == [(1, "a", "2")]


def test_the_log_reads_from_the_new_segment_at_once(store: Store) -> None:
    """The old files are set aside; no cached descriptor of theirs is read again."""
    log = with_cleaned(store)
    assert contents(log) == [(0, "a", "1"), (1, "a", "2")]
    announce(log, log.segments.all()[:2])

    gone = replace(log, log.segments.all()[:2], now_ms=NOW_MS)

    assert contents(log) == [(1, "a", "2")]
    assert [segment.base_offset for segment in log.segments.all()] == [0, 2]
    assert names(store, ".swap") == []
    assert {f"{store.log_path(0)}.deleted", f"{store.log_path(1)}.deleted"} <= set(gone)


def test_segments_that_are_not_the_logs_any_more_are_not_replaced(store: Store) -> None:
    """Nothing is renamed."""
    log = with_cleaned(store)
    announce(log, log.segments.all()[:2])
    replaced = log.segments.all()[:2]
    log.delete_records_before(1)
    before = sorted(path.name for path in store.folder.iterdir())

    with pytest.raises(LogChanged):
        replace(log, replaced, now_ms=NOW_MS)
    with pytest.raises(LogChanged):
        announce(log, replaced)

    assert sorted(path.name for path in store.folder.iterdir()) == before


def test_nothing_is_announced_of_a_log_whose_topic_is_deleted(store: Store) -> None:
    """Its files may lie in the folder of a topic that was made again, where a start would take them up."""
    log = with_cleaned(store)
    log.abandon()

    with pytest.raises(LogChanged):
        announce(log, log.segments.all()[:2])

    assert names(store, ".cleaned") == [".index", ".log", ".timeindex"]


def test_a_swap_that_fails_and_cannot_be_undone_stops_the_log(faulty_store: Store) -> None:
    """Only a start can mend it: it completes the swap. Until then the log takes nothing more."""
    log = with_cleaned(faulty_store)
    files = faulty_store.files
    assert isinstance(files, FaultyFiles)
    announce(log, log.segments.all()[:2])

    files.calls, files.only, files.fail_at, files.fails_from_then_on = [], "rename", 4, True
    with pytest.raises(OSError, match="no space"):
        replace(log, log.segments.all()[:2], now_ms=NOW_MS)
    files.fail_at = 0

    assert log.failed
    faulty_store.kill()
    assert contents(faulty_store.open()) == [(1, "a", "2")]
