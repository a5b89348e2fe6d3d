"""Tests of storage.producers.history: no retry is taken for something new after a start."""

import pytest

from tests.storage.support import NOW_MS, TOPIC_PARTITION, Store, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import Appended, LogConfig, PartitionLog
from wirekafka.storage.producers.history import recall_batches
from wirekafka.storage.producers.state import ProducerState


def send(log: PartitionLog, producer_id: int, sequence: int, *, epoch: int = 0, size: int = 10) -> Appended:
    batch = simple_batch(size=size, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    return log.append(batch, leader_epoch=0, now_ms=NOW_MS)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("segment_bytes", [1 << 20, 500])
def test_the_last_five_batches_of_a_producer_are_known_after_any_stop(
    store: Store, clean: bool, segment_bytes: int
) -> None:
    """It may have that many requests under way, and sends again whatever it had no answer to."""
    store.config = LogConfig(segment_bytes=segment_bytes, index_interval_bytes=100)
    log = store.open()
    for sequence in range(12):
        for producer_id in (1, 2, 3):
            send(log, producer_id, sequence)
    log.flush()
    assert store.directory is not None
    store.directory.checkpoint()
    store.stop(clean=clean)

    log = store.open()

    for sequence in range(7, 12):
        for producer_id in (1, 2, 3):
            repeated = send(log, producer_id, sequence)
            assert (repeated.duplicate, repeated.base_offset) == (True, 3 * sequence + producer_id - 1)
    with pytest.raises(KafkaError) as caught:
        send(log, 1, 6)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not send(log, 1, 12).duplicate


def test_only_batches_of_the_last_epoch_are_known(store: Store) -> None:
    """With a new epoch the sequence begins anew."""
    log = store.open()
    for sequence in range(3):
        send(log, 1, sequence)
    for sequence in range(2):
        send(log, 1, sequence, epoch=1)
    store.stop()

    log = store.open()

    assert [batch.last_offset for batch in log.producers.producers[1].batches] == [3, 4]


def test_a_producer_that_was_idle_for_long_is_known_by_its_newest_batch(store: Store) -> None:
    """A start does not read the whole log for it: nothing it sent is under way any more."""
    store.config = LogConfig(index_interval_bytes=1)
    log = store.open()
    for sequence in range(3):
        send(log, 1, sequence)
    for sequence in range(100):
        send(log, 2, sequence)
    store.stop()

    log = store.open()

    batches = {producer_id: producer.batches for producer_id, producer in log.producers.producers.items()}
    assert [batch.last_offset for batch in batches[1]] == [2]
    assert [batch.last_offset for batch in batches[2]] == [98, 99, 100, 101, 102]


def test_a_damaged_segment_keeps_no_log_from_opening(store: Store) -> None:
    """Who reads it is told; what the snapshot says is known all the same."""
    store.config = LogConfig(segment_bytes=300)
    log = store.open()
    for sequence in range(5):
        send(log, 1, sequence)
    segments = log.segments.all()
    producers = ProducerState(TOPIC_PARTITION)
    log.snapshots.load(segments[-1].base_offset, producers)
    store.stop()
    sealed = store.log_path(segments[-2].base_offset)
    sealed.write_bytes(b"\xee" * sealed.stat().st_size)
    for index in store.folder.glob("*index"):
        index.unlink()
    reopened = [segment for segment in segments if segment.base_offset < segments[-1].base_offset]
    for segment in reopened:
        segment._loaded = False

    recall_batches(reopened, producers, segments[-1].base_offset)

    assert len(producers.producers[1].batches) == 1


def test_without_producers_nothing_is_read(store: Store) -> None:
    """Most partitions have none."""
    recall_batches([], ProducerState(TOPIC_PARTITION), 10)
