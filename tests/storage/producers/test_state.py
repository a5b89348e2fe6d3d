"""Tests of storage.producers.state, after ProducerAppendInfo and ProducerStateEntry."""

from typing import Any

import pytest

from tests.storage.support import TOPIC_PARTITION, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import (
    ControlRecordType,
    EndTxnMarker,
    RecordBatch,
    build_batch,
    build_marker_batch,
)
from wirekafka.storage.producers.state import AppendedBatch, Producer, ProducerState
from wirekafka.storage.segments.transaction_index import AbortedTransaction

PRODUCER = 9


class Partition:
    """A partition's end, and its producers."""

    def __init__(self) -> None:
        self.state = ProducerState(TOPIC_PARTITION)
        self.end = 0

    def send(
        self, sequence: int, count: int = 1, *, epoch: int = 0, client: bool = True, **header: Any
    ) -> AppendedBatch | None:
        """Check a batch and append it, or give the one it repeats."""
        options = {"producer_id": PRODUCER, "producer_epoch": epoch, "base_sequence": sequence} | header
        batch = RecordBatch(simple_batch(count, **options))
        repeated = self.state.check(batch, from_client=client)
        if repeated is None:
            batch.assign(self.end, 0)
            self.end += count
            self.state.update(batch)
        return repeated

    def refused(self, sequence: int, count: int = 1, **header: Any) -> ErrorCode:
        with pytest.raises(KafkaError) as caught:
            self.send(sequence, count, **header)
        return caught.value.code

    def end_transaction(
        self, kind: ControlRecordType, *, epoch: int = 0, coordinator_epoch: int = 0
    ) -> AbortedTransaction | None:
        marker = EndTxnMarker(kind, coordinator_epoch)
        data = build_marker_batch(marker, producer_id=PRODUCER, producer_epoch=epoch, timestamp_ms=1)
        batch = RecordBatch(data)
        assert self.state.check(batch, from_client=False) is None
        batch.assign(self.end, 0)
        self.end += 1
        return self.state.update(batch)


def test_the_sequence_that_comes_next_is_told(partition: Partition) -> None:
    """Of a producer that is known; one in a transaction, or nobody, has none that could be told."""
    unknown = partition.state.next_sequence(PRODUCER)
    partition.send(0x7FFFFFFE, 2, epoch=3, client=False)
    known = partition.state.next_sequence(PRODUCER)
    partition.send(0, epoch=3, attributes=0x10)

    assert (unknown, known) == (None, (3, 0))
    assert partition.state.next_sequence(PRODUCER) is None


def test_a_batch_in_sequence_is_remembered_as_any_other(partition: Partition) -> None:
    other = Partition()
    for each in (partition, other):
        each.send(0)
    batch = RecordBatch(simple_batch(2, producer_id=PRODUCER, producer_epoch=0, base_sequence=1))
    batch.assign(1, 0)

    partition.state.update(batch)
    other.state.update_in_sequence(PRODUCER, AppendedBatch.of(batch))

    ours, theirs = partition.state.producers[PRODUCER], other.state.producers[PRODUCER]
    assert (ours.batches, ours.last_timestamp_ms) == (theirs.batches, theirs.last_timestamp_ms)


@pytest.fixture
def partition() -> Partition:
    return Partition()


def test_a_producer_that_nobody_knows_may_begin_anywhere(partition: Partition) -> None:
    """Its earlier records may have been deleted."""
    assert partition.send(1234) is None
    assert partition.refused(1236) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_have_to_follow(partition: Partition) -> None:
    """The next is the last plus one: neither a gap nor an overlap passes."""
    partition.send(0, 3)

    assert partition.refused(4) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.refused(2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.refused(0, 2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send(3) is None


def test_an_exact_repetition_is_a_duplicate(partition: Partition) -> None:
    """It is answered with where it went the first time, for each of the last five batches."""
    for i in range(6):
        partition.send(2 * i, 2, timestamp_ms=1000 + i)

    repeats = [partition.send(2 * i, 2) for i in range(1, 6)]

    assert [repeat.base_offset for repeat in repeats if repeat] == [2, 4, 6, 8, 10]
    assert [repeat.timestamp_ms for repeat in repeats if repeat] == [1001, 1002, 1003, 1004, 1005]
    assert partition.end == 12


def test_a_repetition_older_than_five_batches_is_out_of_order(partition: Partition) -> None:
    """Five are remembered (NUM_BATCHES_TO_RETAIN)."""
    for i in range(6):
        partition.send(i)

    assert partition.refused(0) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_duplicate_agrees_in_both_ends(partition: Partition) -> None:
    """The same first sequence with another last one is something else."""
    partition.send(0, 2)

    assert partition.refused(0, 1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_wrap_to_zero(partition: Partition) -> None:
    """2147483647 is followed by 0, between batches and inside of one."""
    partition.send(2147483646, 2)
    assert partition.send(0) is None

    across = Partition()
    across.send(2147483646, 3)
    assert across.send(1) is None
    repeated = across.send(2147483646, 3)
    assert repeated is not None
    assert repeated.base_offset == 0


def test_an_older_epoch_is_fenced(partition: Partition) -> None:
    """A zombie is told INVALID_PRODUCER_EPOCH, whatever its sequence."""
    partition.send(0, epoch=3)

    assert partition.refused(1, epoch=2) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.refused(1, epoch=2, client=False) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_new_epoch_begins_at_zero(partition: Partition) -> None:
    """And forgets the batches of the old one."""
    partition.send(0)
    assert partition.refused(1, epoch=1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER

    assert partition.send(0, epoch=1) is None
    assert len(partition.state.producers[PRODUCER].batches) == 1


def test_the_coordinator_is_not_held_to_sequences(partition: Partition) -> None:
    """Offsets of a transaction are written with the producer's id and no sequence."""
    assert partition.send(-1, client=False) is None
    assert partition.send(-1, client=False) is None


def test_producers_do_not_know_each_other(partition: Partition) -> None:
    """Each id has sequences of its own."""
    partition.send(5)

    assert partition.send(0, producer_id=PRODUCER + 1) is None


def test_a_check_changes_nothing(partition: Partition) -> None:
    """What is refused, or fails to be written, leaves no trace."""
    partition.send(0)
    batch = RecordBatch(simple_batch(producer_id=PRODUCER, producer_epoch=0, base_sequence=1))

    assert partition.state.check(batch, from_client=True) is None
    assert partition.state.check(batch, from_client=True) is None
    assert partition.send(1) is None


def test_an_open_transaction_holds_the_stable_offset(partition: Partition) -> None:
    """From its first batch to its marker; the oldest open one counts."""
    partition.send(0, 2)
    assert partition.state.first_unstable_offset is None

    partition.send(2, attributes=0x10)
    partition.send(0, attributes=0x10, producer_id=PRODUCER + 1)
    partition.send(3, attributes=0x10)
    assert partition.state.first_unstable_offset == 2

    partition.end_transaction(ControlRecordType.COMMIT)
    assert partition.state.first_unstable_offset == 3


def test_a_transaction_allows_no_batch_outside_of_it(partition: Partition) -> None:
    """From the same producer (InvalidTxnStateException)."""
    partition.send(0, attributes=0x10)
    assert partition.refused(1) is ErrorCode.INVALID_TXN_STATE

    partition.end_transaction(ControlRecordType.ABORT)
    assert partition.send(1) is None


def test_a_marker_without_a_transaction_sets_the_epoch(partition: Partition) -> None:
    """A coordinator that fences a producer writes one; older epochs are refused from then on."""
    partition.end_transaction(ControlRecordType.ABORT, epoch=4)

    assert partition.state.first_unstable_offset is None
    assert partition.refused(0, epoch=3) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.refused(7, epoch=4) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send(0, epoch=4) is None


def test_a_marker_of_an_older_coordinator_is_fenced(partition: Partition) -> None:
    """TRANSACTION_COORDINATOR_FENCED, as in checkCoordinatorEpoch."""
    partition.end_transaction(ControlRecordType.COMMIT, coordinator_epoch=5)

    with pytest.raises(KafkaError) as caught:
        partition.end_transaction(ControlRecordType.COMMIT, coordinator_epoch=4)

    assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_marker_that_compaction_emptied_ends_nothing(partition: Partition) -> None:
    """There is no record left to say how (ProducerAppendInfo.append)."""
    partition.send(0, attributes=0x10)
    batch = RecordBatch(simple_batch(0, attributes=0x30, producer_id=PRODUCER, producer_epoch=0))

    partition.state.replay(batch)

    assert partition.state.first_unstable_offset == 0


def test_replay_judges_nothing(partition: Partition) -> None:
    """What is in the log was let in then; batches without a producer id leave no trace."""
    for sequence in (7, 3):
        partition.state.replay(
            RecordBatch(simple_batch(producer_id=PRODUCER, producer_epoch=0, base_sequence=sequence))
        )
    partition.state.replay(RecordBatch(simple_batch()))

    assert list(partition.state.producers) == [PRODUCER]
    assert partition.send(4) is None


def test_idle_producers_are_forgotten(partition: Partition) -> None:
    """After producer.id.expiration.ms, but never while their transaction is open."""
    partition.send(0, timestamp_ms=1000)
    partition.send(0, timestamp_ms=1000, attributes=0x10, producer_id=PRODUCER + 1)

    partition.state.expire(1999, 1000)
    assert len(partition.state.producers) == 2

    partition.state.expire(2000, 1000)
    assert list(partition.state.producers) == [PRODUCER + 1]
    assert partition.send(55) is None


def test_loading_replaces_everything(partition: Partition) -> None:
    """Open transactions are put in order, whatever order the snapshot has."""
    partition.send(0)

    partition.state.load([(1, Producer(0, 0, 0, 30)), (2, Producer(0, 0, 0, 20)), (3, Producer(0, 0, 0, -1))])

    assert sorted(partition.state.producers) == [1, 2, 3]
    assert partition.state.first_unstable_offset == 20


def test_a_refusal_names_producer_and_partition(partition: Partition) -> None:
    """The text reaches the client."""
    partition.send(0)
    with pytest.raises(KafkaError, match=r"Producer 9 of t-0 sent sequence number 5 after 0"):
        partition.send(5)


TRANSACTIONAL = 0x10


def test_an_abort_gives_the_transaction(partition: Partition) -> None:
    """From its first record to the marker; committed and empty ones do not matter to readers."""
    partition.send(0, 2)
    partition.send(2, 3, attributes=TRANSACTIONAL)

    assert partition.end_transaction(ControlRecordType.ABORT) == AbortedTransaction(PRODUCER, 2, 5, 6)
    assert partition.end_transaction(ControlRecordType.ABORT) is None
    partition.send(5, attributes=TRANSACTIONAL)
    assert partition.end_transaction(ControlRecordType.COMMIT) is None


def test_an_abort_knows_what_is_still_open(partition: Partition) -> None:
    """The last stable offset after it is where the oldest other transaction began."""
    partition.send(0, attributes=TRANSACTIONAL)
    partition.send(0, attributes=TRANSACTIONAL, producer_id=1)
    partition.send(0, attributes=TRANSACTIONAL, producer_id=2)

    assert partition.end_transaction(ControlRecordType.ABORT) == AbortedTransaction(PRODUCER, 0, 3, 1)


def test_a_new_epoch_leaves_an_open_transaction_where_it_began(partition: Partition) -> None:
    """Only a marker ends it; with KIP-890 that has the next epoch, and the sequence begins anew."""
    partition.send(0, attributes=TRANSACTIONAL)
    partition.send(0, attributes=TRANSACTIONAL, epoch=1)
    assert partition.state.first_unstable_offset == 0

    aborted = partition.end_transaction(ControlRecordType.ABORT, epoch=2)

    assert aborted == AbortedTransaction(PRODUCER, 0, 2, 3)
    assert partition.refused(1, epoch=1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.refused(1, epoch=2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send(0, epoch=2) is None


def test_a_marker_without_a_record_says_nothing(partition: Partition) -> None:
    """Compaction leaves such a batch of a transaction that is all gone, for its producer's epoch."""
    partition.send(0, attributes=TRANSACTIONAL)
    empty = RecordBatch(build_batch([], producer_id=PRODUCER, producer_epoch=5, attributes=0x30))

    assert partition.state.replay(empty) is None

    assert partition.state.first_unstable_offset == 0
    assert partition.state.producers[PRODUCER].epoch == 0
