"""Finds the aborted transactions of a range of a log, over its segments.

Called by `log` for a fetch that is to show only what is committed, and by a compaction. An index
that is damaged is made anew from the batches.

Source: Kafka's LocalLog.addAbortedTransactions and collectAbortedTransactions.
"""

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import Protocol

from wirekafka.ids import TopicPartition
from wirekafka.protocol.records import RecordBatch
from wirekafka.protocol.records.batch import NO_PRODUCER_ID
from wirekafka.storage.disk.files import FileSlice
from wirekafka.storage.producers.snapshots import ProducerSnapshots
from wirekafka.storage.producers.state import ProducerState
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.segment import Segment
from wirekafka.storage.segments.segments import Segments
from wirekafka.storage.segments.transaction_index import AbortedTransaction


class SegmentedLog(Protocol):
    """What is asked of the log."""

    topic_partition: TopicPartition
    segments: Segments
    snapshots: ProducerSnapshots


def aborted_transactions(log: SegmentedLog, from_offset: int, up_to_offset: int) -> list[AbortedTransaction]:
    """Give the aborted transactions that have a record or their marker in a range of offsets.

    Raises OSError.
    """
    found: list[AbortedTransaction] = []
    segments = log.segments.all()
    first = bisect_right(segments, from_offset, key=attrgetter("base_offset")) - 1
    for segment in segments[max(first, 0) :]:
        if segment.transactions.is_known_to_be_empty:
            continue
        load_transaction_index(log, segment)
        if segment.transactions.collect(from_offset, up_to_offset, found):
            break
    return found


def upper_bound(log: SegmentedLog, records: FileSlice) -> int:
    """Give an offset that no batch of a slice reaches; by the index, so not much behind the last."""
    for segment in log.segments.all():
        if segment.path == records.file.path:
            return segment.offset_behind(records.position + len(records))
    return log.segments.active.next_offset


def load_transaction_index(log: SegmentedLog, segment: Segment) -> None:
    """Read a segment's index, or make it anew when it is damaged. Raises OSError."""
    try:
        segment.transactions.load()
    except Damaged:
        segment.transactions.replace(_aborted_in(log, segment))


def _aborted_in(log: SegmentedLog, segment: Segment) -> list[AbortedTransaction]:
    """What the batches say, read from the last good snapshot before the segment on. Raises OSError."""
    found: list[AbortedTransaction] = []
    producers = ProducerState(log.topic_partition)
    start = log.snapshots.load(segment.base_offset, producers)
    for earlier in log.segments.all():
        if earlier.base_offset > segment.base_offset:
            break
        if earlier is not segment and earlier.next_offset <= start:
            continue
        for batch in batches_of_producers(earlier, start):
            aborted = producers.replay(batch)
            if aborted is not None and earlier is segment:
                found.append(aborted)
    return found


def batches_of_producers(segment: Segment, from_offset: int) -> Iterator[RecordBatch]:
    """The batches from an offset on that have a producer id; control batches with their record.

    Raises OSError.
    """
    found = segment.find(max(from_offset, segment.base_offset))
    if found is None:
        return
    for position, header in segment.headers(found[0]):
        if header.producer_id > NO_PRODUCER_ID and header.base_offset >= from_offset:
            yield segment.batch_at(position, header.size_in_bytes) if header.is_control else header
