"""One record of a v2 batch: key, value, headers, and its place in the batch as deltas.

Used by `batch`; whoever reads or writes records of an internal topic handles `Record`s.

Source: Kafka's DefaultRecord.
"""

from typing import NamedTuple

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records.varint import Buffer, read_varint, read_varlong, write_varint

NO_TIMESTAMP = -1
LEAST_RECORD_BYTES = 7
"""Length, attributes, two deltas, no key, no value, no headers: one byte each."""

_LEAST_TIMESTAMP, _LARGEST_TIMESTAMP = -(1 << 63), (1 << 63) - 1

Headers = tuple[tuple[str, bytes | None], ...]


class Record(NamedTuple):
    """A record with its offset and time made absolute. `offset` has no meaning when one is written."""

    key: bytes | None = None
    value: bytes | None = None
    timestamp_ms: int = NO_TIMESTAMP
    headers: Headers = ()
    offset: int = -1


def decode_record(
    buffer: Buffer, position: int, *, base_offset: int, base_timestamp: int
) -> tuple[Record, int]:
    """Read the record at `position`, and the position behind it. Raises CORRUPT_MESSAGE."""
    try:
        length, start = read_varint(buffer, position)
        end = start + length
        if length < 0 or end > len(buffer):
            raise ValueError(f"a length of {length} at byte {position}, where {len(buffer) - start} are left")
        # One byte of attributes, none of which has a meaning in v2.
        timestamp_delta, position = read_varlong(buffer, start + 1)
        offset_delta, position = read_varint(buffer, position)
        key, position = _read_bytes(buffer, position, end)
        value, position = _read_bytes(buffer, position, end)
        headers, position = _read_headers(buffer, position, end)
        if position != end:
            raise ValueError(f"{length} bytes announced, {position - start} used")
        timestamp_ms = absolute_timestamp(base_timestamp, timestamp_delta)
    except (IndexError, ValueError) as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"A record of the batch is malformed: {error}.") from None
    return Record(key, value, timestamp_ms, headers, base_offset + offset_delta), end


def absolute_timestamp(base_timestamp: int, timestamp_delta: int) -> int:
    """The time of a record. Raises ValueError where no 64 bits hold it: nobody could write it again."""
    timestamp_ms = base_timestamp + timestamp_delta
    if not _LEAST_TIMESTAMP <= timestamp_ms <= _LARGEST_TIMESTAMP:
        raise ValueError(f"a timestamp of {timestamp_ms}, past 64 bits")
    return timestamp_ms


def _read_bytes(buffer: Buffer, position: int, end: int) -> tuple[bytes | None, int]:
    length, position = read_varint(buffer, position)
    if length < 0:
        return None, position
    if position + length > end:
        raise ValueError("a key, value or header that is longer than its record")
    return bytes(buffer[position : position + length]), position + length


def _read_headers(buffer: Buffer, position: int, end: int) -> tuple[Headers, int]:
    count, position = read_varint(buffer, position)
    if count == 0:
        return (), position
    if count < 0 or count > end - position:
        raise ValueError(f"{count} headers")
    headers = []
    for _ in range(count):
        name, position = _read_bytes(buffer, position, end)
        if name is None:
            raise ValueError("a header without a name")
        value, position = _read_bytes(buffer, position, end)
        headers.append((name.decode("utf-8", "surrogateescape"), value))
    return tuple(headers), position


def encode_record(out: bytearray, record: Record, *, offset_delta: int, timestamp_delta: int) -> None:
    """Append one record in its v2 form."""
    body = bytearray(1)
    write_varint(body, timestamp_delta)
    write_varint(body, offset_delta)
    _write_bytes(body, record.key)
    _write_bytes(body, record.value)
    write_varint(body, len(record.headers))
    for name, value in record.headers:
        _write_bytes(body, name.encode("utf-8", "surrogateescape"))
        _write_bytes(body, value)
    write_varint(out, len(body))
    out += body


def _write_bytes(out: bytearray, data: bytes | None) -> None:
    if data is None:
        write_varint(out, -1)
        return
    write_varint(out, len(data))
    out += data
