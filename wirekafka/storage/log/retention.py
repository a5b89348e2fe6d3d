"""What of a log is kept no longer: by age, by size, and by where the log begins.

Called by the broker at intervals, on the event loop. Whole segments go, the oldest first, and only those that
readers could see all of. The active segment is sealed when it is due as well.

Source: Kafka's UnifiedLog.deleteOldSegments.
"""

from wirekafka.storage.config import DELETE
from wirekafka.storage.log.ages import largest_timestamp_ms
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.segments.segment import Segment


def start_after_retention(log: PartitionLog, *, high_watermark: int, now_ms: int) -> int:
    """The offset that the log is to begin at, by its settings and the time; raise KAFKA_STORAGE_ERROR.

    That is where it begins already when nothing is due. Without "delete" in cleanup.policy nothing is.
    """
    config = log.config
    if DELETE not in config.cleanup_policy or log.log_end_offset == log.segments.first_offset:
        return log.log_start_offset
    try:
        segments = log.segments.all()
        kept = _passed(segments, log.log_start_offset)
        kept += _too_many(segments[kept:], config.retention_bytes)
        kept += _too_old(log, segments[kept:], config.retention_ms, now_ms)
    except OSError as error:
        raise log.disk.storage_error(
            f"The log of {log.topic_partition} could not be looked through for its age", error
        ) from error
    ends = [*(segment.base_offset for segment in segments[1:]), log.log_end_offset]
    start = max((end for end in ends[:kept] if end <= high_watermark), default=0)
    return max(start, log.log_start_offset)


def has_passed_segments(log: PartitionLog) -> bool:
    """Whether whole segments lie before the start of the log, as DeleteRecords leaves them."""
    if log.log_start_offset == log.log_end_offset and log.segments.active.size:
        return True
    return log.segments.end_of_first <= log.log_start_offset


def _passed(segments: list[Segment], log_start_offset: int) -> int:
    """How many segments, from the first, lie before the log's start."""
    return sum(1 for segment in segments[1:] if segment.base_offset <= log_start_offset)


def _too_many(segments: list[Segment], retention_bytes: int) -> int:
    """How many segments, from the first, the log can lose and still have `retention_bytes`."""
    excess = sum(segment.size for segment in segments) - retention_bytes
    if retention_bytes < 0 or excess < 0:
        return 0
    for count, segment in enumerate(segments):
        excess -= segment.size
        if excess < 0:
            return count
    return len(segments)


def _too_old(log: PartitionLog, segments: list[Segment], retention_ms: int, now_ms: int) -> int:
    """How many segments, from the first, hold nothing younger than `retention_ms`."""
    if retention_ms < 0:
        return 0
    for count, segment in enumerate(segments):
        is_last_and_empty = segment.size == 0 and segment is segments[-1]
        if is_last_and_empty or now_ms - largest_timestamp_ms(log, segment) <= retention_ms:
            return count
    return len(segments)
