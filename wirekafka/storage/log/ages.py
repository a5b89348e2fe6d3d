"""How old what is in a segment is.

Asked by `retention` and `cleaning`.
Source: Kafka's LogSegment.largestTimestamp.
"""

from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.segments.segment import Segment


def largest_timestamp_ms(log: PartitionLog, segment: Segment) -> int:
    """The largest timestamp of a segment's batches; where none has one, when its file last changed.

    Raises OSError.
    """
    newest = segment.max_timestamp
    return newest if newest >= 0 else last_modified_ms(log, segment)


def last_modified_ms(log: PartitionLog, segment: Segment) -> int:
    """When a segment's file last changed, by the wall clock. Raises OSError."""
    return log.disk.files.modified_ms(f"{log.folder}/{segment.file_name}")
