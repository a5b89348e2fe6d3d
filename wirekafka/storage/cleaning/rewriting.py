"""The second half of a compaction: segments are written anew without what is outdated, and put in place.

Called by `cleaner`, in a thread, with one group of neighbouring segments after the other, the oldest first:
so an old value is gone before the tombstone that deleted it.

Source: Kafka's Cleaner.cleanSegments. A segment that would stay as it is is left alone.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from wirekafka.storage.cleaning.cleaned_segment import CleanedSegment, discard
from wirekafka.storage.cleaning.filtering import BatchFilter, LastBatch
from wirekafka.storage.cleaning.grouping import groups_by_size
from wirekafka.storage.cleaning.reading import naming
from wirekafka.storage.cleaning.swap import announce, replace
from wirekafka.storage.cleaning.work import Work
from wirekafka.storage.disk.files import sync_names
from wirekafka.storage.log.ages import last_modified_ms
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.segments.segment import Segment

_NO_TIMESTAMP = -1
_INDEXES = (".index", ".timeindex")


@dataclass(slots=True)
class Rewriting:
    """The segments of a log, up to `end_offset`, on their way to being fewer and smaller."""

    work: Work
    batch_filter: BatchFilter
    end_offset: int
    bytes_read: int = 0
    bytes_kept: int = 0

    def rewrite(self, end_of_cleanable: int) -> None:
        """Write all of it anew. Raises Unreadable, LogChanged, OSError."""
        log = self.work.log
        segments = [s for s in log.segments.all()[:-1] if s.base_offset < self.end_offset]
        groups = groups_by_size(
            segments,
            end_of_cleanable,
            segment_bytes=log.config.segment_bytes,
            segment_index_bytes=log.config.segment_index_bytes,
            index_bytes=lambda segment: _index_bytes(log, segment),
        )
        for group in groups:
            self._rewrite_group(group)

    def _rewrite_group(self, group: list[Segment]) -> None:
        work, log, base_offset = self.work, self.work.log, group[0].base_offset
        with contextlib.ExitStack() as unfinished:
            unfinished.callback(_discard, log, base_offset)
            if not self._write(group):
                return
            work.on_loop(lambda: announce(log, group))
            sync_names(log.disk.files, log.folder)
            work.on_loop(lambda: work.drop(replace(log, group, now_ms=work.now_ms)))
            unfinished.pop_all()
        sync_names(log.disk.files, log.folder)

    def _write(self, group: list[Segment]) -> bool:
        """Write what stays of some segments; whether that is anything else than what there is."""
        work, log = self.work, self.work.log
        self.batch_filter.producers = work.on_loop(lambda: last_batches(log))
        cleaned = CleanedSegment(log.disk, log.folder, group[0].base_offset, log.config.index_interval_bytes)
        same = len(group) == 1
        newest_timestamp = _NO_TIMESTAMP
        for segment in group:
            for position, batch in work.batches(segment):
                with naming(segment, position):
                    retained = self.batch_filter.retained(batch)
                same = same and isinstance(retained, memoryview)
                if retained is not None:
                    cleaned.append(retained)
                    newest_timestamp = max(newest_timestamp, batch.max_timestamp)
            self.bytes_read += segment.size
        aborted = self.batch_filter.transactions.take_retained()
        self.bytes_kept += cleaned.size
        if same:
            return False
        undated = newest_timestamp == _NO_TIMESTAMP
        cleaned.finish(aborted, last_modified_ms(log, group[-1]) if undated else None)
        work.pace(cleaned.size)
        return True


def _discard(log: PartitionLog, base_offset: int) -> None:
    """Throw away what was written, unless a swap that came half way makes it the only copy there is."""
    with contextlib.suppress(OSError):  # else the next start does it
        discard(log.disk.files, log.folder, base_offset, announced=not log.failed)


def last_batches(log: PartitionLog) -> Mapping[int, LastBatch]:
    """What the log knows of its producers now: their last data batch, and their epoch."""
    return {
        producer_id: LastBatch(producer.batches[-1].last_offset if producer.batches else -1, producer.epoch)
        for producer_id, producer in log.producers.producers.items()
    }


def _index_bytes(log: PartitionLog, segment: Segment) -> tuple[int, ...]:
    stem = f"{log.folder}/{segment.base_offset:020d}"
    sizes = []
    for suffix in _INDEXES:
        try:
            sizes.append(log.disk.files.size_of(stem + suffix))
        except FileNotFoundError:
            sizes.append(0)  # it is made anew when it is needed
    return tuple(sizes)
