"""Finds single records of a segment by their timestamps.

Called by `log` for ListOffsets. The indexes lead to the batch; its records are decoded, with a bound,
to tell which one it is.

Source: Kafka's FileRecords.searchForTimestamp and RecordBatch.offsetOfMaxTimestamp.
"""

from collections.abc import Iterator
from typing import NamedTuple

from wirekafka.protocol.records import RecordBatch, decode_records
from wirekafka.storage.segment import Segment


class TimestampOffset(NamedTuple):
    """A record's time and place, and the leader epoch that wrote it (-1 when unknown)."""

    timestamp_ms: int
    offset: int
    leader_epoch: int


def first_at_or_after(segment: Segment, timestamp_ms: int, start_offset: int) -> TimestampOffset | None:
    """The first record with at least this timestamp and offset."""
    for position, header in segment.headers(segment.position_for_timestamp(timestamp_ms)):
        if header.max_timestamp < timestamp_ms or header.last_offset < start_offset:
            continue
        for found in _timestamps(segment, position, header):
            if found.timestamp_ms >= timestamp_ms and found.offset >= start_offset:
                return found
    return None


def first_with_largest(segment: Segment) -> TimestampOffset | None:
    """The first record that has the segment's largest timestamp."""
    found = segment.find(segment.max_timestamp_offset)
    if found is None:
        return None
    for position, header in segment.headers(found[0]):
        if header.max_timestamp == segment.max_timestamp:
            times = _timestamps(segment, position, header)
            return next((time for time in times if time.timestamp_ms == header.max_timestamp), None)
    return None


def _timestamps(segment: Segment, position: int, header: RecordBatch) -> Iterator[TimestampOffset]:
    epoch = header.partition_leader_epoch
    if header.is_log_append_time:
        for offset in range(header.base_offset, header.last_offset + 1):
            yield TimestampOffset(header.max_timestamp, offset, epoch)
        return
    for record in decode_records(segment.batch_at(position, header.size_in_bytes)):
        yield TimestampOffset(record.timestamp_ms, record.offset, epoch)
