"""How much of a log may be compacted, and whether that is worth it now.

Called by the broker's cleaner, on the event loop. Never compacted are the active segment, what is open in a
transaction or not seen by readers yet, what is younger than min.compaction.lag.ms (KIP-58), and what no
flush has made last: a value must not be dropped for a newer one that a power cut takes away.

Source: Kafka's LogCleanerManager (cleanableOffsets, maxCompactionDelay) and LogToClean; the bound of
the flush is our own.
"""

from dataclasses import dataclass

from wirekafka.storage.log.ages import largest_timestamp_ms
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.segments.segment import Segment


@dataclass(frozen=True, slots=True)
class Cleanable:
    """What of a log is clean, and what can be cleaned."""

    log: PartitionLog
    first_dirty_offset: int
    end_offset: int
    """What begins here is not compacted this time; the base offset of a segment."""
    clean_bytes: int
    cleanable_bytes: int
    overdue: bool
    """Whether some of it waits for longer than max.compaction.lag.ms (KIP-354)."""

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is worth it by the log's min.cleanable.dirty.ratio, or overdue."""
        if self.overdue and self.cleanable_bytes:
            return True
        return self.dirty_ratio > self.log.config.min_cleanable_dirty_ratio


def cleanable(
    log: PartitionLog, cleaned_up_to: int | None, *, high_watermark: int, flushed_up_to: int, now_ms: int
) -> Cleanable:
    """Look at a log of which everything below `cleaned_up_to` was compacted. Raises OSError."""
    first_dirty = log.log_start_offset if cleaned_up_to is None else cleaned_up_to
    if not log.log_start_offset <= first_dirty <= log.log_end_offset:
        first_dirty = log.log_start_offset
    segments = log.segments.all()
    sealed = segments[:-1]
    dirty = _from_offset(segments, first_dirty)[:-1]
    bound = min(
        log.last_stable_offset,
        high_watermark,
        flushed_up_to,
        segments[-1].base_offset,
        _first_too_young(dirty, log, now_ms),
    )
    # Where the bound lies inside a segment, that one is left whole.
    end = max(s.base_offset for s in segments if s.base_offset <= max(bound, first_dirty))
    clean_from = min(first_dirty, end)
    return Cleanable(
        log,
        first_dirty,
        end,
        clean_bytes=sum(s.size for s in sealed if s.base_offset < clean_from),
        cleanable_bytes=sum(s.size for s in _from_offset(segments, clean_from) if s.base_offset < end),
        overdue=_is_overdue(dirty, log, now_ms),
    )


def _from_offset(segments: list[Segment], offset: int) -> list[Segment]:
    """The segment that holds an offset and those behind it."""
    slot = sum(1 for segment in segments if segment.base_offset <= offset)
    return segments[max(slot - 1, 0) :]


def _first_too_young(dirty: list[Segment], log: PartitionLog, now_ms: int) -> int:
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        for segment in dirty:
            if largest_timestamp_ms(log, segment) > now_ms - lag_ms:
                return segment.base_offset
    return log.log_end_offset


def _is_overdue(dirty: list[Segment], log: PartitionLog, now_ms: int) -> bool:
    since_ms = now_ms - log.config.max_compaction_lag_ms
    if since_ms <= 0:
        return False
    return any(0 < segment.first_timestamp < since_ms for segment in dirty)
