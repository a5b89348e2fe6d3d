"""The keys of a batch, and nothing else of its records: what compaction decides by.

Called by `gathering` and `filtering`, once for each record of a log: so it does in one loop what
`protocol.records` does in several calls, and that is its test's oracle.

Source: Kafka's DefaultRecord.
"""

from typing import NamedTuple

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import RecordBatch, unpack_records
from wirekafka.protocol.records.record import LEAST_RECORD_BYTES
from wirekafka.protocol.records.varint import read_varint

_MOST_RECORDS = 1 << 20


class RecordKey(NamedTuple):
    """A record's place in the log, its key, and whether it has a value; without one it is a tombstone."""

    offset: int
    key: bytes | None
    has_value: bool


def keys_of(batch: RecordBatch, most_unpacked_bytes: int) -> list[RecordKey]:
    """Read the keys of a batch, which nobody need have looked into when it was written.

    Their offsets grow and are the batch's, or records of other batches would be dropped for them. Raises
    CORRUPT_MESSAGE, and MESSAGE_TOO_LARGE for more than there is memory for.
    """
    count = batch.record_count
    if count > max(_MOST_RECORDS, batch.size_in_bytes // LEAST_RECORD_BYTES):
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"it has {count} records, and {_MOST_RECORDS} are the most that is looked into",
        )
    payload = bytes(unpack_records(batch, max_bytes=most_unpacked_bytes))
    found: list[RecordKey] = []
    position, offset, last_offset = 0, batch.base_offset - 1, batch.last_offset
    try:
        for _ in range(count):
            key, position = _read(payload, position, batch.base_offset)
            if not offset < key.offset <= last_offset:
                raise ValueError(f"offset {key.offset} behind {offset}, of which {last_offset} is the last")
            offset = key.offset
            found.append(key)
        if position != len(payload):
            raise ValueError(f"{len(payload) - position} bytes follow the last")
    except (IndexError, ValueError) as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"its records are malformed: {error}") from None
    return found


def _read(payload: bytes, position: int, base_offset: int) -> tuple[RecordKey, int]:
    length, position = read_varint(payload, position)
    end = position + length
    if length < 0 or end > len(payload):
        raise ValueError(f"a length of {length}")
    position += 1  # attributes
    while payload[position] > 0x7F:
        position += 1  # the time
    byte = payload[position + 1]
    if byte < 0x80:
        delta, position = (byte >> 1) ^ -(byte & 1), position + 2
    else:
        delta, position = read_varint(payload, position + 1)
    byte = payload[position]
    if byte < 0x80:
        key_length, position = (byte >> 1) ^ -(byte & 1), position + 1
    else:
        key_length, position = read_varint(payload, position)
    key = None
    if key_length >= 0:
        key = payload[position : position + key_length]
        position += key_length
    value_length, position = read_varint(payload, position)
    if position + max(value_length, 0) > end:
        raise ValueError("a key or value that is longer than its record")
    return RecordKey(base_offset + delta, key, value_length >= 0), end
