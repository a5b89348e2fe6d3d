"""Fills up what a producer snapshot does not hold: all but the newest of each producer's last batches.

Called by `rebuilding` after it has loaded a snapshot. A producer may have five requests under way, and a
broker that is stopped after it appended them and before they were answered is sent all five again: each has
to be known, or the producer takes the second sending for a first. Read are only the batches behind one of
the last entries of the offset index before the snapshot, some hundred KiB of headers at most.

Source: ours. Kafka remembers the newest batch alone after a start, and refuses the others
(OUT_OF_ORDER_SEQUENCE_NUMBER).
"""

from collections import deque

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.producers.state import BATCHES_REMEMBERED, AppendedBatch, ProducerState
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.segment import Segment

_INDEX_ENTRIES = 64


def recall_batches(segments: list[Segment], producers: ProducerState, snapshot_offset: int) -> None:
    """Let the producers of a snapshot know their last batches before its offset. Raises OSError."""
    if not producers.producers:
        return
    recalled: dict[int, deque[AppendedBatch]] = {}
    try:
        tail = _tail(segments, snapshot_offset)
    except Damaged:
        return  # whoever reads that segment is told; to open the log it is not needed
    for segment, position in tail:
        for _, batch in segment.headers(position):
            if batch.base_offset >= snapshot_offset:
                break
            _recall(batch, producers, recalled)
    for producer_id, batches in recalled.items():
        producer = producers.producers[producer_id]
        # Else the newest lies further back, and what was found is not what came before it.
        if producer.batches and batches[-1] == producer.batches[-1]:
            producer.batches = batches


def _tail(segments: list[Segment], end_offset: int) -> list[tuple[Segment, int]]:
    """Where to begin in which segments, so that some index entries are passed before an offset."""
    tail = []
    entries = _INDEX_ENTRIES
    for segment in reversed([segment for segment in segments if segment.base_offset < end_offset]):
        position, passed = segment.position_before(end_offset, entries)
        tail.append((segment, position))
        entries -= passed
        if entries <= 0:
            break
    return tail[::-1]


def _recall(batch: RecordBatch, producers: ProducerState, recalled: dict[int, deque[AppendedBatch]]) -> None:
    producer = producers.producers.get(batch.producer_id)
    if producer is not None and batch.producer_epoch == producer.epoch and not batch.is_control:
        batches = recalled.setdefault(batch.producer_id, deque(maxlen=BATCHES_REMEMBERED))
        batches.append(AppendedBatch.of(batch))
