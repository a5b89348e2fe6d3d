"""A v2 record batch: a view of its header over a buffer, and the walk over a buffer of batches.

An append rewrites base offset and leader epoch where they stand: the batch's CRC does not cover
them, so nothing is copied. A changed timestamp type needs a new CRC and is the one exception.
Used by `storage` (append, recovery), `build`, the dump tool. Records are decoded by
`decode_records` alone, which neither append nor fetch calls.

Source: Kafka's DefaultRecordBatch and ByteBufferLogInputStream.
"""

import struct

import construct

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records.checksum import crc32c
from wirekafka.protocol.records.compression import DEFAULT_MAX_BYTES, decompress
from wirekafka.protocol.records.record import LEAST_RECORD_BYTES, Record, decode_record
from wirekafka.protocol.records.varint import Buffer

MAGIC_V2 = 2
NO_PRODUCER_ID = -1
NO_SEQUENCE = -1
LOG_APPEND_TIME_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20

BATCH_HEADER = construct.Struct(
    "base_offset" / construct.Int64sb,
    "batch_length" / construct.Int32sb,
    "partition_leader_epoch" / construct.Int32sb,
    "magic" / construct.Int8sb,
    "crc" / construct.Int32ub,
    "attributes" / construct.Int16sb,
    "last_offset_delta" / construct.Int32sb,
    "base_timestamp" / construct.Int64sb,
    "max_timestamp" / construct.Int64sb,
    "producer_id" / construct.Int64sb,
    "producer_epoch" / construct.Int16sb,
    "base_sequence" / construct.Int32sb,
    "record_count" / construct.Int32sb,
)
"""The layout of a header; tests hold `HEADER` to it, and the dump tool prints by it."""

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = HEADER.size
LENGTH_PREFIX_BYTES = 12
"""Base offset and length: what `batch_length` does not count."""
LEAST_BATCH_LENGTH = HEADER_BYTES - LENGTH_PREFIX_BYTES

_CRC_POSITION = 17
_ATTRIBUTES_POSITION = 21
_MAX_TIMESTAMP_POSITION = 35
_ATTRIBUTES_OF_CREATE_TIME = 0x77
START = struct.Struct(">qii")
"""What an append rewrites: base offset, length as it was, leader epoch."""
_unpack_header = HEADER.unpack_from
_pack_start = START.pack_into


class RecordBatch:
    """The header of the batch at `position` of a buffer; the buffer is held, not copied.

    Raises struct.error when fewer than HEADER_BYTES are there. Nothing else is checked.
    """

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "batch_length",
        "buffer",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "position",
        "producer_epoch",
        "producer_id",
        "record_count",
    )

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        self.buffer = buffer
        self.position = position
        (
            self.base_offset,
            self.batch_length,
            self.partition_leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.record_count,
        ) = _unpack_header(buffer, position)

    @property
    def size_in_bytes(self) -> int:
        return LENGTH_PREFIX_BYTES + self.batch_length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; they wrap from 2147483647 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF

    @property
    def codec(self) -> int:
        return self.attributes & 0x07

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME_FLAG)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_FLAG)

    def crc_ok(self) -> bool:
        """Whether the CRC-32C over all behind it is the one that stands there."""
        return self._computed_crc() == self.crc

    def _computed_crc(self) -> int:
        start = self.position + _ATTRIBUTES_POSITION
        end = self.position + LENGTH_PREFIX_BYTES + self.batch_length
        crc: int = crc32c(memoryview(self.buffer)[start:end])
        return crc

    def assign(self, base_offset: int, leader_epoch: int) -> None:
        """Rewrite base offset and leader epoch in the buffer; the CRC stays right."""
        _pack_start(self.buffer, self.position, base_offset, self.batch_length, leader_epoch)
        self.base_offset = base_offset
        self.partition_leader_epoch = leader_epoch

    def set_timestamp_type(self, *, log_append_time: bool, max_timestamp: int) -> None:
        """Rewrite who set the time, and the maximum, and the CRC with them."""
        kept = self.attributes & _ATTRIBUTES_OF_CREATE_TIME
        self.attributes = kept | LOG_APPEND_TIME_FLAG if log_append_time else kept
        self.max_timestamp = max_timestamp
        start = self.position
        struct.pack_into(">h", self.buffer, start + _ATTRIBUTES_POSITION, self.attributes)
        struct.pack_into(">q", self.buffer, start + _MAX_TIMESTAMP_POSITION, max_timestamp)
        self.crc = self._computed_crc()
        struct.pack_into(">I", self.buffer, start + _CRC_POSITION, self.crc)

    def __bytes__(self) -> bytes:
        return bytes(memoryview(self.buffer)[self.position : self.position + self.size_in_bytes])


class BatchWalk:
    """Iterates the whole batches of a buffer.

    It stops in front of a batch of which the rest is missing, or whose length no batch has:
    `position` is then where that one begins, and `torn` is true.
    """

    __slots__ = ("_buffer", "_end", "position")

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        self._buffer = buffer
        self._end = len(buffer)
        self.position = position

    def __iter__(self) -> "BatchWalk":
        return self

    def __next__(self) -> RecordBatch:
        if self._end - self.position < HEADER_BYTES:
            raise StopIteration
        batch = RecordBatch(self._buffer, self.position)
        end = self.position + batch.size_in_bytes
        if batch.batch_length < LEAST_BATCH_LENGTH or end > self._end:
            raise StopIteration
        self.position = end
        return batch

    @property
    def torn(self) -> bool:
        return self.position < self._end


def batches_in(buffer: Buffer, position: int = 0) -> BatchWalk:
    """Walk over the whole batches of a buffer, from `position` on."""
    return BatchWalk(buffer, position)


def unpack_records(batch: RecordBatch, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Buffer:
    """Give the records of a batch in their bytes, unpacking at most `max_bytes`.

    Raises CORRUPT_MESSAGE when they cannot be as many as the header announces, and what `decompress` does.
    """
    start, end = batch.position + HEADER_BYTES, batch.position + batch.size_in_bytes
    payload = decompress(batch.codec, memoryview(batch.buffer)[start:end], max_bytes=max_bytes)
    if not 0 <= batch.record_count * LEAST_RECORD_BYTES <= len(payload):
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE,
            f"A batch of {len(payload)} bytes announces {batch.record_count} records.",
        )
    return payload


def decode_records(batch: RecordBatch, *, max_bytes: int = DEFAULT_MAX_BYTES) -> list[Record]:
    """Decode the records of a batch, unpacking at most `max_bytes`.

    Raises CORRUPT_MESSAGE when the payload is not the records that the header announces, and what
    `decompress` does.
    """
    payload = unpack_records(batch, max_bytes=max_bytes)
    base_offset, base_timestamp = batch.base_offset, batch.base_timestamp
    records: list[Record] = []
    position = 0
    for _ in range(batch.record_count):
        record, position = decode_record(
            payload, position, base_offset=base_offset, base_timestamp=base_timestamp
        )
        records.append(record)
    if position != len(payload):
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"A batch has {len(payload) - position} bytes behind its last record."
        )
    if batch.is_log_append_time:
        return [record._replace(timestamp_ms=batch.max_timestamp) for record in records]
    return records
