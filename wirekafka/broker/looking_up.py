"""Looks offsets up by time: finds where to look on the event loop, and looks in a thread.

Called by `handlers.offsets`; calls `storage.log.timestamps`. A batch may have to be read and unpacked, which
is bounded, and is done for few at once (`unpacking`).

Source: KIP-79, KIP-734; Kafka's Partition.fetchOffsetForTimestamp.
"""

from wirekafka.broker.partition import ListedOffset, Partition
from wirekafka.broker.unpacking import run_unpacking
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import (
    TimestampOffset,
    read_indexes,
    search_largest,
    searches_at_or_after,
    unread_segments,
)


async def offset_for_timestamp(
    partition: Partition, timestamp_ms: int, *, committed_only: bool
) -> ListedOffset:
    """The first record with this timestamp or a later one; all -1 when there is none to see.

    Raises KAFKA_STORAGE_ERROR, and what `TimestampSearch.run` raises.
    """
    await _read_indexes(partition)
    try:
        for search in searches_at_or_after(partition.log, timestamp_ms):
            found = await run_unpacking(search.run)
            if found is not None:
                return _listed(partition, found, committed_only)
    except OSError as error:
        raise _unreadable(partition, error) from error
    return ListedOffset()


async def offset_of_max_timestamp(partition: Partition, *, committed_only: bool) -> ListedOffset:
    """The first record with the largest timestamp of all; all -1 when it is not to be seen.

    Raises as `offset_for_timestamp` does.
    """
    await _read_indexes(partition)
    try:
        search = search_largest(partition.log)
        found = await run_unpacking(search.run) if search is not None else None
    except OSError as error:
        raise _unreadable(partition, error) from error
    return ListedOffset() if found is None else _listed(partition, found, committed_only)


async def _read_indexes(partition: Partition) -> None:
    """Read in a thread what the first search after a start needs of every segment."""
    unread = unread_segments(partition.log)
    if unread:
        await run_unpacking(lambda: read_indexes(unread))


def _listed(partition: Partition, found: TimestampOffset, committed_only: bool) -> ListedOffset:
    if found.offset >= partition.visible_end(committed_only=committed_only):
        return ListedOffset()
    return ListedOffset(found.timestamp_ms, found.offset, found.leader_epoch)


def _unreadable(partition: Partition, error: OSError) -> KafkaError:
    return KafkaError(
        ErrorCode.KAFKA_STORAGE_ERROR,
        f"The log of {partition.topic_partition} could not be read: {error.strerror or error}.",
    )
