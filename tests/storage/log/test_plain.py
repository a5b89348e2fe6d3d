"""Tests of storage.log.plain: one plain batch, against `PartitionLog.append`. What is plain: see test_run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.log.test_run import (
    CONFIGS,
    NOT_FOR_A_RUN,
    PRODUCER,
    SENT,
    Sent,
    append,
    batches_of,
    filled,
    folder,
    left_behind,
    one_by_one,
    stored,
)
from tests.storage.support import NOW_MS, FaultyFiles, Store, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.log.plain import NOT_PLAIN, append_plainly


def put(log: PartitionLog, batch: bytearray, leader_epoch: int = 0) -> int:
    return append_plainly(log, memoryview(batch), leader_epoch, NOW_MS)


def test_a_plain_batch_is_there_at_once(store: Store) -> None:
    log = filled(store)

    offsets = [put(log, simple_batch(2, **PRODUCER, base_sequence=1)), put(log, simple_batch(3))]

    assert (offsets, log.log_end_offset) == ([1, 3], 6)
    assert stored(log) == [(0, 0, True), (1, 0, True), (3, 0, True)]
    assert [batch.last_sequence for batch in log.producers.producers[7].batches] == [0, 2]


def test_a_large_batch_is_plain_too(store: Store) -> None:
    """Other than in a run, where it would be copied."""
    assert put(filled(store), simple_batch(size=70_000)) == 1


@pytest.mark.parametrize("batch", NOT_FOR_A_RUN.values(), ids=NOT_FOR_A_RUN)
def test_what_is_not_plain_is_left_alone(store: Store, batch: bytearray) -> None:
    """The usual way says what is wrong with it, if anything is."""
    log, before = filled(store), bytes(batch)

    assert (put(log, batch), bytes(batch), log.log_end_offset) == (NOT_PLAIN, before, 1)


def test_nothing_is_plain_for_a_log_that_does_more_than_to_write(store: Store) -> None:
    """It gets its times from the broker, a new leader epoch is to be noted, or it has failed."""
    log = filled(store)

    assert put(log, simple_batch(), leader_epoch=1) == NOT_PLAIN
    log.config = LogConfig(message_timestamp_type="LogAppendTime")
    assert put(log, simple_batch()) == NOT_PLAIN
    log.config, log.failed = LogConfig(), True
    assert put(log, simple_batch()) == NOT_PLAIN


def test_a_failed_write_leaves_nothing(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """Half of it is cut off again; sent again it is written once."""
    log = filled(faulty_store)
    size = log.segments.active.file.size()
    faulty_files.tears = True
    faulty_files.fail_next("pwrite")

    with pytest.raises(KafkaError) as refusal:
        put(log, simple_batch(**PRODUCER, base_sequence=1))

    assert refusal.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (log.log_end_offset, log.segments.active.file.size(), log.failed) == (1, size, False)
    assert put(log, simple_batch(**PRODUCER, base_sequence=1)) == 1
    assert append(log, simple_batch(**PRODUCER, base_sequence=1)) == 1  # a duplicate
    assert log.log_end_offset == 2


def test_a_failed_write_that_cannot_be_removed_ends_the_log(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    log = filled(faulty_store)
    faulty_files.calls, faulty_files.fail_at, faulty_files.fails_from_then_on = [], 1, True

    with pytest.raises(KafkaError):
        put(log, simple_batch())

    assert faulty_files.calls == ["pwrite", "ftruncate"]
    assert (log.failed, log.log_end_offset, put(log, simple_batch())) == (True, 1, NOT_PLAIN)


@settings(max_examples=150, deadline=None)
@given(CONFIGS, st.lists(SENT, max_size=30))
def test_plain_appends_leave_what_appends_leave(config: LogConfig, sent: list[Sent]) -> None:
    """The same answers, the same bytes in every file, indexes and producers among them."""
    with folder(config) as fast_store, folder(config) as slow_store:
        fast, slow = fast_store.open(), slow_store.open()
        answers: list[int | ErrorCode] = []
        for batch in batches_of(sent):
            base_offset = put(fast, batch)
            answers.append(append(fast, batch) if base_offset == NOT_PLAIN else base_offset)

        assert answers == one_by_one(slow, list(batches_of(sent)))
        assert fast.log_end_offset == slow.log_end_offset
        remembered = [
            {who: list(producer.batches) for who, producer in log.producers.producers.items()}
            for log in (fast, slow)
        ]
        assert remembered[0] == remembered[1]
        assert left_behind(fast_store) == left_behind(slow_store)
