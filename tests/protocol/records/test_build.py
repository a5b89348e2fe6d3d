"""Tests of protocol.records.build."""

from wirekafka.protocol.records import Record, RecordBatch, build_batch, decode_records

KNOWN = (
    "0000000000000005"
    "00000035"
    "ffffffff"
    "02"
    "%s"
    "0000"
    "00000000"
    "00000000000003e8"
    "00000000000003e8"
    "ffffffffffffffff"
    "ffff"
    "ffffffff"
    "00000001"
)


def test_a_batch_has_kafkas_bytes() -> None:
    """Field by field as DefaultRecordBatch.writeHeader has them."""
    data = build_batch([Record(None, None, 1000)], base_offset=5)

    crc = data[17:21].hex()
    assert data[:61].hex() == KNOWN.replace("00000035", f"{len(data) - 12:08x}") % crc
    assert data[61:].hex() == "0c000000010100"


def test_records_without_a_time_get_the_batchs() -> None:
    """`timestamp_ms` stands in where a record says -1."""
    batch = RecordBatch(build_batch([Record(b"a"), Record(b"b", timestamp_ms=9)], timestamp_ms=7))

    assert [record.timestamp_ms for record in decode_records(batch)] == [7, 9]
    assert (batch.base_timestamp, batch.max_timestamp) == (7, 9)


def test_an_empty_batch_has_no_records_and_no_time() -> None:
    """Compaction leaves such batches behind to keep a sequence number."""
    batch = RecordBatch(build_batch([], base_offset=3))

    assert (batch.record_count, batch.last_offset, batch.max_timestamp) == (0, 3, -1)
    assert batch.crc_ok()
    assert decode_records(batch) == []
