"""Makes v2 batches of records: for internal topics, control markers and tests.

Clients' batches are never built here; they are stored as they came. Source: Kafka's
MemoryRecordsBuilder.
"""

from collections.abc import Sequence

from wirekafka.protocol.records.batch import (
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    MAGIC_V2,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
)
from wirekafka.protocol.records.checksum import crc32c
from wirekafka.protocol.records.compression import Codec, compress
from wirekafka.protocol.records.record import NO_TIMESTAMP, Record, encode_record

_CRC_COVERS_FROM = 21


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    timestamp_ms: int = NO_TIMESTAMP,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    attributes: int = 0,
    codec: int = Codec.NONE,
) -> bytearray:
    """Build one batch, as a buffer that an append may rewrite.

    `timestamp_ms` is for the records that have none of their own; `attributes` are flags without
    the codec. The records' offsets are counted from `base_offset`, whatever they say themselves.
    """
    times = [timestamp_ms if r.timestamp_ms == NO_TIMESTAMP else r.timestamp_ms for r in records]
    base_timestamp = times[0] if times else NO_TIMESTAMP
    body = bytearray()
    for delta, (record, time_ms) in enumerate(zip(records, times, strict=True)):
        encode_record(body, record, offset_delta=delta, timestamp_delta=time_ms - base_timestamp)
    payload = compress(codec, body)
    batch = bytearray(HEADER_BYTES)
    batch += payload
    fields = [
        base_offset,
        len(batch) - LENGTH_PREFIX_BYTES,
        leader_epoch,
        MAGIC_V2,
        0,
        attributes | codec,
        max(len(records) - 1, 0),
        base_timestamp,
        max(times, default=NO_TIMESTAMP),
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    ]
    HEADER.pack_into(batch, 0, *fields)
    fields[4] = crc32c(memoryview(batch)[_CRC_COVERS_FROM:])
    HEADER.pack_into(batch, 0, *fields)
    return batch
