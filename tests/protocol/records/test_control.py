"""Tests of protocol.records.control."""

import pytest

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Record, RecordBatch, build_batch
from wirekafka.protocol.records.control import (
    ControlRecordType,
    EndTxnMarker,
    build_marker_batch,
    decode_marker,
    encode_marker,
    marker_of,
)

COMMIT = EndTxnMarker(ControlRecordType.COMMIT, 7)
ABORT = EndTxnMarker(ControlRecordType.ABORT, 0)


def test_markers_have_kafkas_bytes() -> None:
    """Key: version, type. Value: version, coordinator epoch (EndTxnMarker.json)."""
    assert encode_marker(COMMIT) == (bytes.fromhex("00000001"), bytes.fromhex("000000000007"))
    assert encode_marker(ABORT) == (bytes.fromhex("00000000"), bytes.fromhex("000000000000"))


@pytest.mark.parametrize("marker", [COMMIT, ABORT])
def test_a_marker_comes_back_from_its_batch(marker: EndTxnMarker) -> None:
    """One record in a transactional control batch without a sequence."""
    batch = RecordBatch(build_marker_batch(marker, producer_id=5, producer_epoch=2, timestamp_ms=10))

    assert marker_of(batch) == marker
    assert (batch.is_control, batch.is_transactional, batch.base_sequence) == (True, True, -1)
    assert (batch.producer_id, batch.producer_epoch, batch.record_count) == (5, 2, 1)


def test_other_control_records_are_no_markers() -> None:
    """KRaft's control records (types 2 and up) end no transaction; nor does an emptied batch."""
    assert decode_marker(bytes.fromhex("00000002"), b"") is None
    assert marker_of(RecordBatch(build_batch([], attributes=0x30))) is None


@pytest.mark.parametrize(("key", "value"), [(None, None), (b"\0\0\0", b""), (bytes(4), bytes(5))])
def test_a_short_marker_is_corrupt(key: bytes | None, value: bytes | None) -> None:
    """A key has four bytes, a value six."""
    with pytest.raises(KafkaError) as caught:
        marker_of(RecordBatch(build_batch([Record(key, value, 1)], attributes=0x30)))

    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
