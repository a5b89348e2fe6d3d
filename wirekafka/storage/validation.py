"""What a produced batch must satisfy before it may be appended. Pure.

Called by `log` for every append. Only the header is read and only header fields are rewritten; the
records are decoded in one case alone, to say which of a few are to blame for a refusal.

Source: Kafka's ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords, LogValidator.
"""

import enum
import struct

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError, NotOneBatch
from wirekafka.protocol.records import Codec, RecordBatch, decode_records
from wirekafka.protocol.records.batch import HEADER_BYTES, LENGTH_PREFIX_BYTES, MAGIC_V2, NO_PRODUCER_ID
from wirekafka.protocol.records.record import LEAST_RECORD_BYTES
from wirekafka.storage.config import COMPACT, LOG_APPEND_TIME, LogConfig

NO_TIMESTAMP = -1

_MAGIC_POSITION = 16
_UP_TO_MAGIC = struct.Struct(">qiib")
_LEAST_LENGTH_OF_ANY_FORMAT = 14
_HIGHEST_CODEC = max(Codec)
_MOST_RECORDS_BLAMED_ONE_BY_ONE = 1000
_MOST_BYTES_UNPACKED_FOR_BLAME = 1024 * 1024

Buffer = bytearray | memoryview


class Origin(enum.Enum):
    """Who appends."""

    CLIENT = "client"
    """A producer: everything is checked."""
    COORDINATOR = "coordinator"
    """The broker itself: control batches, and producer ids without sequences, are allowed."""


def validate(
    records: Buffer, topic_partition: TopicPartition, config: LogConfig, *, origin: Origin, now_ms: int
) -> RecordBatch:
    """Check the records of one produce, and give the batch they are.

    Raises INVALID_RECORD, CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE,
    UNSUPPORTED_COMPRESSION_TYPE or INVALID_TIMESTAMP. A batch on a LogAppendTime topic gets its time,
    and one that wrongly claims LogAppendTime loses the claim: the two cases that change the CRC.
    """
    batch = _only_batch(records, topic_partition)
    size = batch.batch_length + LENGTH_PREFIX_BYTES
    if origin is Origin.CLIENT and batch.base_offset != 0:
        raise _invalid(topic_partition, f"its base offset is {batch.base_offset} and has to be 0")
    if size > config.max_message_bytes:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"A record batch of {size} bytes for {topic_partition} is larger than the maximum of "
            f"{config.max_message_bytes} bytes (max.message.bytes).",
        )
    if not batch.crc_ok():
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE,
            f"The record batch for {topic_partition} is corrupt: its CRC is not {batch.crc}, as it says.",
        )
    if batch.codec > _HIGHEST_CODEC:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"The record batch for {topic_partition} has codec {batch.codec}, which does not exist.",
        )
    if origin is Origin.CLIENT:
        _check_client_batch(batch, topic_partition)
        if config.looks_into_records:
            _check_records(batch, topic_partition, config, now_ms)
    _check_timestamps(batch, topic_partition, config, now_ms)
    if size > config.segment_bytes:
        raise KafkaError(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"A record batch of {size} bytes for {topic_partition} is larger than a segment may be: "
            f"{config.segment_bytes} bytes (segment.bytes).",
        )
    return batch


def _invalid(topic_partition: TopicPartition, why: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_RECORD, f"The record batch for {topic_partition} is refused: {why}.")


def _not_one_batch(topic_partition: TopicPartition, why: str) -> KafkaError:
    return NotOneBatch(ErrorCode.INVALID_RECORD, f"The records for {topic_partition} are refused: {why}.")


def _only_batch(records: Buffer, topic_partition: TopicPartition) -> RecordBatch:
    """The single v2 batch that `records` begins with; a piece of a header behind it is passed over."""
    end = _end_of_batch(records, 0, topic_partition)
    if end is None:
        raise _not_one_batch(topic_partition, "a produce request has a whole record batch per partition")
    if records[_MAGIC_POSITION] != MAGIC_V2:
        raise _not_one_batch(
            topic_partition,
            f"only record batches with magic 2 are accepted, this one has magic {records[_MAGIC_POSITION]}",
        )
    if end < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE,
            f"The record batch for {topic_partition} is corrupt: {end} bytes are less than a header has.",
        )
    if end != len(records) and _end_of_batch(records, end, topic_partition) is not None:
        raise _not_one_batch(topic_partition, "a produce request has exactly one record batch per partition")
    return RecordBatch(records)


def _end_of_batch(records: Buffer, start: int, topic_partition: TopicPartition) -> int | None:
    """Where the batch of any format at `start` ends; None when it is not all there."""
    if len(records) - start < LENGTH_PREFIX_BYTES:
        return None
    (length,) = struct.unpack_from(">i", records, start + 8)
    if length < _LEAST_LENGTH_OF_ANY_FORMAT:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE,
            f"The records for {topic_partition} are corrupt: a batch announces a length of {length} bytes.",
        )
    if len(records) - start < _UP_TO_MAGIC.size:
        return None
    magic = records[start + _MAGIC_POSITION]
    if magic > MAGIC_V2:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE,
            f"The records for {topic_partition} are corrupt: a batch has magic {magic}.",
        )
    end: int = start + LENGTH_PREFIX_BYTES + length
    return end if end <= len(records) else None


def _check_client_batch(batch: RecordBatch, topic_partition: TopicPartition) -> None:
    count = batch.record_count
    if count <= 0 or count != batch.last_offset_delta + 1:
        raise _invalid(
            topic_partition,
            f"it announces {count} records and a last offset delta of {batch.last_offset_delta}",
        )
    if batch.codec == Codec.NONE and count * LEAST_RECORD_BYTES > batch.size_in_bytes - HEADER_BYTES:
        raise _invalid(topic_partition, f"it announces {count} records, more than its bytes can hold")
    if batch.is_control:
        raise _invalid(topic_partition, "clients may not write control records")
    if batch.producer_id <= NO_PRODUCER_ID:
        if batch.is_transactional:
            raise _invalid(topic_partition, "it is transactional and has no producer id")
    elif batch.base_sequence < 0:
        raise _invalid(
            topic_partition,
            f"producer id {batch.producer_id} sent it with the sequence number {batch.base_sequence}",
        )


def _check_records(
    batch: RecordBatch, topic_partition: TopicPartition, config: LogConfig, now_ms: int
) -> None:
    """What only the records tell, on the few topics where it matters: keys, and each record's age."""
    records = decode_records(batch)
    if COMPACT in config.cleanup_policy:
        keyless = [index for index, record in enumerate(records) if record.key is None]
        if keyless:
            message = f"{topic_partition} is compacted, and takes no record without a key."
            blamed = keyless[:_MOST_RECORDS_BLAMED_ONE_BY_ONE]
            raise InvalidRecords(ErrorCode.INVALID_RECORD, message, [(index, message) for index in blamed])
    if config.message_timestamp_type != LOG_APPEND_TIME:
        earliest = now_ms - config.message_timestamp_before_max_ms
        latest = now_ms + config.message_timestamp_after_max_ms
        if any(r.timestamp_ms != NO_TIMESTAMP and r.timestamp_ms < earliest for r in records):
            raise _timestamps_out_of_range(batch, topic_partition, earliest, latest)


def _check_timestamps(
    batch: RecordBatch, topic_partition: TopicPartition, config: LogConfig, now_ms: int
) -> None:
    """Check against the accepted window, or stamp the time of the append.

    The window is held against the batch's largest timestamp, and its first, which are in the header.
    """
    if config.message_timestamp_type == LOG_APPEND_TIME:
        if batch.is_log_append_time:
            raise _producer_set_log_append_time(batch, topic_partition)
        batch.set_timestamp_type(log_append_time=True, max_timestamp=now_ms)
        return
    newest = batch.max_timestamp
    if newest == NO_TIMESTAMP:
        if batch.is_log_append_time:
            raise _producer_set_log_append_time(batch, topic_partition)
        return
    oldest = newest if batch.is_log_append_time else min(newest, batch.base_timestamp)
    earliest = now_ms - config.message_timestamp_before_max_ms
    latest = now_ms + config.message_timestamp_after_max_ms
    if newest > latest or newest < earliest or (oldest < earliest and oldest != NO_TIMESTAMP):
        raise _timestamps_out_of_range(batch, topic_partition, earliest, latest)
    if batch.is_log_append_time:
        batch.set_timestamp_type(log_append_time=False, max_timestamp=newest)


def _producer_set_log_append_time(batch: RecordBatch, topic_partition: TopicPartition) -> KafkaError:
    message = (
        f"A producer may not set the timestamp type LogAppendTime, as the batch for {topic_partition} does."
    )
    blamed = min(batch.record_count, _MOST_RECORDS_BLAMED_ONE_BY_ONE)
    return InvalidRecords(ErrorCode.INVALID_TIMESTAMP, message, [(index, message) for index in range(blamed)])


def _timestamps_out_of_range(
    batch: RecordBatch, topic_partition: TopicPartition, earliest: int, latest: int
) -> KafkaError:
    errors = []
    if batch.record_count <= _MOST_RECORDS_BLAMED_ONE_BY_ONE:
        for index, record in enumerate(decode_records(batch, max_bytes=_MOST_BYTES_UNPACKED_FOR_BLAME)):
            if record.timestamp_ms != NO_TIMESTAMP and not earliest <= record.timestamp_ms <= latest:
                errors.append(
                    (index, f"Timestamp {record.timestamp_ms} is not within [{earliest}, {latest}].")
                )
    return InvalidRecords(
        ErrorCode.INVALID_TIMESTAMP,
        f"Records for {topic_partition} have timestamps that are not within [{earliest}, {latest}], "
        f"such as {batch.max_timestamp}.",
        errors,
    )
