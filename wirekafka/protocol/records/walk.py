"""Walks over the records of a batch without taking them apart: where each is, its time, has it a key.

For whoever looks into many records for little: a batch of a megabyte may unpack to millions, and a
list of them all would take gigabytes. Called by `storage` (validation, recompression, timestamps).

Source: Kafka's DefaultRecord.readPartiallyFrom and DefaultRecordBatch.skipKeyValueIterator.
"""

from collections.abc import Iterator
from typing import NamedTuple

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records.record import absolute_timestamp
from wirekafka.protocol.records.varint import Buffer, read_varint, read_varlong


class RecordHead(NamedTuple):
    """What stands in front of a record's key. `rest` is where that begins, `end` where the record ends."""

    timestamp_delta: int
    offset_delta: int
    has_key: bool
    rest: int
    end: int


def walk_records(
    payload: Buffer, record_count: int, *, base_timestamp: int, max_record_bytes: int
) -> Iterator[RecordHead]:
    """Go over all records of an unpacked payload, checking the form of each.

    Raises CORRUPT_MESSAGE for what are not `record_count` records, or for a time that is none with the
    batch's; INVALID_RECORD for one whose length is above `max_record_bytes` (max.decompressed.message.bytes).
    """
    position = 0
    for _ in range(record_count):
        try:
            head = _read_head(payload, position, max_record_bytes)
            absolute_timestamp(base_timestamp, head.timestamp_delta)
        except (IndexError, ValueError) as error:
            raise KafkaError(
                ErrorCode.CORRUPT_MESSAGE, f"A record of the batch is malformed: {error}."
            ) from None
        yield head
        position = head.end
    if position != len(payload):
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"A batch has {len(payload) - position} bytes behind its last record."
        )


def _read_head(payload: Buffer, position: int, max_record_bytes: int) -> RecordHead:
    length, start = read_varint(payload, position)
    end = start + length
    if length > max_record_bytes:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"A record of {length} bytes is larger than the maximum of {max_record_bytes} bytes "
            "(max.decompressed.message.bytes).",
        )
    if length < 0 or end > len(payload):
        raise ValueError(f"a length of {length} at byte {position}, where {len(payload) - start} are left")
    timestamp_delta, position = read_varlong(payload, start + 1)
    offset_delta, rest = read_varint(payload, position)
    key_length, position = read_varint(payload, rest)
    value_length, position = read_varint(payload, position + max(key_length, 0))
    header_count, position = read_varint(payload, position + max(value_length, 0))
    if header_count:
        position = _behind_headers(payload, position, end, header_count)
    if position != end:
        raise ValueError(f"{length} bytes announced, {position - start} used")
    return RecordHead(timestamp_delta, offset_delta, key_length >= 0, rest, end)


def _behind_headers(payload: Buffer, position: int, end: int, count: int) -> int:
    if count < 0 or count > end - position:
        raise ValueError(f"{count} headers")
    for _ in range(count):
        name_length, position = read_varint(payload, position)
        if name_length < 0:
            raise ValueError("a header without a name")
        value_length, position = read_varint(payload, position + name_length)
        position += max(value_length, 0)
    return position
