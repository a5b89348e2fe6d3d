"""Tests of protocol.records.batch."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import BATCH_HEADER, Codec, Record, RecordBatch, batches_in, build_batch
from wirekafka.protocol.records.batch import HEADER, HEADER_BYTES, decode_records

RECORDS = [Record(b"a", b"1", 1000), Record(b"b", b"2", 1007), Record(None, None, 1003)]


def resigned(batch: bytearray) -> RecordBatch:
    """The batch with a CRC that is right for its present bytes."""
    view = RecordBatch(batch)
    view.set_timestamp_type(log_append_time=view.is_log_append_time, max_timestamp=view.max_timestamp)
    return view


def header_fields() -> st.SearchStrategy[dict[str, int]]:
    widths = {"magic": 8, "attributes": 16, "producer_epoch": 16}
    wide = {"base_offset", "base_timestamp", "max_timestamp", "producer_id"}
    fields: dict[str, Any] = {}
    for subcon in BATCH_HEADER.subcons:
        bits = widths.get(subcon.name, 64 if subcon.name in wide else 32)
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        fields[subcon.name] = (
            st.integers(0, (1 << 32) - 1) if subcon.name == "crc" else st.integers(low, high)
        )
    return st.fixed_dictionaries(fields)


@given(header_fields())
def test_the_struct_format_agrees_with_the_construct(fields: dict[str, int]) -> None:
    """BATCH_HEADER is the layout; the view reads by a struct format, which has to say the same."""
    data = BATCH_HEADER.build(fields)

    batch = RecordBatch(data)

    assert {name: getattr(batch, name) for name in fields} == fields
    assert HEADER.pack(*(fields[subcon.name] for subcon in BATCH_HEADER.subcons)) == data


def test_a_view_reads_what_was_built() -> None:
    """The header's facts, computed ones among them."""
    batch = RecordBatch(
        build_batch(RECORDS, base_offset=40, leader_epoch=3, producer_id=9, producer_epoch=1, base_sequence=5)
    )

    assert (batch.base_offset, batch.last_offset, batch.record_count) == (40, 42, 3)
    assert (batch.base_timestamp, batch.max_timestamp) == (1000, 1007)
    assert (batch.base_sequence, batch.last_sequence) == (5, 7)
    assert (batch.producer_id, batch.producer_epoch, batch.partition_leader_epoch) == (9, 1, 3)
    assert (batch.codec, batch.is_transactional, batch.is_control, batch.is_log_append_time) == (0, 0, 0, 0)
    assert batch.size_in_bytes == len(batch.buffer)
    assert batch.crc_ok()


def test_sequences_wrap_to_zero() -> None:
    """After 2147483647 comes 0; without a sequence there is no last one."""
    last = RecordBatch(build_batch(RECORDS, producer_id=1, base_sequence=2147483646)).last_sequence
    none = RecordBatch(build_batch(RECORDS)).last_sequence

    assert (last, none) == (0, -1)


def test_attributes_are_told_apart() -> None:
    """Codec in bits 0-2, timestamp type 3, transactional 4, control 5."""
    batch = RecordBatch(build_batch(RECORDS, attributes=0x38, codec=Codec.ZSTD))

    assert (batch.codec, batch.is_log_append_time, batch.is_transactional, batch.is_control) == (
        4,
        True,
        True,
        True,
    )


def test_assign_rewrites_in_place_and_leaves_the_crc_right() -> None:
    """The CRC covers neither base offset nor leader epoch (KIP-98)."""
    buffer = bytearray(b"12345") + build_batch(RECORDS)
    before = bytes(buffer)
    batch = RecordBatch(buffer, 5)

    batch.assign(77, 6)

    assert (batch.base_offset, batch.partition_leader_epoch) == (77, 6)
    read = RecordBatch(buffer, 5)
    assert (read.base_offset, read.partition_leader_epoch, read.crc_ok()) == (77, 6, True)
    assert bytes(buffer[:5] + buffer[13:17] + buffer[21:]) == before[:5] + before[13:17] + before[21:]


def test_log_append_time_gets_a_new_crc() -> None:
    """Attributes and max timestamp are covered, so stamping them needs the CRC anew."""
    buffer = build_batch(RECORDS, attributes=0x10, codec=Codec.GZIP)

    RecordBatch(buffer).set_timestamp_type(log_append_time=True, max_timestamp=5555)

    read = RecordBatch(buffer)
    assert (read.is_log_append_time, read.max_timestamp, read.crc_ok()) == (True, 5555, True)
    assert (read.codec, read.is_transactional) == (1, True)
    assert [record.timestamp_ms for record in decode_records(read)] == [5555] * 3


def test_a_flipped_bit_anywhere_behind_the_crc_is_noticed() -> None:
    """CRC-32C finds every single bit."""
    data = build_batch(RECORDS)

    for position in range(17, len(data)):
        data[position] ^= 0x10
        assert not RecordBatch(data).crc_ok()
        data[position] ^= 0x10


@pytest.mark.parametrize("codec", list(Codec))
def test_records_come_back_with_absolute_offsets(codec: Codec) -> None:
    """Offsets and times are the base plus the record's delta."""
    batch = RecordBatch(build_batch(RECORDS, base_offset=10, codec=codec))

    assert decode_records(batch) == [record._replace(offset=10 + i) for i, record in enumerate(RECORDS)]


@pytest.mark.parametrize("count", [-1, 0, 2, 4, 2147483647])
def test_a_wrong_record_count_is_corrupt(count: int) -> None:
    """More are announced than there are, or bytes are left over; no list is made for a lie."""
    buffer = build_batch(RECORDS)
    struct.pack_into(">i", buffer, 57, count)

    with pytest.raises(KafkaError) as caught:
        decode_records(resigned(buffer))

    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_the_walk_gives_every_whole_batch() -> None:
    """Batch behind batch, each a view into the same buffer."""
    first, second = build_batch(RECORDS), build_batch(RECORDS[:1], base_offset=3)
    walk = batches_in(first + second)

    assert [(batch.base_offset, batch.position) for batch in walk] == [(0, 0), (3, len(first))]
    assert not walk.torn
    assert bytes(RecordBatch(first + second, len(first))) == bytes(second)


def test_the_walk_stops_before_a_torn_batch_at_any_byte() -> None:
    """`position` says where the torn one begins."""
    first, second = build_batch(RECORDS), build_batch(RECORDS[:1], base_offset=3)

    for length in range(1, len(second)):
        walk = batches_in(first + second[:length])
        assert len(list(walk)) == 1
        assert (walk.torn, walk.position) == (True, len(first))


def test_the_walk_stops_before_a_length_that_no_batch_has() -> None:
    """A length below the header's would make the walk read inside itself, or backwards."""
    buffer = build_batch(RECORDS)
    for length in (-61, 0, 48):
        struct.pack_into(">i", buffer, 8, length)
        walk = batches_in(buffer)

        assert list(walk) == []
        assert walk.torn


def test_a_header_that_is_not_all_there_is_an_error() -> None:
    """The caller has to see that HEADER_BYTES are there."""
    with pytest.raises(struct.error):
        RecordBatch(bytes(HEADER_BYTES - 1))
