"""Tests of storage.acceptance.record_checks, after LogValidator.validateRecord and processRecordErrors."""

import tracemalloc
from typing import Any

import pytest

from tests.storage.support import NOW_MS, TOPIC_PARTITION, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError
from wirekafka.protocol.records import Codec, Record, RecordBatch, build_batch
from wirekafka.protocol.records.batch import HEADER, HEADER_BYTES
from wirekafka.protocol.records.compression import compress
from wirekafka.storage.acceptance.record_checks import (
    MOST_RECORDS_BLAMED,
    CheckedRecords,
    check_records,
    heads_of,
)
from wirekafka.storage.config import LogConfig

COMPRESSED = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]


def checked(records: bytearray, *, most_bytes: int | None = None, **config: Any) -> CheckedRecords:
    batch = RecordBatch(records)
    return check_records(batch, TOPIC_PARTITION, LogConfig(**config), now_ms=NOW_MS, most_bytes=most_bytes)


def refusal(records: bytearray, **options: Any) -> KafkaError:
    with pytest.raises(KafkaError) as caught:
        checked(records, **options)
    return caught.value


def with_payload(codec: Codec, payload: bytes, count: int) -> bytearray:
    """A batch that says it has `count` records, over any bytes."""
    data = bytearray(HEADER_BYTES) + payload
    fields = [0, len(data) - 12, -1, 2, 0, codec, count - 1, NOW_MS, NOW_MS, -1, -1, -1, count]
    HEADER.pack_into(data, 0, *fields)
    return data


@pytest.mark.parametrize("codec", list(Codec))
def test_the_records_are_given_unpacked(codec: Codec) -> None:
    """As they stand in an uncompressed batch; a builder's offsets and times are counted as they should."""
    plain = bytes(simple_batch(3))[HEADER_BYTES:]

    assert (bytes(checked(simple_batch(3, codec=codec)).payload), True) == (plain, True)
    assert checked(simple_batch(3, codec=codec)).counted


@pytest.mark.parametrize(
    ("position", "value", "counted"), [(2, 2, False), (17 + 2, 2, True), (17 + 3, 4, False)]
)
def test_offsets_or_times_that_a_builder_would_not_write_are_seen(
    position: int, value: int, counted: bool
) -> None:
    """The first record's time, and each record's offset, against the header's."""
    batch = simple_batch(2)
    batch[HEADER_BYTES + position] = value

    assert checked(batch).counted == counted


def test_faults_of_keys_and_times_are_told_together() -> None:
    """One wrong time makes the whole an invalid timestamp; a keyless record is not asked for its time."""
    late = NOW_MS + 9_000_000
    records = [Record(None, b"", NOW_MS), Record(b"k", b"", late), Record(None, b"", late), Record(b"k")]
    error = refusal(build_batch(records, timestamp_ms=NOW_MS), cleanup_policy=("compact",))

    assert isinstance(error, InvalidRecords)
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert [(index, "key" in message) for index, message in error.record_errors] == [
        (0, True),
        (1, False),
        (2, True),
    ]


def test_a_claim_of_log_append_time_stands_for_every_records_time() -> None:
    """Kafka reads the batch's time as each record's, and holds that against the window."""
    batch = build_batch([Record(b"k", b"", 5)], attributes=0x08)
    RecordBatch(batch).set_timestamp_type(log_append_time=True, max_timestamp=NOW_MS)

    assert checked(batch, message_timestamp_before_max_ms=100).counted
    assert refusal(batch, message_timestamp_type="LogAppendTime").code is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("timestamp_ms", [-1, 5])
def test_times_are_not_looked_at_where_the_broker_sets_them(timestamp_ms: int) -> None:
    """On a LogAppendTime topic, and for a record without a time, the window has no meaning."""
    batch = build_batch([Record(b"k", b"", timestamp_ms)])
    kind = "CreateTime" if timestamp_ms == -1 else "LogAppendTime"

    assert checked(batch, message_timestamp_type=kind, message_timestamp_before_max_ms=1).counted


def test_a_largest_timestamp_that_is_wrong_is_put_right() -> None:
    """Kafka writes what it has found; the CRC follows."""
    batch = build_batch([Record(b"k", b"", NOW_MS - 5), Record(b"k", b"", NOW_MS - 9)])
    RecordBatch(batch).set_timestamp_type(log_append_time=False, max_timestamp=NOW_MS + 9_000_000)
    checked(batch)

    assert RecordBatch(batch).max_timestamp == NOW_MS - 5
    assert RecordBatch(batch).crc_ok()


def test_at_most_a_thousand_records_are_blamed() -> None:
    """An answer is not to grow with what is wrong."""
    error = refusal(simple_batch(MOST_RECORDS_BLAMED + 5), cleanup_policy=("compact",))

    assert isinstance(error, InvalidRecords)
    assert len(error.record_errors) == MOST_RECORDS_BLAMED


@pytest.mark.parametrize("codec", list(Codec))
def test_bytes_that_are_no_records_are_an_invalid_record(codec: Codec) -> None:
    """A code that no client sends again for (LogValidator raises InvalidRecordException)."""
    payload = compress(codec, b"\x01" * 50) if codec else b"\x01" * 50

    assert refusal(with_payload(codec, payload, 3)).code is ErrorCode.INVALID_RECORD
    if codec:
        assert refusal(with_payload(codec, b"\xff" * 50, 3)).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", COMPRESSED)
def test_a_record_of_a_compressed_batch_has_a_largest_size(codec: Codec) -> None:
    """max.decompressed.message.bytes (INVALID_RECORD); an uncompressed batch has max.message.bytes."""
    batch = simple_batch(2, size=500, codec=codec)

    assert checked(batch, max_decompressed_message_bytes=520).counted
    assert refusal(batch, max_decompressed_message_bytes=499).code is ErrorCode.INVALID_RECORD
    assert checked(simple_batch(2, size=500), max_decompressed_message_bytes=499).counted


@pytest.mark.parametrize("codec", COMPRESSED)
def test_a_bomb_is_too_large_and_takes_no_memory(codec: Codec) -> None:
    """What unpacks past the bound is told so, and a producer then splits its batch."""
    bomb = with_payload(codec, compress(codec, bytes(40 * 1024 * 1024)), 1000)
    tracemalloc.start()
    try:
        error = refusal(bomb, most_bytes=1024 * 1024)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert error.code is ErrorCode.MESSAGE_TOO_LARGE
    assert peak < 4 * 1024 * 1024 + 2 * len(bomb)


def test_many_small_records_are_not_held_at_once() -> None:
    """Memory follows the bytes, not the records: each is looked at and let go."""
    record = bytes((12, 0, 0, 0, 1, 1, 0))
    batch = with_payload(Codec.ZSTD, compress(Codec.ZSTD, record * 40_000), 40_000)
    tracemalloc.start()
    try:
        assert not checked(batch).counted
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 8 * 40_000 * len(record)


def test_a_batch_of_more_than_a_million_records_is_not_looked_into() -> None:
    """They fit into the bound of bytes, and would take a thread for half a minute."""
    record = bytes((12, 0, 0, 0, 1, 1, 0))
    batch = with_payload(Codec.ZSTD, compress(Codec.ZSTD, record * 1_048_577), 1_048_577)

    assert refusal(batch).code is ErrorCode.MESSAGE_TOO_LARGE
    with pytest.raises(KafkaError):
        heads_of(RecordBatch(batch), b"", LogConfig())
    large = LogConfig(max_message_bytes=8 * 1_048_577)
    assert next(heads_of(RecordBatch(batch), record, large)).end == 7
