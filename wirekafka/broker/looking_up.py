"""Looks offsets up by time: finds where to look on the event loop, and looks in a thread.

Called by `handlers.offsets`; calls `storage.timestamps`. A batch may have to be read and unpacked, which
is bounded, and is done for few at once.

Source: KIP-79, KIP-734; Kafka's Partition.fetchOffsetForTimestamp.
"""

import trio

from wirekafka.broker.partition import ListedOffset, Partition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import TimestampOffset, TimestampSearch, search_largest, searches_at_or_after

_MOST_AT_ONCE = 2
_limiter: trio.lowlevel.RunVar[trio.CapacityLimiter] = trio.lowlevel.RunVar("looking up")


async def offset_for_timestamp(
    partition: Partition, timestamp_ms: int, *, committed_only: bool
) -> ListedOffset:
    """The first record with this timestamp or a later one; all -1 when there is none to see.

    Raises KAFKA_STORAGE_ERROR, and what `TimestampSearch.run` raises.
    """
    try:
        for search in searches_at_or_after(partition.log, timestamp_ms):
            found = await _run(search)
            if found is not None:
                return _listed(partition, found, committed_only)
    except OSError as error:
        raise _unreadable(partition, error) from error
    return ListedOffset()


async def offset_of_max_timestamp(partition: Partition, *, committed_only: bool) -> ListedOffset:
    """The first record with the largest timestamp of all; all -1 when it is not to be seen.

    Raises as `offset_for_timestamp` does.
    """
    try:
        search = search_largest(partition.log)
        found = await _run(search) if search is not None else None
    except OSError as error:
        raise _unreadable(partition, error) from error
    return ListedOffset() if found is None else _listed(partition, found, committed_only)


async def _run(search: TimestampSearch) -> TimestampOffset | None:
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = trio.CapacityLimiter(_MOST_AT_ONCE)
        _limiter.set(limiter)
    return await trio.to_thread.run_sync(search.run, limiter=limiter)


def _listed(partition: Partition, found: TimestampOffset, committed_only: bool) -> ListedOffset:
    if found.offset >= partition.visible_end(committed_only=committed_only):
        return ListedOffset()
    return ListedOffset(found.timestamp_ms, found.offset, found.leader_epoch)


def _unreadable(partition: Partition, error: OSError) -> KafkaError:
    return KafkaError(
        ErrorCode.KAFKA_STORAGE_ERROR,
        f"The log of {partition.topic_partition} could not be read: {error.strerror or error}.",
    )
