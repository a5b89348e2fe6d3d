"""Tests of storage.producers.aborted: which transactions a committed read leaves out."""

from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, FaultyFiles, Store, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import ControlRecordType, EndTxnMarker, build_marker_batch
from wirekafka.storage import LogConfig, Origin, PartitionLog
from wirekafka.storage.segments.transaction_index import AbortedTransaction

TRANSACTIONAL = 0x10


def write(log: PartitionLog, producer_id: int, sequence: int = 0) -> None:
    batch = simple_batch(
        producer_id=producer_id, producer_epoch=0, base_sequence=sequence, attributes=TRANSACTIONAL
    )
    log.append(batch, leader_epoch=0, now_ms=NOW_MS)


def end(log: PartitionLog, producer_id: int, kind: ControlRecordType) -> None:
    marker = build_marker_batch(
        EndTxnMarker(kind, 0), timestamp_ms=NOW_MS, producer_id=producer_id, producer_epoch=0
    )
    log.append(marker, leader_epoch=0, now_ms=NOW_MS, origin=Origin.COORDINATOR)


def abort(log: PartitionLog, producer_id: int) -> None:
    end(log, producer_id, ControlRecordType.ABORT)


def fill(log: PartitionLog) -> None:
    """Producer 1 from 0 to 3, 2 from 1 to 5, 3 commits 4 to 6, 1 again from 7 to 8, each but 3 aborted."""
    write(log, 1)
    write(log, 2)
    write(log, 1, 1)
    abort(log, 1)
    write(log, 3)
    abort(log, 2)
    end(log, 3, ControlRecordType.COMMIT)
    write(log, 1, 2)
    abort(log, 1)


@pytest.mark.parametrize("segment_bytes", [1 << 20, 200])
def test_a_read_is_told_of_the_transactions_that_touch_it(store: Store, segment_bytes: int) -> None:
    """From the first record to the marker, whichever segments these are in (collectAbortedTransactions)."""
    store.config = LogConfig(segment_bytes=segment_bytes)
    log = store.open()
    fill(log)

    ranges = {
        (0, 9): [(1, 0), (2, 1), (1, 7)],
        (0, 1): [(1, 0)],
        (4, 6): [(2, 1)],
        (6, 7): [],
        (8, 9): [(1, 7)],
    }
    assert {(a, b): log.aborted_transactions(a, b) for a, b in ranges} == ranges
    assert log.last_stable_offset == 9
    store.stop()
    log = store.open()
    assert {(a, b): log.aborted_transactions(a, b) for a, b in ranges} == ranges


def test_an_entry_has_the_last_stable_offset_as_of_the_abort(store: Store) -> None:
    """Where the oldest transaction began that was open then; else behind the marker (lastStableOffset)."""
    log = store.open()
    fill(log)
    store.stop()

    entries = (store.folder / f"{0:020d}.txnindex").read_bytes()
    assert [entries[34 * i :][:34].hex() for i in range(3)] == [
        "0000" + "".join(f"{number:016x}" for number in entry)
        for entry in ((1, 0, 3, 1), (2, 1, 5, 4), (1, 7, 8, 9))
    ]


def test_a_log_without_aborts_has_no_index_of_them(store: Store) -> None:
    """As in Kafka."""
    log = store.open()
    write(log, 1)
    end(log, 1, ControlRecordType.COMMIT)
    store.stop()

    assert list(store.folder.glob("*.txnindex")) == []


@pytest.mark.parametrize("damage", [b"", b"\x00" * 34, b"torn"])
def test_a_damaged_index_is_made_anew_of_the_batches(store: Store, damage: bytes) -> None:
    """Of a sealed segment when it is asked for, of the last when the log is opened."""
    store.config = LogConfig(segment_bytes=300)
    log = store.open()
    fill(log)
    store.stop()
    for path in store.folder.glob("*.txnindex"):
        path.write_bytes(path.read_bytes()[: 1 if not damage else 0] + damage)

    log = store.open()

    assert log.aborted_transactions(0, 9) == [(1, 0), (2, 1), (1, 7)]
    write(log, 1, 3)
    abort(log, 1)
    assert log.aborted_transactions(6, 20) == [(1, 7), (1, 9)]


def test_an_unclean_start_makes_the_index_anew(store: Store) -> None:
    """It was in memory only, or is of a tail that was cut."""
    store.config = LogConfig(segment_bytes=300)
    log = store.open()
    fill(log)
    store.kill()

    log = store.open()

    assert log.aborted_transactions(0, 9) == [(1, 0), (2, 1), (1, 7)]


def test_what_was_read_has_an_upper_bound(store: Store) -> None:
    """That of the index, or the segment's end: not every transaction behind it is told of."""
    store.config = LogConfig(index_interval_bytes=1, segment_bytes=600)
    log = store.open()
    for _ in range(20):
        log.append(simple_batch(), leader_epoch=0, now_ms=NOW_MS)
    first = len(simple_batch())

    whole = log.read(0, 10_000, up_to_offset=20, at_least_one_batch=True)
    one = log.read(2, first, up_to_offset=20, at_least_one_batch=True)
    last = log.read(19, 10_000, up_to_offset=20, at_least_one_batch=True)

    assert log.upper_bound(whole) == log.segments.all()[1].base_offset
    assert log.upper_bound(one) == 3
    assert log.upper_bound(last) == 20
    log.delete_records_before(20)
    assert log.upper_bound(whole) == 20


def test_an_index_that_cannot_be_read_is_a_storage_error(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """Without it nobody knows what is committed."""
    faulty_store.config = LogConfig(segment_bytes=200)
    log = faulty_store.open()
    fill(log)
    faulty_store.stop()
    log = faulty_store.open()
    faulty_files.fail_next("open", always=True)

    with pytest.raises(KafkaError) as caught:
        log.aborted_transactions(0, 9)

    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize(
    ("entry", "field"),
    [(0, "producer_id"), (2, "producer_id"), (2, "first_offset"), (0, "last_offset"), (2, "last_offset")],
)
def test_an_index_that_is_not_of_these_batches_is_made_anew(store: Store, entry: int, field: str) -> None:
    """The file has no checksum: a flipped bit would hide what is committed, or show what is not."""
    log = store.open()
    fill(log)
    store.stop()
    path = store.folder / f"{0:020d}.txnindex"
    right = path.read_bytes()
    last_byte = 34 * entry + 2 + 8 * AbortedTransaction._fields.index(field) + 7
    for bit in range(3):
        damaged = bytearray(right)
        damaged[last_byte] ^= 1 << bit
        path.write_bytes(damaged)

        log = store.open()

        assert log.aborted_transactions(0, 9) == [(1, 0), (2, 1), (1, 7)]
        store.stop()
        assert path.read_bytes() == right


def test_an_entry_whose_records_are_gone_is_believed(store: Store) -> None:
    """Retention has removed the segment in which the transaction began."""
    store.config = LogConfig(segment_bytes=200)
    log = store.open()
    fill(log)
    for path in log.delete_records_before(4):
        Path(path).unlink()
    assert log.segments.first_offset > 1
    store.stop()

    log = store.open()

    assert log.aborted_transactions(4, 9) == [(2, 1), (1, 7)]
