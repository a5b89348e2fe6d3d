"""The first half of a compaction: what the newest offset of every key is.

Called by `cleaner`, in a thread.
Source: Kafka's Cleaner.buildOffsetMap.
"""

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.acceptance.record_checks import most_unpacked_bytes
from wirekafka.storage.cleaning.cleanable import Cleanable
from wirekafka.storage.cleaning.keys import keys_of
from wirekafka.storage.cleaning.offset_map import OffsetMap
from wirekafka.storage.cleaning.reading import naming
from wirekafka.storage.cleaning.work import Work
from wirekafka.storage.segments.segment import Segment


def gather(work: Work, cleanable: Cleanable, newest: OffsetMap) -> None:
    """Note the newest offset of each key in the dirty part, until its end, or until no room is left.

    What was aborted counts for nothing. Raises Unreadable, OSError.
    """
    start, end = cleanable.first_dirty_offset, cleanable.end_offset
    newest.latest_offset = start - 1
    most_bytes = most_unpacked_bytes(work.log.config)
    transactions = work.transactions(start, end)
    for segment, segment_end in _dirty_segments(work, start, end):
        for position, batch in work.batches(segment):
            if batch.last_offset < start:
                continue
            with naming(segment, position):
                counts = not transactions.may_drop(batch) and not batch.is_control
                if counts and not _note(batch, newest, start, most_bytes):
                    return
            newest.latest_offset = batch.last_offset
        newest.latest_offset = segment_end - 1  # also where the offsets at the segment's end are gone


def _dirty_segments(work: Work, start: int, end: int) -> list[tuple[Segment, int]]:
    """The segments that hold something of a range of offsets, and where each ends."""
    segments = work.log.segments.all()
    ends = [*(segment.base_offset for segment in segments[1:]), work.log.log_end_offset]
    pairs = zip(segments, ends, strict=True)
    return [(segment, its_end) for segment, its_end in pairs if its_end > start and segment.base_offset < end]


def _note(batch: RecordBatch, newest: OffsetMap, start: int, most_bytes: int) -> bool:
    """Note the keys of a batch; whether there was room for all of them."""
    return all(
        newest.put(record.key, record.offset)
        for record in keys_of(batch, most_bytes)
        if record.key is not None and record.offset >= start
    )
