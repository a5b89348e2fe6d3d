"""Finds single records of a log by their timestamps.

Called by `broker.looking_up` for ListOffsets. The indexes lead to a piece of a segment, on
the event loop; going through its batches, and into the one that has the record, is for a thread. A
batch is unpacked within a bound.

Unlike Kafka, which gives up when the first segment that has the time has it only before the log's
start, the search goes on to the next.

Source: Kafka's UnifiedLog.fetchOffsetByTimestamp, LogSegment.findOffsetByTimestamp,
FileRecords.searchForTimestamp and RecordBatch.offsetOfMaxTimestamp.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from wirekafka.protocol.records import RecordBatch, unpack_records
from wirekafka.storage.acceptance.record_checks import heads_of, most_unpacked_bytes
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.files import FileSlice
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.segments.scan import headers
from wirekafka.storage.segments.segment import Segment


class TimestampOffset(NamedTuple):
    """A record's time and place, and the leader epoch that wrote it (-1 when unknown)."""

    timestamp_ms: int
    offset: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class TimestampSearch:
    """A piece of a segment, and which record of it is sought. It stays readable when its segment goes."""

    piece: FileSlice
    timestamp_ms: int
    """At least this time; or for the largest, this very one."""
    start_offset: int
    config: LogConfig
    of_largest: bool = False

    def run(self) -> TimestampOffset | None:
        """Read the piece up to the record, in a thread if the caller may not wait for it.

        Raises OSError; MESSAGE_TOO_LARGE for a batch that unpacks past the bound, and what `heads_of` does.
        """
        file, end = self.piece.file, self.piece.position + len(self.piece)
        for position, header in headers(file, self.piece.position, end):
            if header.max_timestamp < self.timestamp_ms or header.last_offset < self.start_offset:
                continue
            found = self._look_into(position, header)
            if found is not None or (self.of_largest and header.max_timestamp == self.timestamp_ms):
                return found
        return None

    def _look_into(self, position: int, header: RecordBatch) -> TimestampOffset | None:
        epoch = header.partition_leader_epoch
        if header.is_log_append_time and header.record_count == header.last_offset_delta + 1:
            first = max(header.base_offset, self.start_offset)
            return TimestampOffset(header.max_timestamp, first, epoch)
        for timestamp_ms, offset in self._records(position, header):
            if offset < self.start_offset or timestamp_ms < self.timestamp_ms:
                continue
            if not self.of_largest or timestamp_ms == self.timestamp_ms:
                return TimestampOffset(timestamp_ms, offset, epoch)
        return None

    def _records(self, position: int, header: RecordBatch) -> Iterator[tuple[int, int]]:
        """Time and offset of every record of a batch."""
        batch = RecordBatch(self.piece.file.read(header.size_in_bytes, position))
        payload = unpack_records(batch, max_bytes=most_unpacked_bytes(self.config))
        for head in heads_of(batch, payload, self.config):
            timestamp_ms = batch.base_timestamp + head.timestamp_delta
            offset = batch.base_offset + head.offset_delta
            yield (batch.max_timestamp if batch.is_log_append_time else timestamp_ms), offset


def unread_segments(log: PartitionLog) -> list[Segment]:
    """The sealed segments whose indexes a search would read first; a thread may `read_indexes` of them."""
    return [segment for segment in log.segments.all()[:-1] if not segment.is_loaded]


def read_indexes(segments: list[Segment]) -> None:
    """Read the indexes of segments, as far as that can be done: whoever uses one is told what is wrong."""
    for segment in segments:
        with contextlib.suppress(OSError):
            segment.load()


def searches_at_or_after(log: PartitionLog, timestamp_ms: int) -> Iterator[TimestampSearch]:
    """Where the first record with at least this timestamp may be, in the order in which to look.

    To be stepped on the event loop; the log may be shortened or compacted between steps. Raises OSError.
    """
    searched_to = log.log_start_offset
    while True:
        ahead = (segment for segment in log.segments.all() if segment.next_offset > searched_to)
        segment = next((one for one in ahead if one.max_timestamp >= timestamp_ms), None)
        if segment is None:
            return
        start_offset, searched_to = max(searched_to, log.log_start_offset), segment.next_offset
        yield _search_segment(segment, timestamp_ms, start_offset, log.config)


def search_largest(log: PartitionLog) -> TimestampSearch | None:
    """Where the first record is that has the largest timestamp of all; None in an empty log.

    As in Kafka it may be before the log's start, if its segment is still there. Raises OSError.
    """
    segment = max(log.segments.all(), key=lambda one: one.max_timestamp)
    found = segment.find(segment.max_timestamp_offset)
    if found is None:
        return None
    piece = FileSlice(segment.file, found[0], segment.size - found[0])
    return TimestampSearch(piece, segment.max_timestamp, segment.base_offset, log.config, of_largest=True)


def _search_segment(
    segment: Segment, timestamp_ms: int, start_offset: int, config: LogConfig
) -> TimestampSearch:
    """Where in a segment the first record with at least this timestamp and offset may be."""
    position = segment.position_for_timestamp(timestamp_ms)
    if start_offset > segment.base_offset:
        at_start = segment.find(start_offset)
        position = max(position, at_start[0] if at_start is not None else segment.size)
    piece = FileSlice(segment.file, position, segment.size - position)
    return TimestampSearch(piece, timestamp_ms, start_offset, config)
