"""Tests of protocol.records.record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records.record import Record, decode_record, encode_record

SAMPLE = Record(b"key", b"value", 1005, (("name", b"x"), ("none", None)), 12)

optional_bytes = st.none() | st.binary(max_size=20)
records = st.builds(
    Record,
    key=optional_bytes,
    value=optional_bytes,
    timestamp_ms=st.integers(0, 1 << 62),
    headers=st.lists(st.tuples(st.text(max_size=8), optional_bytes), max_size=4).map(tuple),
    offset=st.integers(0, (1 << 31) - 1),
)


def encoded(record: Record) -> bytes:
    out = bytearray()
    encode_record(out, record, offset_delta=record.offset, timestamp_delta=record.timestamp_ms)
    return bytes(out)


def test_a_record_has_kafkas_bytes() -> None:
    """Length, attributes, deltas, key, value, headers, each number a varint (DefaultRecord)."""
    out = bytearray()
    encode_record(out, Record(b"k", None, headers=(("h", b"1"),)), offset_delta=1, timestamp_delta=-1)

    assert out.hex() == "16" + "00" + "01" + "02" + "026b" + "01" + "02" + "0268" + "0231"


@given(records)
def test_every_record_comes_back(record: Record) -> None:
    """Null and empty are told apart in key, value and header."""
    data = encoded(record)

    assert decode_record(data, 0, base_offset=0, base_timestamp=0) == (record, len(data))


def test_deltas_are_added_to_the_base() -> None:
    """Offset and time of a record are relative to its batch's."""
    data = encoded(SAMPLE)

    record, _ = decode_record(data, 0, base_offset=100, base_timestamp=5000)

    assert (record.offset, record.timestamp_ms) == (112, 6005)


def test_a_record_cut_at_any_byte_is_corrupt() -> None:
    """Whatever is missing, the error is CORRUPT_MESSAGE and nothing else."""
    data = encoded(SAMPLE)

    for length in range(len(data)):
        with pytest.raises(KafkaError) as caught:
            decode_record(data[:length], 0, base_offset=0, base_timestamp=0)
        assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("01", id="negative length"),
        pytest.param("0c" + "0000000101" + "01", id="negative header count"),
        pytest.param("0c" + "0000000101" + "10", id="more headers than bytes"),
        pytest.param("0e" + "0000000101" + "0201", id="header without a name"),
        pytest.param("0c" + "0000000801" + "00", id="key longer than the record"),
        pytest.param("0e" + "0000000101" + "0000", id="bytes left over"),
    ],
)
def test_a_malformed_record_is_corrupt(data: str) -> None:
    """Lengths and counts are held against the bytes that are there."""
    with pytest.raises(KafkaError) as caught:
        decode_record(bytes.fromhex(data) + bytes(20), 0, base_offset=0, base_timestamp=0)

    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(("base_timestamp", "delta"), [((1 << 63) - 1, 1), (-(1 << 63), -1)])
def test_a_time_that_no_64_bits_hold_is_corrupt(base_timestamp: int, delta: int) -> None:
    """A producer may write any base timestamp and any delta; whoever writes the record again could not."""
    data = encoded(Record(timestamp_ms=delta))

    with pytest.raises(KafkaError) as caught:
        decode_record(data, 0, base_offset=0, base_timestamp=base_timestamp)
    record, _ = decode_record(data, 0, base_offset=0, base_timestamp=base_timestamp - delta)

    assert (caught.value.code, record.timestamp_ms) == (ErrorCode.CORRUPT_MESSAGE, base_timestamp)
