"""Batches that take longer to accept than an event loop may wait: looked into, or compressed anew. Pure.

`broker.partition` asks `needs_preparation`, and runs `prepare` in a thread before the append. As in
Kafka a batch is written anew when its codec is not the topic's; whatever a topic's compression level,
a batch that has the codec already stays as it came.

Source: Kafka's LogValidator.validateMessagesAndAssignOffsetsCompressed, MemoryRecordsBuilder.
"""

import struct

from wirekafka.ids import TopicPartition
from wirekafka.protocol.records import HEADER_BYTES, Codec, RecordBatch, walk_records
from wirekafka.protocol.records.batch import HEADER, LENGTH_PREFIX_BYTES, MAGIC_V2, TRANSACTIONAL_FLAG
from wirekafka.protocol.records.checksum import crc32c
from wirekafka.protocol.records.compression import compress
from wirekafka.protocol.records.varint import Buffer as Bytes
from wirekafka.protocol.records.varint import write_varint
from wirekafka.storage.acceptance.record_checks import check_records
from wirekafka.storage.acceptance.validation import Buffer, Origin, check, check_form
from wirekafka.storage.config import PRODUCER_COMPRESSION, LogConfig

_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}
_MOST_BYTES_LOOKED_INTO_AT_ONCE = 16 * 1024
_CRC_POSITION = 17
_CRC_COVERS_FROM = 21
_NO_LEADER_EPOCH = -1


def needs_preparation(records: Buffer, config: LogConfig) -> bool:
    """Whether `prepare` has to see these bytes of a producer, in a thread, before they are appended."""
    if len(records) < HEADER_BYTES:
        return False
    batch = RecordBatch(records)
    if batch.magic != MAGIC_V2:
        return False
    if needs_recompression(batch, config):
        return True
    large = batch.codec != Codec.NONE or len(records) > _MOST_BYTES_LOOKED_INTO_AT_ONCE
    return large and config.looks_into_records


def needs_recompression(batch: RecordBatch, config: LogConfig) -> bool:
    """Whether the topic wants another codec than the batch has."""
    return config.compression_type != PRODUCER_COMPRESSION and batch.codec != _CODECS[config.compression_type]


def prepare(records: Buffer, topic_partition: TopicPartition, config: LogConfig, *, now_ms: int) -> Buffer:
    """Check what a producer sent as `validate` does, and give it as it is to be appended.

    That is `records` itself, or a new buffer in the topic's codec, whose size the append has to check.
    The append may then be told that the records have been looked into. Raises what `check` does.
    """
    batch = check_form(records, topic_partition, config, Origin.CLIENT)
    if needs_recompression(batch, config):
        return recompress(batch, topic_partition, config, now_ms=now_ms)
    check(records, topic_partition, config, origin=Origin.CLIENT, now_ms=now_ms)
    return records


def recompress(
    batch: RecordBatch, topic_partition: TopicPartition, config: LogConfig, *, now_ms: int
) -> bytearray:
    """Check the records of a batch, and write it anew in the topic's codec, all else as it was.

    Raises what `check_records` does.
    """
    payload, counted = check_records(batch, topic_partition, config, now_ms=now_ms)
    first_timestamp = batch.base_timestamp
    if not counted or batch.is_log_append_time:
        payload, first_timestamp = _counted_anew(payload, batch)
    codec = _CODECS[config.compression_type]
    return _build(batch, compress(codec, payload, level=_level(codec, config)), codec, first_timestamp)


def _level(codec: Codec, config: LogConfig) -> int | None:
    levels = {
        Codec.GZIP: config.compression_gzip_level,
        Codec.LZ4: config.compression_lz4_level,
        Codec.ZSTD: config.compression_zstd_level,
    }
    return levels.get(codec)


def _counted_anew(payload: Bytes, batch: RecordBatch) -> tuple[bytearray, int]:
    """The records with offsets from 0 and times from the first one's, and that time.

    A claim that all have the batch's time, which the new batch does not make, becomes theirs.
    """
    out = bytearray()
    first_timestamp = 0
    heads = walk_records(
        payload, batch.record_count, base_timestamp=batch.base_timestamp, max_record_bytes=len(payload)
    )
    for delta, head in enumerate(heads):
        timestamp = batch.base_timestamp + head.timestamp_delta
        if batch.is_log_append_time:
            timestamp = batch.max_timestamp
        if delta == 0:
            first_timestamp = timestamp
        body = bytearray(1)
        write_varint(body, timestamp - first_timestamp)
        write_varint(body, delta)
        body += payload[head.rest : head.end]
        write_varint(out, len(body))
        out += body
    return out, first_timestamp


def _build(batch: RecordBatch, payload: bytes, codec: Codec, first_timestamp: int) -> bytearray:
    data = bytearray(HEADER_BYTES) + payload
    HEADER.pack_into(
        data,
        0,
        0,
        len(data) - LENGTH_PREFIX_BYTES,
        _NO_LEADER_EPOCH,
        MAGIC_V2,
        0,
        (batch.attributes & TRANSACTIONAL_FLAG) | codec,
        batch.record_count - 1,
        first_timestamp,
        batch.max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.record_count,
    )
    struct.pack_into(">I", data, _CRC_POSITION, crc32c(memoryview(data)[_CRC_COVERS_FROM:]))
    return data
