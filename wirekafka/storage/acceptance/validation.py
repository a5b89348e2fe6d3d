"""What a produced batch must satisfy before it may be appended. Pure.

Called by `log` for every append, and by `recompression` in a thread before some. Only the header is
read and only header fields are rewritten, unless the topic asks for what only the records tell (their
keys, the age of each), or one of a few is to blame for a refusal.

Source: Kafka's ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords, LogValidator.
"""

import enum
import struct

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError, NotOneBatch
from wirekafka.protocol.records import Codec, RecordBatch
from wirekafka.protocol.records.batch import HEADER_BYTES, LENGTH_PREFIX_BYTES, MAGIC_V2, NO_PRODUCER_ID
from wirekafka.protocol.records.record import LEAST_RECORD_BYTES
from wirekafka.storage.acceptance.record_checks import (
    MOST_RECORDS_BLAMED,
    NO_TIMESTAMP,
    accepted_timestamps,
    check_records,
    claims_append_time,
)
from wirekafka.storage.config import LOG_APPEND_TIME, LogConfig

_MAGIC_POSITION = 16
_UP_TO_MAGIC = struct.Struct(">qiib")
_LEAST_LENGTH_OF_ANY_FORMAT = 14
_HIGHEST_CODEC = max(Codec)
_MOST_BYTES_FOR_BLAME = 1024 * 1024

Buffer = bytearray | memoryview


class Origin(enum.Enum):
    """Who appends."""

    CLIENT = "client"
    """A producer: everything is checked."""
    COORDINATOR = "coordinator"
    """The broker itself: control batches, and producer ids without sequences, are allowed."""


def validate(
    records: Buffer,
    topic_partition: TopicPartition,
    config: LogConfig,
    *,
    origin: Origin,
    now_ms: int,
    looked_inside: bool = False,
) -> RecordBatch:
    """Check the records of one produce, and give the batch they are.

    `looked_inside` says that `check` has passed these bytes before, in a thread: the records are not
    looked at again. Raises what `check` raises, and RECORD_LIST_TOO_LARGE. A batch on a LogAppendTime
    topic gets its time, which changes its CRC.
    """
    batch = check_form(records, topic_partition, config, origin)
    if not looked_inside:
        _check_contents(batch, topic_partition, config, origin, now_ms=now_ms)
    if config.message_timestamp_type == LOG_APPEND_TIME:
        batch.set_timestamp_type(log_append_time=True, max_timestamp=now_ms)
    if batch.size_in_bytes > config.segment_bytes:
        raise KafkaError(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"A record batch of {batch.size_in_bytes} bytes for {topic_partition} is larger than a segment "
            f"may be: {config.segment_bytes} bytes (segment.bytes).",
        )
    return batch


def check(
    records: Buffer, topic_partition: TopicPartition, config: LogConfig, *, origin: Origin, now_ms: int
) -> RecordBatch:
    """Check everything but what the log gives the batch, and give the batch.

    Raises INVALID_RECORD, CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, UNSUPPORTED_COMPRESSION_TYPE or
    INVALID_TIMESTAMP. As in Kafka a batch that wrongly claims LogAppendTime loses the claim, and a
    largest timestamp that is wrong is put right where the records are looked at; both change the CRC.
    """
    batch = check_form(records, topic_partition, config, origin)
    _check_contents(batch, topic_partition, config, origin, now_ms=now_ms)
    return batch


def check_form(
    records: Buffer, topic_partition: TopicPartition, config: LogConfig, origin: Origin
) -> RecordBatch:
    """Check that the records are one batch with a header and a CRC that are right. Raises as `check`."""
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
    return batch


def _check_contents(
    batch: RecordBatch, topic_partition: TopicPartition, config: LogConfig, origin: Origin, *, now_ms: int
) -> None:
    if origin is Origin.CLIENT and config.looks_into_records:
        check_records(batch, topic_partition, config, now_ms=now_ms)
    else:
        _check_timestamps(batch, topic_partition, config, now_ms)
    if config.message_timestamp_type != LOG_APPEND_TIME and batch.is_log_append_time:
        batch.set_timestamp_type(log_append_time=False, max_timestamp=batch.max_timestamp)


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


def _check_timestamps(
    batch: RecordBatch, topic_partition: TopicPartition, config: LogConfig, now_ms: int
) -> None:
    """Hold the batch's first and largest timestamp, which are in the header, against what is accepted.

    When they are not, the records are asked which of them is at fault, unless they are too many.
    """
    newest = batch.max_timestamp
    if config.message_timestamp_type == LOG_APPEND_TIME or newest == NO_TIMESTAMP:
        if batch.is_log_append_time:
            raise _producer_set_log_append_time(batch, topic_partition)
        return
    first = newest if batch.is_log_append_time else batch.base_timestamp
    oldest, latest_of_both = min(newest, first), max(newest, first)
    earliest, latest = accepted_timestamps(config, now_ms)
    if latest_of_both > latest or newest < earliest or (oldest < earliest and oldest != NO_TIMESTAMP):
        _blame_records(batch, topic_partition, config, now_ms)


def _blame_records(
    batch: RecordBatch, topic_partition: TopicPartition, config: LogConfig, now_ms: int
) -> None:
    """Refuse a batch for the times of its records, of a large one without saying which.

    If its header lies, and no record is at fault, the header is put right, as in Kafka.
    """
    if batch.record_count <= MOST_RECORDS_BLAMED:
        try:
            check_records(batch, topic_partition, config, now_ms=now_ms, most_bytes=_MOST_BYTES_FOR_BLAME)
            return
        except KafkaError as error:
            if error.code is not ErrorCode.MESSAGE_TOO_LARGE:
                raise
    earliest, latest = accepted_timestamps(config, now_ms)
    raise InvalidRecords(
        ErrorCode.INVALID_TIMESTAMP,
        f"Records for {topic_partition} have timestamps that are not within [{earliest}, {latest}], "
        f"such as {batch.max_timestamp}.",
        [],
    )


def _producer_set_log_append_time(batch: RecordBatch, topic_partition: TopicPartition) -> KafkaError:
    message = claims_append_time(topic_partition)
    blamed = min(batch.record_count, MOST_RECORDS_BLAMED)
    return InvalidRecords(ErrorCode.INVALID_TIMESTAMP, message, [(index, message) for index in range(blamed)])
