"""Tests of storage.segments.transaction_index."""

from pathlib import Path

import pytest

from wirekafka.storage.disk.files import FILES
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.transaction_index import AbortedTransaction, TransactionIndex, encode_aborted

FIRST = AbortedTransaction(7, 3, 9, 5)
SECOND = AbortedTransaction(8, 5, 12, 13)
# Kafka's AbortedTxn, version 0: int16 version, then producer id, first, last and last stable offset.
FIRST_BYTES = "00000000000000000007000000000000000300000000000000090000000000000005"
SECOND_BYTES = "000000000000000000080000000000000005000000000000000c000000000000000d"


def index_at(folder: Path, *, is_new: bool = False) -> TransactionIndex:
    return TransactionIndex(FILES, str(folder / "0"), is_new=is_new)


def test_entries_have_kafkas_bytes(tmp_path: Path) -> None:
    """Written piece by piece, read again, and gone on with."""
    index = index_at(tmp_path, is_new=True)
    index.add(FIRST)
    index.write()
    assert (tmp_path / "0.txnindex").read_bytes().hex() == FIRST_BYTES

    again = index_at(tmp_path)
    again.add(SECOND)
    again.write()

    assert (tmp_path / "0.txnindex").read_bytes().hex() == FIRST_BYTES + SECOND_BYTES
    assert index_at(tmp_path).all() == [FIRST, SECOND]
    assert encode_aborted([FIRST, SECOND]).hex() == FIRST_BYTES + SECOND_BYTES


def test_the_file_is_there_once_there_is_an_entry(tmp_path: Path) -> None:
    """As Kafka has it; an index that is made anew and empty has none either."""
    index = index_at(tmp_path, is_new=True)
    index.write()
    assert list(tmp_path.iterdir()) == []
    index.add(FIRST)
    index.write()

    index.reset()
    index.write()

    assert (list(tmp_path.iterdir()), index.all()) == ([], [])


def test_an_index_that_nobody_asked_for_is_neither_read_nor_written(tmp_path: Path) -> None:
    """A start has thousands of segments."""
    (tmp_path / "0.txnindex").write_bytes(b"not read")

    index_at(tmp_path).write()

    assert (tmp_path / "0.txnindex").read_bytes() == b"not read"


def test_those_of_a_range_are_found(tmp_path: Path) -> None:
    """From first record to marker; the last stable offset says that no later one begins earlier."""
    index = index_at(tmp_path, is_new=True)
    for aborted in (FIRST, SECOND):
        index.add(aborted)

    def collect(start: int, end: int) -> tuple[list[AbortedTransaction], bool]:
        found: list[AbortedTransaction] = []
        return found, index.collect(start, end, found)

    collected = {}
    for start, end in ((0, 3), (0, 4), (0, 5), (0, 6), (9, 13), (10, 14), (13, 14)):
        of_range, done = collect(start, end)
        collected[start, end] = ([entry.producer_id for entry in of_range], done)
    assert collected == {
        (0, 3): ([], True),
        (0, 4): ([7], True),
        (0, 5): ([7], True),
        (0, 6): ([7, 8], True),
        (9, 13): ([7, 8], True),
        (10, 14): ([8], False),
        (13, 14): ([], False),
    }


@pytest.mark.parametrize(
    "damage",
    [
        FIRST_BYTES + "00",
        "0001" + FIRST_BYTES[4:],
        SECOND_BYTES + FIRST_BYTES,
        encode_aborted([AbortedTransaction(7, 9, 9, 5)]).hex(),
        encode_aborted([AbortedTransaction(7, -1, 9, 5)]).hex(),
        encode_aborted([AbortedTransaction(7, 3, 9, 11)]).hex(),
        encode_aborted([AbortedTransaction(7, 3, 9, -1)]).hex(),
    ],
)
def test_a_damaged_file_is_told(tmp_path: Path, damage: str) -> None:
    """It would have a consumer see aborted records, or none at all."""
    (tmp_path / "0.txnindex").write_bytes(bytes.fromhex(damage))

    with pytest.raises(Damaged, match=r"0\.txnindex is damaged"):
        index_at(tmp_path).all()


def test_a_segment_without_aborted_transactions_is_known_by_then(tmp_path: Path) -> None:
    """So that a committed read of a log with thousands of them looks at none again."""
    stem = str(tmp_path / "0")
    index = TransactionIndex(FILES, stem, is_new=False)
    before = index.is_known_to_be_empty
    index.load()

    assert (before, index.is_known_to_be_empty) == (False, True)
    index.add(AbortedTransaction(1, 0, 2, 3))
    assert not index.is_known_to_be_empty
