"""Read now, or wait until enough has come or the time is up.

Called by `handlers.fetch`, whose is the loop; calls `Partition.read`, which gives slices of files: no
record bytes are touched here. `plain_reading` is the same for the plain case, and quicker.

Source: KIP-74 (one batch at least), KIP-320 (epochs); Kafka's ReplicaManager.readFromLog and
DelayedFetch.
"""

from dataclasses import dataclass

import trio

from wirekafka.broker.fetch_sessions import FetchedPartition, FetchKey, FetchPlan
from wirekafka.broker.partition import Partition
from wirekafka.broker.timeouts import Timeouts
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
_ANY_BYTES = 1
_NOT_FOUND = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)


@dataclass(slots=True)
class FetchLimits:
    min_bytes: int
    max_bytes: int
    max_wait_ms: int
    committed_only: bool


def deadline_of(limits: FetchLimits) -> float:
    """When a fetch that comes now is to be answered at the latest, by trio's clock, in seconds."""
    return trio.current_time() + limits.max_wait_ms / 1000


async def fetch(
    plan: FetchPlan, limits: FetchLimits, timeouts: Timeouts, deadline: float | None = None
) -> dict[FetchKey, PartitionData]:
    """Read every partition of the plan, in order, within the limits.

    Waits until `min_bytes` can be read, at most `max_wait_ms`, or until trio's clock shows the deadline, in
    seconds; an error anywhere answers at once, as does a reader of an older segment.
    """
    if deadline is None:
        deadline = deadline_of(limits)
    await _read_indexes(plan)
    results, enough = _read_all(plan, limits)
    while not enough:
        sizes = {key: _size_bytes(data) for key, data in results.items()}
        del results  # with the files that its slices hold open
        plan.watch()
        is_time_up = not await wait_for_more(plan, limits, sizes, timeouts, deadline)
        plan.look_again()
        results, enough = _read_all(plan, limits)
        enough = enough or is_time_up
    return results


async def _read_indexes(plan: FetchPlan) -> None:
    """Read in a thread, after a start, the indexes of large segments that are read from.

    One whose index is missing is gone through from its first batch to its last: seconds for a gigabyte.
    """
    unread = []
    for fetched in plan.partitions.values():
        if isinstance(fetched.found, Partition):
            segment = fetched.found.log.segments.unread(fetched.wanted.fetch_offset)
            if segment is not None and segment.size > _MOST_BYTES_INDEXED_INLINE:
                unread.append(segment)
    if unread:
        await run_unpacking(lambda: read_indexes(unread))


async def wait_for_more(
    plan: FetchPlan, limits: FetchLimits, sizes: dict[FetchKey, int], timeouts: Timeouts, deadline: float
) -> bool:
    """Wait until there may be `min_bytes`, or another request of the session has come.

    The plan's partitions are watched since they were last read, when there was what `sizes` says. Those
    that ring are looked at again, and no others: a consumer of a thousand partitions that waits for a
    megabyte is woken by every append to any of them. Where a byte is enough, the first that rings is, and is
    left to the caller to read. False when trio's clock, in seconds, shows the deadline before.
    """
    if plan.is_overtaken:
        return True  # the bell is the other request's
    with _Watched(plan, timeouts, deadline) as watched:
        while not plan.is_overtaken and sum(sizes.values()) < limits.min_bytes:
            rung = await watched.rung()
            if watched.is_time_up:
                return False
            if limits.min_bytes <= _ANY_BYTES:
                break
            for fetched in rung:
                data = _read_one(fetched, limits.max_bytes, limits, is_first=True)
                is_enough = _is_news(data) or reads_older_segment(fetched, limits)
                sizes[fetched.key] = limits.min_bytes if is_enough else _size_bytes(data)
                del data
                fetched.watch()
    return True


class _Watched:
    """The partitions of a plan while a request waits for them; those of no session are let go."""

    __slots__ = ("_plan", "_task", "_timeout", "_timeouts", "is_time_up")

    def __init__(self, plan: FetchPlan, timeouts: Timeouts, deadline: float) -> None:
        self._plan = plan
        self.is_time_up = False
        self._timeout = timeouts.set(deadline, self._end)
        self._timeouts = timeouts
        self._task: trio.lowlevel.Task | None = None
        """The one that waits, until it is woken. An event would be made anew for every record."""

    def __enter__(self) -> "_Watched":
        self._plan.reading.wake = self._wake
        return self

    def __exit__(self, *_: object) -> None:
        self._timeouts.take_back(self._timeout)
        reading = self._plan.reading
        if reading.wake != self._wake:
            return  # another request of the session waits
        reading.wake = None
        if self._plan.session is None or reading.is_over:
            reading.let_go()

    def _wake(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            trio.lowlevel.reschedule(task)

    def _end(self) -> None:
        self.is_time_up = True
        self._wake()

    def _give_up(self, _: object) -> trio.lowlevel.Abort:
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED

    async def rung(self) -> list[FetchedPartition]:
        """Wait for any, and give those that have rung since the last time."""
        reading = self._plan.reading
        if not reading.rung and not self.is_time_up:
            self._task = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._give_up)
        if self._plan.is_overtaken:
            return []  # what has rung is for the other request
        rung = list(reading.rung.values())
        reading.rung.clear()
        return rung


def _read_all(plan: FetchPlan, limits: FetchLimits) -> tuple[dict[FetchKey, PartitionData], bool]:
    """One pass over what is due; also whether it is enough to answer with."""
    results: dict[FetchKey, PartitionData] = {}
    left_bytes, read_bytes = limits.max_bytes, 0
    at_once = limits.max_wait_ms <= 0 or not plan.reading.partitions or plan.is_overtaken
    for key, fetched in plan.partitions.items():
        data = _read_one(fetched, left_bytes, limits, is_first=read_bytes == 0)
        results[key] = data
        size = _size_bytes(data)
        left_bytes -= size
        read_bytes += size
        at_once = at_once or _is_news(data) or reads_older_segment(fetched, limits)
    return results, at_once or read_bytes >= limits.min_bytes


def reads_older_segment(fetched: FetchedPartition, limits: FetchLimits) -> bool:
    """Whether a reader may go on in a later segment: that is enough, as no read goes from one to the next."""
    found = fetched.found
    if not isinstance(found, Partition):
        return False
    active = found.log.segments.active.base_offset
    offset = fetched.wanted.fetch_offset
    return offset < active < found.visible_end(committed_only=limits.committed_only)


def _size_bytes(data: PartitionData) -> int:
    return len(data.records) if data.records is not None else 0


def _is_news(data: PartitionData) -> bool:
    """Whether a consumer is to hear of it at once, though no record comes."""
    return data.error_code != ErrorCode.NONE or data.diverging_epoch.end_offset >= 0


def _read_one(
    fetched: FetchedPartition, left_bytes: int, limits: FetchLimits, *, is_first: bool
) -> PartitionData:
    """Read one partition; the first that has anything gives a whole batch whatever the limits."""
    wanted, found = fetched.wanted, fetched.found
    assert found is not None
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
