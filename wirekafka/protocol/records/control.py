"""Transaction markers: the one record of a control batch, as commit or abort.

Used by `storage.producers.state` when it follows transactions through a log.

Source: Kafka's ControlRecordType and EndTransactionMarker.
"""

import enum
import struct
from dataclasses import dataclass

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records.batch import CONTROL_FLAG, TRANSACTIONAL_FLAG, RecordBatch, decode_records
from wirekafka.protocol.records.build import build_batch
from wirekafka.protocol.records.record import Record

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_VERSION = 0


class ControlRecordType(enum.IntEnum):
    """The kinds of control record that close a transaction."""

    ABORT = 0
    COMMIT = 1


@dataclass(frozen=True, slots=True)
class EndTxnMarker:
    """How a transaction ended, and which epoch of its coordinator said so."""

    kind: ControlRecordType
    coordinator_epoch: int


def encode_marker(marker: EndTxnMarker) -> tuple[bytes, bytes]:
    """The key and the value of a marker's record."""
    return _KEY.pack(_VERSION, marker.kind), _VALUE.pack(_VERSION, marker.coordinator_epoch)


def decode_marker(key: bytes | None, value: bytes | None) -> EndTxnMarker | None:
    """The marker of a control record; None for a control record of another kind.

    Raises CORRUPT_MESSAGE for one that is too short.
    """
    try:
        _, kind = _KEY.unpack_from(key or b"")
        if kind not in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
            return None
        _, coordinator_epoch = _VALUE.unpack_from(value or b"")
    except struct.error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "A control record is too short.") from None
    return EndTxnMarker(ControlRecordType(kind), coordinator_epoch)


def marker_of(batch: RecordBatch) -> EndTxnMarker | None:
    """The marker in a control batch; None when it holds none (emptied by compaction, or not a marker)."""
    records = decode_records(batch)
    if not records:
        return None
    return decode_marker(records[0].key, records[0].value)


def build_marker_batch(
    marker: EndTxnMarker, *, producer_id: int, producer_epoch: int, timestamp_ms: int
) -> bytearray:
    """The control batch that ends one producer's transaction in a partition."""
    key, value = encode_marker(marker)
    return build_batch(
        [Record(key, value, timestamp_ms)],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        attributes=TRANSACTIONAL_FLAG | CONTROL_FLAG,
    )
