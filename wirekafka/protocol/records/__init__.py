"""Record batches: what producers send, logs store and consumers read, without being taken apart."""

from wirekafka.protocol.records.batch import (
    BATCH_HEADER,
    HEADER_BYTES,
    RecordBatch,
    batches_in,
    decode_records,
    unpack_records,
)
from wirekafka.protocol.records.build import build_batch
from wirekafka.protocol.records.compression import Codec
from wirekafka.protocol.records.control import ControlRecordType, EndTxnMarker, build_marker_batch, marker_of
from wirekafka.protocol.records.record import Record
from wirekafka.protocol.records.walk import RecordHead, walk_records

__all__ = [
    "BATCH_HEADER",
    "HEADER_BYTES",
    "Codec",
    "ControlRecordType",
    "EndTxnMarker",
    "Record",
    "RecordBatch",
    "RecordHead",
    "batches_in",
    "build_batch",
    "build_marker_batch",
    "decode_records",
    "marker_of",
    "unpack_records",
    "walk_records",
]
