"""Tests of storage.cleaning.transactions."""

import pytest

from wirekafka.protocol.records import ControlRecordType, EndTxnMarker, Record, RecordBatch, build_batch
from wirekafka.protocol.records.batch import CONTROL_FLAG, TRANSACTIONAL_FLAG
from wirekafka.protocol.records.control import build_marker_batch
from wirekafka.storage.cleaning.filtering import empty_batch
from wirekafka.storage.cleaning.transactions import CleanedTransactions
from wirekafka.storage.segments.transaction_index import AbortedTransaction

ABORT, COMMIT = ControlRecordType.ABORT, ControlRecordType.COMMIT


def data(offset: int, producer_id: int, *, transactional: bool = True) -> RecordBatch:
    return RecordBatch(
        build_batch(
            [Record(b"k", b"v", 0)],
            base_offset=offset,
            producer_id=producer_id,
            producer_epoch=0,
            attributes=TRANSACTIONAL_FLAG if transactional else 0,
        )
    )


def marker(offset: int, producer_id: int, kind: ControlRecordType) -> RecordBatch:
    batch = RecordBatch(
        build_marker_batch(EndTxnMarker(kind, 0), producer_id=producer_id, producer_epoch=0, timestamp_ms=0)
    )
    batch.assign(offset, 0)
    return batch


def aborted(producer_id: int, first: int, last: int) -> AbortedTransaction:
    return AbortedTransaction(producer_id, first, last, last + 1)


def test_what_was_aborted_may_be_dropped_and_its_marker_not() -> None:
    """The marker is kept while its batches were there; the new index gets the transaction."""
    transactions = CleanedTransactions()
    transactions.add_aborted([aborted(1, 0, 2)])

    assert transactions.may_drop(data(0, 1))
    assert not transactions.may_drop(data(1, 2))
    assert not transactions.may_drop(marker(2, 1, ABORT))
    assert transactions.take_retained() == [aborted(1, 0, 2)]
    assert transactions.take_retained() == []


def test_the_producers_next_transaction_is_another() -> None:
    """After the marker the same producer's batches count again."""
    transactions = CleanedTransactions()
    transactions.add_aborted([aborted(1, 0, 1)])

    assert transactions.may_drop(data(0, 1))
    assert not transactions.may_drop(marker(1, 1, ABORT))
    assert not transactions.may_drop(data(2, 1))
    assert not transactions.may_drop(marker(3, 1, COMMIT))


@pytest.mark.parametrize("kind", [ABORT, COMMIT])
def test_a_marker_without_batches_may_be_dropped(kind: ControlRecordType) -> None:
    """An earlier compaction has dropped them."""
    transactions = CleanedTransactions()
    transactions.add_aborted([aborted(1, 0, 2)])

    assert transactions.may_drop(marker(2, 1, kind))
    assert transactions.take_retained() == []


def test_batches_without_a_transaction_stay() -> None:
    """Also while their producer has an aborted transaction on record."""
    transactions = CleanedTransactions()
    transactions.add_aborted([aborted(1, 5, 6)])

    assert not transactions.may_drop(data(0, 1, transactional=False))
    assert not transactions.may_drop(data(6, 1, transactional=False))


def test_other_control_batches_stay_and_empty_ones_need_not() -> None:
    """A leader change is no marker; a marker that was emptied has said all it can."""
    transactions = CleanedTransactions()
    leader_change = build_batch([Record(b"\0\0\0\2", b"", 0)], attributes=CONTROL_FLAG)

    assert not transactions.may_drop(RecordBatch(leader_change))
    assert transactions.may_drop(RecordBatch(empty_batch(marker(3, 1, COMMIT))))
