"""What only the records of a produced batch tell: their form, their keys, the age of each. Pure.

Called by whatever takes batches apart: `validation`, where a topic asks for it or somebody is to blame, and
what writes them anew or looks for a time in them. A batch is unpacked within a bound, and no more than a
record at a time is taken apart.

Source: Kafka's LogValidator (validateRecord, processRecordErrors) and its TimestampType.
"""

from collections.abc import Iterator
from typing import NamedTuple

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError
from wirekafka.protocol.records import Codec, RecordBatch, RecordHead, unpack_records, walk_records
from wirekafka.protocol.records.compression import DEFAULT_MAX_BYTES
from wirekafka.protocol.records.record import LEAST_RECORD_BYTES
from wirekafka.protocol.records.varint import Buffer
from wirekafka.storage.config import COMPACT, LOG_APPEND_TIME, LogConfig

NO_TIMESTAMP = -1
MOST_RECORDS_BLAMED = 1000

_MOST_GROWTH = 8
_MOST_RECORDS = 1 << 20
_LARGEST_RECORD_BYTES = (1 << 31) - 1


class CheckedRecords(NamedTuple):
    """The records of a batch unpacked, and whether their offsets and times are as a builder counts them."""

    payload: Buffer
    counted: bool


def most_unpacked_bytes(config: LogConfig) -> int:
    """How far a batch may grow when it is unpacked: enough for what is honest, never gigabytes."""
    return max(DEFAULT_MAX_BYTES, _MOST_GROWTH * config.max_message_bytes)


def heads_of(batch: RecordBatch, payload: Buffer, config: LogConfig) -> Iterator[RecordHead]:
    """Go over the records of an unpacked batch.

    Raises MESSAGE_TOO_LARGE for more than a million of them, unless that many are allowed uncompressed:
    going over them is slow; CORRUPT_MESSAGE; INVALID_RECORD for one in a compressed batch that is larger
    than max.decompressed.message.bytes.
    """
    most = max(_MOST_RECORDS, config.max_message_bytes // LEAST_RECORD_BYTES)
    if batch.record_count > most:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"A batch of {batch.record_count} records is not looked into: {most} are the most.",
        )
    packed = batch.codec != Codec.NONE
    largest = config.max_decompressed_message_bytes if packed else _LARGEST_RECORD_BYTES
    return walk_records(
        payload, batch.record_count, base_timestamp=batch.base_timestamp, max_record_bytes=largest
    )


def check_records(
    batch: RecordBatch,
    topic_partition: TopicPartition,
    config: LogConfig,
    *,
    now_ms: int,
    most_bytes: int | None = None,
) -> CheckedRecords:
    """Check the form of every record, its key on a compacted topic, and its time; give them unpacked.

    Puts the header's largest timestamp right, which changes the CRC. `most_bytes` is for a tighter bound
    to unpacking. Raises INVALID_TIMESTAMP if the time of a record is at fault, else INVALID_RECORD, with
    what is wrong with each of at most MOST_RECORDS_BLAMED; MESSAGE_TOO_LARGE.
    """
    faults = _Faults(batch, topic_partition, config, now_ms)
    base_timestamp, newest, counted = batch.base_timestamp, NO_TIMESTAMP, True
    try:
        payload = unpack_records(batch, max_bytes=most_bytes or most_unpacked_bytes(config))
        for index, head in enumerate(heads_of(batch, payload, config)):
            timestamp = base_timestamp + head.timestamp_delta
            faults.look_at(index, timestamp, head.has_key)
            newest = max(newest, timestamp)
            # A builder counts offsets from 0, and times from the first record's.
            counted = counted and head.offset_delta == index and (index > 0 or timestamp == base_timestamp)
    except KafkaError as error:
        if error.code is not ErrorCode.CORRUPT_MESSAGE:
            raise
        raise KafkaError(
            ErrorCode.INVALID_RECORD, f"The record batch for {topic_partition} is refused: {error.message}"
        ) from None
    faults.raise_any()
    if newest != batch.max_timestamp and not batch.is_log_append_time:
        batch.set_timestamp_type(log_append_time=False, max_timestamp=newest)
    return CheckedRecords(payload, counted)


class _Faults:
    """What is wrong with the records of one batch."""

    def __init__(
        self, batch: RecordBatch, topic_partition: TopicPartition, config: LogConfig, now_ms: int
    ) -> None:
        self._topic_partition = topic_partition
        self._needs_key = COMPACT in config.cleanup_policy
        self._keeps_time = config.message_timestamp_type != LOG_APPEND_TIME
        self._time_of_all = batch.max_timestamp if batch.is_log_append_time else None
        self._earliest, self._latest = accepted_timestamps(config, now_ms)
        self._found: list[tuple[int, str]] = []
        self._of_time = False

    def look_at(self, index: int, timestamp: int, has_key: bool) -> None:
        """Note what is wrong with a record; a record without its key is not asked for its time."""
        if self._needs_key and not has_key:
            self._note(index, f"{self._topic_partition} is compacted, and takes no record without a key.")
            return
        if self._time_of_all is not None:
            timestamp = self._time_of_all
        if self._keeps_time and timestamp != NO_TIMESTAMP:
            if not self._earliest <= timestamp <= self._latest:
                self._of_time = True
                self._note(index, f"Timestamp {timestamp} is not within [{self._earliest}, {self._latest}].")
        elif self._time_of_all is not None:
            self._of_time = True
            self._note(index, claims_append_time(self._topic_partition))

    def _note(self, index: int, message: str) -> None:
        if len(self._found) < MOST_RECORDS_BLAMED:
            self._found.append((index, message))

    def raise_any(self) -> None:
        if not self._found:
            return
        code = ErrorCode.INVALID_TIMESTAMP if self._of_time else ErrorCode.INVALID_RECORD
        raise InvalidRecords(
            code, f"Records for {self._topic_partition} are refused: {self._found[0][1]}", self._found
        )


def accepted_timestamps(config: LogConfig, now_ms: int) -> tuple[int, int]:
    """The earliest and the latest time that a record may have."""
    return now_ms - config.message_timestamp_before_max_ms, now_ms + config.message_timestamp_after_max_ms


def claims_append_time(topic_partition: TopicPartition) -> str:
    return (
        f"A producer may not set the timestamp type LogAppendTime, as the batch for {topic_partition} does."
    )
