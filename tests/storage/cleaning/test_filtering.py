"""Tests of storage.cleaning.filtering: batch by batch."""

import struct
from typing import Any

import pytest
from crc32c import crc32c

from tests.storage.cleaning.support import KeyAndValue, keyed_batch
from tests.storage.support import NOW_MS
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Codec, Record, RecordBatch, build_batch, decode_records
from wirekafka.protocol.records.batch import LOG_APPEND_TIME_FLAG
from wirekafka.storage.cleaning.filtering import (
    DELETE_HORIZON_FLAG,
    BatchFilter,
    LastBatch,
    delete_horizon_ms,
)
from wirekafka.storage.cleaning.offset_map import OffsetMap
from wirekafka.storage.cleaning.transactions import CleanedTransactions

RETENTION_MS = 500
LONGEST_MS = (1 << 63) - 1


def filter_for(
    newest: dict[str, int], *, up_to: int = 100, now_ms: int = NOW_MS, **given: Any
) -> BatchFilter:
    """A filter that knows the newest offsets of these keys, up to an offset."""
    offsets = OffsetMap(1 << 20)
    for key, offset in newest.items():
        offsets.put(key.encode(), offset)
    offsets.latest_offset = up_to
    return BatchFilter(
        offsets,
        CleanedTransactions(),
        high_watermark=1000,
        now_ms=now_ms,
        delete_retention_ms=RETENTION_MS,
        most_unpacked_bytes=1 << 20,
        **given,
    )


def batch_of(*pairs: KeyAndValue, **header: Any) -> RecordBatch:
    return RecordBatch(keyed_batch(*pairs, base_offset=10, leader_epoch=3, **header))


def with_base_timestamp(data: bytearray, base_timestamp: int) -> RecordBatch:
    """The batch with another base timestamp and a CRC that is right, as a producer can send it."""
    struct.pack_into(">q", data, 27, base_timestamp)
    struct.pack_into(">I", data, 17, crc32c(data[21:]))
    return RecordBatch(data)


def left(batch_filter: BatchFilter, batch: RecordBatch) -> RecordBatch:
    data = batch_filter.retained(batch)
    assert data is not None
    return RecordBatch(bytes(data))


def keys(batch: RecordBatch) -> list[tuple[int, bytes | None]]:
    return [(record.offset, record.key) for record in decode_records(batch)]


def test_a_record_stays_when_it_is_the_newest_of_its_key() -> None:
    """Or when the map does not know its key, which is then not outdated."""
    batch_filter = filter_for({"a": 10, "b": 99})

    assert keys(left(batch_filter, batch_of(("a", "1"), ("b", "1"), ("c", "1")))) == [(10, b"a"), (12, b"c")]


def test_records_behind_the_map_stay() -> None:
    """Nothing is known of them."""
    batch_filter = filter_for({"a": 10, "b": 99}, up_to=10)

    assert keys(left(batch_filter, batch_of(("a", "1"), ("b", "1")))) == [(10, b"a"), (11, b"b")]


def test_records_without_a_key_go() -> None:
    """They were written before the topic was compacted, and nothing could ever replace them."""
    batch = keyed_batch(("a", "1"), base_offset=10)
    mixed = RecordBatch(build_batch([Record(None, b"v", 1), Record(b"a", b"v", 1)], base_offset=10))

    assert filter_for({}).retained(RecordBatch(batch)) is not None
    assert keys(left(filter_for({}), mixed)) == [(11, b"a")]


def test_a_batch_without_records_left_goes() -> None:
    """With its header."""
    assert filter_for({"a": 50}).retained(batch_of(("a", "1"))) is None


@pytest.mark.parametrize("codec", list(Codec))
def test_what_stays_keeps_its_place_time_and_codec(codec: Codec) -> None:
    """Offsets, epoch, sequence numbers; the largest timestamp is that of the records that are left."""
    batch = batch_of(
        ("a", "1"), ("b", "1"), ("a", "1"), producer_id=7, producer_epoch=2, base_sequence=40, codec=codec
    )

    rebuilt = left(filter_for({"a": 50}), batch)

    assert (rebuilt.base_offset, rebuilt.last_offset, rebuilt.partition_leader_epoch) == (10, 12, 3)
    assert (rebuilt.producer_id, rebuilt.producer_epoch, rebuilt.base_sequence) == (7, 2, 40)
    assert (rebuilt.codec, rebuilt.record_count, rebuilt.max_timestamp) == (codec, 1, NOW_MS)
    assert rebuilt.crc_ok()
    assert decode_records(rebuilt) == decode_records(batch)[1:2]


def test_the_time_of_the_append_stays_that_of_the_batch() -> None:
    """With LogAppendTime the largest timestamp is every record's."""
    batch = batch_of(("a", "1"), ("b", "1"))
    batch.set_timestamp_type(log_append_time=True, max_timestamp=NOW_MS + 77)

    rebuilt = left(filter_for({"a": 50}), batch)

    assert rebuilt.attributes & LOG_APPEND_TIME_FLAG
    assert [record.timestamp_ms for record in decode_records(rebuilt)] == [NOW_MS + 77]


# --- tombstones


def test_the_first_compaction_sets_the_horizon() -> None:
    """In place of the base timestamp; the records' own times stay what they were (KIP-534)."""
    batch = batch_of(("a", None), ("b", "1"))
    batch_filter = filter_for({})

    rebuilt = left(batch_filter, batch)

    assert delete_horizon_ms(batch) is None
    assert delete_horizon_ms(rebuilt) == NOW_MS + RETENTION_MS == batch_filter.first_horizon_ms
    assert rebuilt.attributes & DELETE_HORIZON_FLAG
    assert decode_records(rebuilt) == decode_records(batch)


@pytest.mark.parametrize(("later_ms", "stays"), [(RETENTION_MS - 1, True), (RETENTION_MS, False)])
def test_a_tombstone_goes_at_its_horizon(later_ms: int, stays: bool) -> None:
    """The horizon itself never moves."""
    once = left(filter_for({}), batch_of(("a", None), ("b", "1")))

    again = left(filter_for({}, now_ms=NOW_MS + later_ms), once)

    assert keys(again) == ([(10, b"a"), (11, b"b")] if stays else [(11, b"b")])
    assert delete_horizon_ms(again) == NOW_MS + RETENTION_MS
    if stays:
        assert bytes(again) == bytes(once)


def test_an_outdated_tombstone_goes_at_once() -> None:
    """There is a newer record of its key."""
    assert filter_for({"a": 50}).retained(batch_of(("a", None))) is None


def test_a_horizon_behind_all_times_is_the_last_that_there_is() -> None:
    """With a delete.retention.ms as long as it may be, a tombstone stays for ever."""
    batch_filter = filter_for({})
    batch_filter.delete_retention_ms = LONGEST_MS

    rebuilt = left(batch_filter, batch_of(("a", None)))

    assert delete_horizon_ms(rebuilt) == LONGEST_MS == batch_filter.first_horizon_ms
    assert decode_records(rebuilt)[0].timestamp_ms == NOW_MS


# --- times that cannot be


@pytest.mark.parametrize(
    ("base_timestamp", "newest"),
    [(LONGEST_MS, {"a": 50}), (-LONGEST_MS - 1, {"a": 50}), (LONGEST_MS, {})],
)
def test_a_time_past_64_bits_is_told(base_timestamp: int, newest: dict[str, int]) -> None:
    """A producer may write any base timestamp, to which the records' deltas are added."""
    records = [Record(b"a", b"1", 5), Record(b"b", None, 15), Record(b"c", b"1", 0)]
    batch = with_base_timestamp(build_batch(records, base_offset=10), base_timestamp)

    with pytest.raises(KafkaError, match="past 64 bits") as caught:
        filter_for(newest).retained(batch)

    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_a_time_too_far_from_its_horizon_is_told() -> None:
    """The difference of two times may need more bits than they do."""
    batch = with_base_timestamp(build_batch([Record(b"a", None, 0)], base_offset=10), -LONGEST_MS)

    with pytest.raises(KafkaError, match="past 64 bits"):
        filter_for({}).retained(batch)


# --- headers that stay


@pytest.mark.parametrize(
    ("last", "stays"),
    [(LastBatch(11, 0), True), (LastBatch(12, 0), False), (LastBatch(-1, 0), False)],
)
def test_the_last_batch_of_a_producer_stays_empty(last: LastBatch, stays: bool) -> None:
    """Its sequence numbers are the last that the producer is known by."""
    batch = batch_of(
        ("a", "1"), ("a", "2"), producer_id=7, producer_epoch=0, base_sequence=5, codec=Codec.GZIP
    )

    data = filter_for({"a": 50}, producers={7: last}).retained(batch)

    assert (data is not None) is stays
    if data is not None:
        header = RecordBatch(data)
        assert (header.record_count, header.base_sequence, header.last_sequence) == (0, 5, 6)
        assert (header.base_offset, header.last_offset, header.codec) == (10, 11, Codec.NONE)
        assert (header.base_timestamp, header.max_timestamp) == (-1, NOW_MS)
        assert header.crc_ok()
        assert decode_records(header) == []


def test_an_empty_batch_stays_for_as_long_as_its_producer() -> None:
    """It comes through unchanged, and goes when the producer is forgotten."""
    batch = batch_of(("a", "1"), producer_id=7, producer_epoch=0, base_sequence=5)
    last = {7: LastBatch(10, 0)}
    header = left(filter_for({"a": 50}, producers=last), batch)

    assert bytes(left(filter_for({}, producers=last), header)) == bytes(header)
    assert filter_for({}).retained(header) is None


def test_the_batch_before_the_high_watermark_stays_empty() -> None:
    """It tells where the log ends."""
    batch_filter = filter_for({"a": 50})
    batch_filter.high_watermark = 11

    assert left(batch_filter, batch_of(("a", "1"))).record_count == 0


def test_a_batch_that_stays_is_the_same_bytes() -> None:
    """No copy is made of it."""
    batch = batch_of(("a", "1"), ("b", "2"), codec=Codec.ZSTD)

    data = filter_for({}).retained(batch)

    assert isinstance(data, memoryview)
    assert data.obj is batch.buffer


def test_headers_of_records_stay() -> None:
    """Names and values, null among them."""
    records = [Record(b"a", b"1", 5), Record(b"b", b"2", 9, (("h", b"x"), ("n", None)))]
    batch = RecordBatch(build_batch(records, base_offset=10))

    [record] = decode_records(left(filter_for({"a": 50}), batch))

    assert record == Record(b"b", b"2", 9, (("h", b"x"), ("n", None)), 11)


def test_the_bytes_are_those_of_kafkas_layout() -> None:
    """Attribute bit 6 and the horizon where the base timestamp stands."""
    data = bytes(left(filter_for({}), batch_of(("a", None))))

    assert struct.unpack_from(">h", data, 21) == (0x40,)
    assert struct.unpack_from(">q", data, 27) == (NOW_MS + RETENTION_MS,)
