"""What most fetches are: partitions that are there, and records or none. One pass, nothing waited for.

Called by `handlers.fetch` and `handlers.repeated_fetch`. The quick twin of `fetching`, which makes a message
of each partition; a tuple does here, since of all fields four are told. Whatever is out of the ordinary (an
error, a divergence, transactions that were aborted, an index to be read) is left to `fetching`: the answer is
None then, and nothing has been changed.

Source: Kafka's ReplicaManager.readFromLog.
"""

from typing import NamedTuple

from wirekafka.broker.fetch_sessions import FetchedPartition, FetchKey, FetchPlan, Found
from wirekafka.broker.fetching import FetchLimits
from wirekafka.broker.partition import ANY_LEADER_EPOCH, Partition
from wirekafka.protocol.apis.fetch import FetchPartition
from wirekafka.protocol.plain_fetch import PlainPartition
from wirekafka.storage import FileSlice, PartitionLog

_NOTHING = b""


class PlainRead(NamedTuple):
    """What was read, partition by partition, and how much that is."""

    partitions: list[tuple[FetchedPartition, PlainPartition]]
    size_bytes: int

    @property
    def sizes(self) -> dict[FetchKey, int]:
        return {fetched.key: len(told.records) for fetched, told in self.partitions}


def read_plainly(plan: FetchPlan, limits: FetchLimits) -> PlainRead | None:
    """Read what is due; None for what is not plain."""
    left_bytes, read_bytes = limits.max_bytes, 0
    partitions = []
    for fetched in plan.partitions.values():
        told = read_one_plainly(
            fetched.key,
            fetched.found,
            fetched.wanted,
            min(fetched.wanted.partition_max_bytes, left_bytes),
            committed_only=limits.committed_only,
            is_first=read_bytes == 0,
        )
        if told is None:
            return None
        size = len(told.records)
        left_bytes -= size
        read_bytes += size
        partitions.append((fetched, told))
    return PlainRead(partitions, read_bytes)


def read_one_plainly(
    key: FetchKey,
    found: Found | None,
    wanted: FetchPartition,
    max_bytes: int,
    *,
    committed_only: bool,
    is_first: bool,
) -> PlainPartition | None:
    """Read a partition; None for what is not plain. The first that has anything gives one batch at least."""
    if not isinstance(found, Partition) or not _is_of_this_epoch(wanted, found):
        return None
    log, offset = found.log, wanted.fetch_offset
    start = log.log_start_offset
    high_watermark = found.high_watermark
    stable = min(log.last_stable_offset, high_watermark)
    end = stable if committed_only else high_watermark
    if not start <= offset <= end or found.is_deleted:
        return None
    records = (
        _NOTHING
        if offset == end
        else _records(log, offset, max_bytes, end=end, committed_only=committed_only, is_first=is_first)
    )
    if records is None:
        return None
    topic, index = key
    return PlainPartition(topic, index, high_watermark, stable, start, records)


def _records(
    log: PartitionLog, offset: int, max_bytes: int, *, end: int, committed_only: bool, is_first: bool
) -> FileSlice | None:
    segments = log.segments
    if segments.unread(offset) is not None or (committed_only and not segments.has_no_aborted_from(offset)):
        return None
    try:
        return segments.slice(offset, max(0, max_bytes), end, is_first)
    except OSError:
        return None  # it will be said there


def _is_of_this_epoch(wanted: FetchPartition, partition: Partition) -> bool:
    """Whether the reader knows the leader, and its log cannot have parted from this one."""
    epoch, read_epoch = wanted.current_leader_epoch, wanted.last_fetched_epoch
    if epoch > ANY_LEADER_EPOCH and epoch != partition.leader_epoch:
        return False
    return read_epoch < 0 or read_epoch == partition.log.latest_epoch
