"""Which neighbouring segments are compacted into one, so that segments do not grow ever smaller. Pure.

Called by `rewriting`.
Source: Kafka's Cleaner.groupSegmentsBySize.
"""

from collections.abc import Callable
from dataclasses import dataclass

from wirekafka.storage.segments.segment import Segment
from wirekafka.storage.segments.segment_indexes import LARGEST_RELATIVE_OFFSET


@dataclass(slots=True)
class _Group:
    segments: list[Segment]
    log_bytes: int
    index_bytes: tuple[int, ...]


def groups_by_size(
    segments: list[Segment],
    end_offset: int,
    *,
    segment_bytes: int,
    segment_index_bytes: int,
    index_bytes: Callable[[Segment], tuple[int, ...]],
) -> list[list[Segment]]:
    """Put together what fits into one segment, by the bytes of log and indexes and the range of offsets.

    `end_offset` is where the last of the segments ends at most.
    """
    ends = [*(segment.base_offset for segment in segments[1:]), end_offset]
    groups: list[_Group] = []
    for segment, end in zip(segments, ends, strict=False):
        sizes = index_bytes(segment)
        if groups and _fits(groups[-1], segment, sizes, segment_bytes, segment_index_bytes):
            group = groups[-1]
            if segment.size == 0 or end - 1 - group.segments[0].base_offset <= LARGEST_RELATIVE_OFFSET:
                group.segments.append(segment)
                group.log_bytes += segment.size
                group.index_bytes = _sums(group.index_bytes, sizes)
                continue
        groups.append(_Group([segment], segment.size, sizes))
    return [group.segments for group in groups]


def _fits(
    group: _Group, segment: Segment, sizes: tuple[int, ...], segment_bytes: int, segment_index_bytes: int
) -> bool:
    if group.log_bytes + segment.size > segment_bytes:
        return False
    return max(_sums(group.index_bytes, sizes)) <= segment_index_bytes


def _sums(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
