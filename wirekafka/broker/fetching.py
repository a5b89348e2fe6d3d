"""Read now, or wait until enough has come or the time is up. The only loop of the fetch path.

Called by `handlers.fetch`; calls `Partition.read`, which gives slices of files: no record bytes
are touched here.

Source: KIP-74 (one batch at least), KIP-320 (epochs); Kafka's ReplicaManager.readFromLog and
DelayedFetch.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import trio

from wirekafka.broker.fetch_sessions import FetchedPartition, FetchKey
from wirekafka.broker.partition import Partition
from wirekafka.broker.unpacking import run_unpacking
from wirekafka.protocol.apis.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    PartitionData,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import FileSlice, read_indexes

_UNKNOWN_OFFSET = -1
_MOST_BYTES_INDEXED_INLINE = 1024 * 1024
_NOT_FOUND = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)
Found = Partition | KafkaError
"""A partition to read, or why there is none."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    min_bytes: int
    max_bytes: int
    max_wait_ms: int
    committed_only: bool


async def fetch(
    wanted: Mapping[FetchKey, FetchedPartition], found: Mapping[FetchKey, Found], limits: FetchLimits
) -> dict[FetchKey, PartitionData]:
    """Read every wanted partition, in order, within the limits.

    Waits until `min_bytes` can be read, at most `max_wait_ms`; an error anywhere answers at once.
    """
    await _read_indexes(wanted, found)
    results, enough = _read_all(wanted, found, limits)
    if enough or limits.max_wait_ms <= 0:
        return results
    sizes = {key: _size_bytes(data) for key, data in results.items()}
    del results  # with the files that its slices hold open
    with _Bells(found) as bells, trio.move_on_after(limits.max_wait_ms / 1000):
        while True:
            for key in await bells.rung():
                data = _read_one(wanted[key].wanted, found[key], limits.max_bytes, limits, is_first=True)
                sizes[key] = limits.min_bytes if _is_news(data) else _size_bytes(data)
                del data
            if sum(sizes.values()) >= limits.min_bytes:
                results, enough = _read_all(wanted, found, limits)
                if enough:
                    return results
                del results
    return _read_all(wanted, found, limits)[0]


async def _read_indexes(wanted: Mapping[FetchKey, FetchedPartition], found: Mapping[FetchKey, Found]) -> None:
    """Read in a thread, after a start, the indexes of large segments that are read from.

    One whose index is missing is gone through from its first batch to its last: seconds for a gigabyte.
    """
    unread = []
    for key, partition in found.items():
        if isinstance(partition, Partition):
            segment = partition.log.segments.unread(wanted[key].wanted.fetch_offset)
            if segment is not None and segment.size > _MOST_BYTES_INDEXED_INLINE:
                unread.append(segment)
    if unread:
        await run_unpacking(lambda: read_indexes(unread))


class _Bells:
    """A bell at each partition, and which of them have rung: only those are looked at again.

    A consumer of a thousand partitions that waits for a megabyte is woken by every append to any of them.
    """

    def __init__(self, found: Mapping[FetchKey, Found]) -> None:
        self._bells = [(p, _Bell(self, key)) for key, p in found.items() if isinstance(p, Partition)]
        self._rung: set[FetchKey] = set()
        self._any = trio.Event()

    def __enter__(self) -> "_Bells":
        for partition, bell in self._bells:
            partition.wait_with(bell)
        return self

    def __exit__(self, *_: object) -> None:
        for partition, bell in self._bells:
            partition.wait_no_more(bell)

    def ring(self, key: FetchKey) -> None:
        self._rung.add(key)
        self._any.set()

    async def rung(self) -> set[FetchKey]:
        """Wait for any, and give those that have rung since the last time."""
        await self._any.wait()
        rung, self._rung, self._any = self._rung, set(), trio.Event()
        return rung


class _Bell:
    """One partition's."""

    __slots__ = ("_bells", "_key")

    def __init__(self, bells: _Bells, key: FetchKey) -> None:
        self._bells = bells
        self._key = key

    def set(self) -> None:
        self._bells.ring(self._key)


def _read_all(
    wanted: Mapping[FetchKey, FetchedPartition], found: Mapping[FetchKey, Found], limits: FetchLimits
) -> tuple[dict[FetchKey, PartitionData], bool]:
    """One pass; also whether it is enough to answer with."""
    results: dict[FetchKey, PartitionData] = {}
    left_bytes, read_bytes, failed = limits.max_bytes, 0, not wanted
    for key, fetched in wanted.items():
        data = _read_one(fetched.wanted, found[key], left_bytes, limits, is_first=read_bytes == 0)
        results[key] = data
        size = _size_bytes(data)
        left_bytes -= size
        read_bytes += size
        failed = failed or _is_news(data)
    return results, failed or read_bytes >= limits.min_bytes


def _size_bytes(data: PartitionData) -> int:
    return len(data.records) if data.records is not None else 0


def _is_news(data: PartitionData) -> bool:
    """Whether a consumer is to hear of it at once, though no record comes."""
    return data.error_code != ErrorCode.NONE or data.diverging_epoch.end_offset >= 0


def _read_one(
    wanted: FetchPartition, found: Found, left_bytes: int, limits: FetchLimits, *, is_first: bool
) -> PartitionData:
    """Read one partition; the first that has anything gives a whole batch whatever the limits."""
    if isinstance(found, KafkaError):
        data = failed_fetch(wanted.partition, found.code)
        if found.code in _NOT_FOUND:
            data.aborted_transactions = []  # as Kafka has it, where a failed read has null
        return data
    try:
        found.check_leader_epoch(wanted.current_leader_epoch)
        diverging = _divergence(wanted, found)
        records = b"" if diverging else _read_records(wanted, found, left_bytes, limits, is_first)
        aborted = _aborted(wanted, found, records) if limits.committed_only else None
    except KafkaError as error:
        return failed_fetch(wanted.partition, error.code)
    return PartitionData(
        partition_index=wanted.partition,
        error_code=ErrorCode.NONE,
        high_watermark=found.high_watermark,
        last_stable_offset=found.last_stable_offset,
        log_start_offset=found.log.log_start_offset,
        diverging_epoch=diverging or EpochEndOffset(),
        aborted_transactions=aborted,
        records=records,
    )


def _read_records(
    wanted: FetchPartition, partition: Partition, left_bytes: int, limits: FetchLimits, is_first: bool
) -> FileSlice | bytes:
    return partition.read(
        wanted.fetch_offset,
        max(0, min(wanted.partition_max_bytes, left_bytes)),
        committed_only=limits.committed_only,
        at_least_one_batch=is_first,
    )


def _aborted(
    wanted: FetchPartition, partition: Partition, records: FileSlice | bytes
) -> list[AbortedTransaction]:
    """The transactions that a reader of committed records has to leave out of what it gets."""
    if not isinstance(records, FileSlice) or not records:
        return []
    return [
        AbortedTransaction(producer_id=producer_id, first_offset=first_offset)
        for producer_id, first_offset in partition.aborted_transactions(wanted.fetch_offset, records)
    ]


def _divergence(wanted: FetchPartition, partition: Partition) -> EpochEndOffset | None:
    """Where the reader's log and this one part, when it named the epoch it last read (KIP-595)."""
    if wanted.last_fetched_epoch < 0:
        return None
    epoch, end_offset = partition.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch == wanted.last_fetched_epoch and end_offset >= wanted.fetch_offset:
        return None
    if epoch < 0:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"Epoch {wanted.last_fetched_epoch} is not known.")
    if wanted.fetch_offset < partition.log.log_start_offset:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"Offset {wanted.fetch_offset} has been deleted.")
    return EpochEndOffset(epoch=epoch, end_offset=end_offset)


def failed_fetch(partition: int, code: ErrorCode) -> PartitionData:
    """What a partition that could not be read is answered with: no record, no watermark."""
    return PartitionData(
        partition_index=partition,
        error_code=code,
        high_watermark=_UNKNOWN_OFFSET,
        aborted_transactions=None,
        records=b"",
    )
