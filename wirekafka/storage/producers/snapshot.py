"""The bytes of a `<offset>.snapshot` file: the producers of a partition up to an offset.

Written by `snapshots` for a log, read by whatever opens or looks through one. Only the last batch of each
producer is in it.

Source: Kafka's ProducerStateManager and its ProducerSnapshot schema, version 1.
"""

import struct
from collections.abc import Mapping

from wirekafka.protocol.records.checksum import crc32c
from wirekafka.storage.producers.state import NO_TRANSACTION, AppendedBatch, Producer

_VERSION = 1
_HEAD = struct.Struct(">hIi")
_ENTRY = struct.Struct(">qhiqiqiq")
_CRC_COVERS_FROM = 6


def encode_snapshot(producers: Mapping[int, Producer]) -> bytes:
    """Write the producers as Kafka does."""
    entries = []
    for producer_id, producer in producers.items():
        last = producer.batches[-1] if producer.batches else AppendedBatch(-1, -1, 0, -1)
        entries.append(
            _ENTRY.pack(
                producer_id,
                producer.epoch,
                last.last_sequence,
                last.last_offset,
                last.offset_delta,
                producer.last_timestamp_ms,
                producer.coordinator_epoch,
                producer.transaction_start,
            )
        )
    covered = struct.pack(">i", len(entries)) + b"".join(entries)
    return struct.pack(">hI", _VERSION, crc32c(covered)) + covered


def decode_snapshot(data: bytes) -> list[tuple[int, Producer]] | None:
    """Read the producers of a snapshot; None when it is damaged or of another version."""
    if len(data) < _HEAD.size:
        return None
    version, crc, count = _HEAD.unpack_from(data)
    if version != _VERSION or crc != crc32c(memoryview(data)[_CRC_COVERS_FROM:]):
        return None
    if len(data) != _HEAD.size + count * _ENTRY.size:
        return None
    return [_producer(*fields) for fields in _ENTRY.iter_unpack(data[_HEAD.size :])]


def _producer(producer_id: int, epoch: int, *fields: int) -> tuple[int, Producer]:
    last_sequence, last_offset, offset_delta, timestamp_ms, coordinator_epoch, start = fields
    producer = Producer(epoch, coordinator_epoch, timestamp_ms, start if start >= 0 else NO_TRANSACTION)
    if last_offset >= 0:
        producer.batches.append(AppendedBatch(last_sequence, last_offset, offset_delta, timestamp_ms))
    return producer_id, producer
