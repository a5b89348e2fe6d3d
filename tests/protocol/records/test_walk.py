"""Tests of protocol.records.walk."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.records import RECORD
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Record, RecordBatch, build_batch, decode_records, unpack_records
from wirekafka.protocol.records.batch import HEADER_BYTES
from wirekafka.protocol.records.walk import RecordHead, walk_records

NO_LIMIT = 1 << 31

RECORDS = st.lists(RECORD, min_size=1, max_size=20)


def walked(
    payload: bytes, count: int, max_record_bytes: int = NO_LIMIT, *, base_timestamp: int = 0
) -> list[RecordHead]:
    return list(
        walk_records(payload, count, base_timestamp=base_timestamp, max_record_bytes=max_record_bytes)
    )


def refusal(
    payload: bytes, count: int, max_record_bytes: int = NO_LIMIT, *, base_timestamp: int = 0
) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        walked(payload, count, max_record_bytes, base_timestamp=base_timestamp)
    return caught.value.code


@settings(max_examples=100, deadline=None)
@given(records=RECORDS)
def test_the_walk_sees_what_decoding_sees(records: list[Record]) -> None:
    """Times, offsets and keys are those of the records, and each begins where the last one ends."""
    batch = RecordBatch(build_batch(records))
    decoded = decode_records(batch)
    heads = walked(bytes(unpack_records(batch)), len(records))

    assert [batch.base_timestamp + head.timestamp_delta for head in heads] == [
        r.timestamp_ms for r in decoded
    ]
    assert [head.offset_delta for head in heads] == list(range(len(records)))
    assert [head.has_key for head in heads] == [r.key is not None for r in records]
    assert heads[-1].end == batch.size_in_bytes - HEADER_BYTES


@settings(max_examples=300, deadline=None)
@given(records=RECORDS, position=st.integers(0, 1 << 20), byte=st.integers(0, 255))
def test_what_decoding_refuses_the_walk_refuses(records: list[Record], position: int, byte: int) -> None:
    """Any one byte changed: both find fault, or neither does."""
    data = build_batch(records)
    data[HEADER_BYTES + position % (len(data) - HEADER_BYTES)] = byte
    batch = RecordBatch(data)
    outcomes: set[int | str] = set()
    for look in (lambda: decode_records(batch), lambda: walked(bytes(unpack_records(batch)), len(records))):
        try:
            outcomes.add(len(look()))
        except KafkaError as error:
            outcomes.add(error.code.name)

    assert len(outcomes) == 1


def test_bytes_behind_the_last_record_are_corrupt() -> None:
    """The header's count is the truth, and nothing else may be there."""
    payload = bytes(unpack_records(RecordBatch(build_batch([Record(b"k", b"v", 1), Record(b"k", b"v", 2)]))))

    assert refusal(payload, 1) is ErrorCode.CORRUPT_MESSAGE
    assert refusal(payload, 3) is ErrorCode.CORRUPT_MESSAGE
    assert refusal(payload[:-1], 2) is ErrorCode.CORRUPT_MESSAGE


def test_a_record_above_the_largest_is_invalid() -> None:
    """max.decompressed.message.bytes is held against the length that stands in front of a record."""
    payload = bytes(unpack_records(RecordBatch(build_batch([Record(b"k", bytes(93), 1)]))))
    (head,) = walked(payload, 1)
    length = head.end - 2

    assert len(walked(payload, 1, length)) == 1
    assert refusal(payload, 1, length - 1) is ErrorCode.INVALID_RECORD


def test_a_walk_takes_no_record_apart_before_it_is_asked_for() -> None:
    """A million records are looked at one by one, not listed."""
    payload = bytes(unpack_records(RecordBatch(build_batch([Record(b"k", b"v", 5)]))))

    heads = walk_records(payload + b"\xff" * 9, 2, base_timestamp=0, max_record_bytes=NO_LIMIT)

    assert next(heads).end == len(payload)


def test_a_time_that_is_none_with_the_batches_is_corrupt() -> None:
    """Nobody could write the record again: a header has 64 bits for a time."""
    payload = bytes(
        unpack_records(RecordBatch(build_batch([Record(timestamp_ms=5), Record(timestamp_ms=6)])))
    )

    assert len(walked(payload, 2, base_timestamp=(1 << 63) - 2)) == 2
    assert refusal(payload, 2, base_timestamp=(1 << 63) - 1) is ErrorCode.CORRUPT_MESSAGE
