"""Plain batches: those of which everything that is asked about a batch has the usual answer.

A small produce costs more for what is asked about its batch than for the bytes. A batch is plain when the
answer to all of that is the usual one: a sound header, a time that nobody objects to, the sequence number
that comes next, room in the segment. That is seen by one look at the header. `PartitionLog.append` is the
slow twin: what is not plain, and so whatever is to be refused, goes there, and a plain batch leaves the same
bytes and the same state either way.

`append_plainly` appends one, for `broker.partition`; `run` several.

Source: ours.
"""

from wirekafka.protocol.records import HEADER_BYTES, Codec
from wirekafka.protocol.records.batch import HEADER, LENGTH_PREFIX_BYTES, MAGIC_V2, NO_PRODUCER_ID, START
from wirekafka.protocol.records.checksum import crc32c
from wirekafka.protocol.records.record import LEAST_RECORD_BYTES
from wirekafka.storage.config import LOG_APPEND_TIME
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.producers.state import SEQUENCE_MASK, AppendedBatch

NOT_PLAIN = -1
_CHECKED_FROM = 21
_HIGHEST_CODEC = max(Codec)
_unpack_header = HEADER.unpack_from
pack_start = START.pack_into
"""Puts base offset, length and leader epoch into a batch."""

Limits = tuple[int, int, int]
"""The largest offset that may be given, the earliest and the latest time that a batch may have."""
Facts = tuple[int, int, int, int, int]
"""Of a plain batch: last offset, largest timestamp; producer id, its epoch, first sequence number."""


def may_be_plain(log: PartitionLog, leader_epoch: int) -> bool:
    """Whether any batch for a log is plain; its settings are known not to ask to look into records."""
    if log.failed or log.disk.health.failure or leader_epoch != log.epochs.latest:
        return False
    return log.config.message_timestamp_type != LOG_APPEND_TIME


def limits_of(log: PartitionLog, now_ms: int, most_batches: int) -> tuple[int, Limits]:
    """How many bytes so many batches may have, and what else holds for them."""
    config = log.config
    room, largest_offset, latest = log.segments.active.room(config, now_ms, most_batches)
    if room > config.max_message_bytes:
        room = config.max_message_bytes
    earliest = now_ms - config.message_timestamp_before_max_ms
    latest_ms = now_ms + config.message_timestamp_after_max_ms
    return room, (
        largest_offset,
        earliest if earliest > 0 else 0,
        latest_ms if latest_ms < latest else latest,
    )


def facts_of(records: memoryview, most_bytes: int, next_offset: int, limits: Limits) -> Facts | None:
    """What is to be known of a batch that is plain but for its sequence number; None for one that is not."""
    size = len(records)
    if not HEADER_BYTES <= size <= most_bytes:
        return None
    (
        base_offset, length, _, magic, crc, attributes, last_offset_delta, first_time, newest,
        producer_id, producer_epoch, sequence, count,
    ) = _unpack_header(records)  # fmt: skip
    largest_offset, earliest, latest = limits
    last_offset = next_offset + last_offset_delta
    if (
        base_offset
        or length != size - LENGTH_PREFIX_BYTES
        or magic != MAGIC_V2
        or not 0 <= attributes <= _HIGHEST_CODEC
        or count <= 0
        or count != last_offset_delta + 1
        or (not attributes and count * LEAST_RECORD_BYTES > size - HEADER_BYTES)
        or not earliest <= first_time <= newest <= latest
        or last_offset > largest_offset
        or crc32c(records[_CHECKED_FROM:]) != crc
    ):
        return None
    return last_offset, newest, producer_id, producer_epoch, sequence


def appended_of(base_offset: int, facts: Facts) -> AppendedBatch:
    """What is remembered of a producer's batch."""
    last_offset, newest, _, _, sequence = facts
    delta = last_offset - base_offset
    return AppendedBatch((sequence + delta) & SEQUENCE_MASK, last_offset, delta, newest)


def append_plainly(log: PartitionLog, records: memoryview, leader_epoch: int, now_ms: int) -> int:
    """Append a batch as a producer sent it, and give its base offset; NOT_PLAIN, and it is left alone.

    It is patched in place. Raises KAFKA_STORAGE_ERROR.
    """
    if not may_be_plain(log, leader_epoch):
        return NOT_PLAIN
    base_offset = log.log_end_offset
    most_bytes, limits = limits_of(log, now_ms, 1)
    facts = facts_of(records, most_bytes, base_offset, limits)
    if facts is None:
        return NOT_PLAIN
    last_offset, newest, producer_id, producer_epoch, sequence = facts
    has_producer = producer_id > NO_PRODUCER_ID
    if has_producer and log.producers.next_sequence(producer_id) != (producer_epoch, sequence):
        return NOT_PLAIN
    pack_start(records, 0, base_offset, len(records) - LENGTH_PREFIX_BYTES, leader_epoch)
    try:
        log.segments.active.append_plain(records, base_offset, last_offset, newest)
    except OSError as error:
        raise log.storage_error("could not be appended to", error) from error
    if has_producer:
        log.producers.update_in_sequence(producer_id, appended_of(base_offset, facts))
    log.log_end_offset = last_offset + 1
    if log.unflushed.since_ms < 0:
        log.unflushed.since_ms = now_ms
    return base_offset
