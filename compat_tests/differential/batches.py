"""Record batches v2, right ones and wrong ones, made without wirekafka.

Called by the scenarios. Source: Kafka's DefaultRecordBatch and DefaultRecord.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cramjam
from crc32c import crc32c

NOW_MS = time.time_ns() // 1_000_000
"""One time for the whole run, the same for both brokers."""
HEADER = struct.Struct(">qiibIhiqqqhii")
_CRC_FROM = 21
_BEFORE_LENGTH = 12
_CODEC = 0x07
_XERIAL = b"\x82SNAPPY\0"
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
LOG_APPEND_TIME, TRANSACTIONAL, CONTROL = 0x08, 0x10, 0x20


def _lz4(data: bytes) -> bytes:
    compressor = cramjam.lz4.Compressor(block_linked=False)
    compressor.compress(data)
    return bytes(compressor.finish())


COMPRESS: dict[int, Callable[[bytes], bytes]] = {
    GZIP: lambda data: bytes(cramjam.gzip.compress(data)),
    SNAPPY: lambda data: bytes(cramjam.snappy.compress_raw(data)),
    LZ4: _lz4,
    ZSTD: lambda data: bytes(cramjam.zstd.compress(data)),
}


def _snappy_blocks(data: bytes) -> bytes:
    """The blocks in the framing of the Java client, or the one block that there is without it."""
    if not data.startswith(_XERIAL):
        return bytes(cramjam.snappy.decompress_raw(data))
    out, position = bytearray(), len(_XERIAL) + 8
    while position < len(data):
        (length,) = struct.unpack_from(">i", data, position)
        out += bytes(cramjam.snappy.decompress_raw(data[position + 4 : position + 4 + length]))
        position += 4 + length
    return bytes(out)


DECOMPRESS: dict[int, Callable[[bytes], bytes]] = {
    GZIP: lambda data: bytes(cramjam.gzip.decompress(data)),
    SNAPPY: _snappy_blocks,
    LZ4: lambda data: bytes(cramjam.lz4.decompress(data)),
    ZSTD: lambda data: bytes(cramjam.zstd.decompress(data)),
}


@dataclass(frozen=True, slots=True)
class Record:
    key: bytes | None = b"k"
    value: bytes | None = b"v"
    timestamp_ms: int = NOW_MS
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Producer:
    """Who has made a batch, and where in its sequence."""

    producer_id: int = -1
    epoch: int = -1
    sequence: int = -1


NOBODY = Producer()


def records_of(count: int, *, value: bytes = b"v", timestamp_ms: int = NOW_MS) -> list[Record]:
    return [Record(b"k%d" % index, value, timestamp_ms + index) for index in range(count)]


def batch(
    records: Sequence[Record] | None = None,
    *,
    producer: Producer = NOBODY,
    codec: int = 0,
    attributes: int = 0,
    base_offset: int = 0,
    record_count: int | None = None,
    last_offset_delta: int | None = None,
) -> bytes:
    """Make a batch; a count or delta that is given stands in it, right or wrong."""
    records = records_of(1) if records is None else records
    first_ms = records[0].timestamp_ms if records else -1
    payload = b"".join(_record(record, index, first_ms) for index, record in enumerate(records))
    if codec in COMPRESS:
        payload = COMPRESS[codec](payload)
    count = len(records) if record_count is None else record_count
    header = HEADER.pack(
        base_offset,
        HEADER.size - 12 + len(payload),
        -1,
        2,
        0,
        attributes | codec,
        max(len(records) - 1, 0) if last_offset_delta is None else last_offset_delta,
        first_ms,
        max((record.timestamp_ms for record in records), default=-1),
        producer.producer_id,
        producer.epoch,
        producer.sequence,
        count,
    )
    return sealed(header + payload)


def sealed(data: bytes) -> bytes:
    """The batch with the CRC that fits it."""
    return data[:17] + struct.pack(">I", crc32c(data[_CRC_FROM:])) + data[_CRC_FROM:]


def unpacked(data: bytes) -> bytes:
    """The batches with their records decompressed, while the attributes say what they were."""
    out, position = b"", 0
    while len(data) - position >= HEADER.size:
        fields = list(HEADER.unpack_from(data, position))
        end = position + _BEFORE_LENGTH + fields[1]
        payload = data[position + HEADER.size : end]
        if fields[5] & _CODEC:
            payload = DECOMPRESS[fields[5] & _CODEC](payload)
        fields[1] = HEADER.size - _BEFORE_LENGTH + len(payload)
        out += sealed(HEADER.pack(*fields) + payload)
        position = end
    return out + data[position:]


def with_byte(data: bytes, position: int, value: int) -> bytes:
    """The batch with one byte replaced, and the CRC as it was."""
    changed = bytearray(data)
    changed[position] = value
    return bytes(changed)


def _record(record: Record, index: int, first_ms: int) -> bytes:
    body = b"\0" + varint(record.timestamp_ms - first_ms) + varint(index)
    body += _bytes(record.key) + _bytes(record.value) + varint(len(record.headers))
    for name, value in record.headers:
        body += _bytes(name.encode()) + _bytes(value)
    return varint(len(body)) + body


def _bytes(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def varint(value: int) -> bytes:
    """A zigzag varint."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)
