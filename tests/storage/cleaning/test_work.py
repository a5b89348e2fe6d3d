"""Tests of storage.cleaning.work."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.storage.cleaning.support import COMPACTED, end_transaction, put, put_transactional, seal
from tests.storage.support import NOW_MS, Store
from wirekafka.storage.cleaning.work import LogChanged, Work, at_once, unhurried

T = TypeVar("T")


def test_aborted_transactions_are_asked_for_on_the_loop(store: Store) -> None:
    """Their index is the log's, and so is not read beside it."""
    store.config = COMPACTED
    log = store.open()
    put_transactional(log, ("a", "1"), producer_id=1, base_sequence=0)
    end_transaction(log, 1, commit=False)
    calls: list[str] = []

    def noting(function: Callable[[], T]) -> T:
        calls.append("called")
        return function()

    work = Work(log, noting, unhurried, list[str]().extend, NOW_MS)
    transactions = work.transactions(0, 2)

    assert calls == ["called"]
    [batch, _] = log.batches(0)
    assert transactions.may_drop(batch)
    work.transactions(2, 2)
    assert calls == ["called"]


def test_where_the_segments_end_that_hold_an_offset(store: Store) -> None:
    """At the base offset of the next one; behind them all is the log's end."""
    log = store.open()
    for _ in range(2):
        put(log, ("a", "1"), ("b", "1"))
        seal(log)
    put(log, ("c", "1"))
    work = Work(log, at_once, unhurried, list[str]().extend, NOW_MS)

    assert [work.end_of_segments(offset) for offset in range(6)] == [0, 2, 2, 4, 4, 5]


def test_a_segment_that_is_the_logs_no_more_ends_the_work(store: Store) -> None:
    """And so does the active one, which ends nowhere yet."""
    log = store.open()
    put(log, ("a", "1"))
    seal(log)
    put(log, ("b", "1"))
    first, active = log.segments.all()
    work = Work(log, at_once, unhurried, list[str]().extend, NOW_MS)

    assert [batch.base_offset for _, batch in work.batches(first)] == [0]
    log.delete_records_before(1)
    for segment in (first, active):
        with pytest.raises(LogChanged):
            next(work.batches(segment))
