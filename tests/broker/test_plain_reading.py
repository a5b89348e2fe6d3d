"""plain_reading: what `fetching` gives, or nothing at all."""

import itertools
from typing import Any

import pytest

from tests.broker.conftest import MakePartition
from tests.broker.support import append
from tests.broker.test_fetching import ABORT, end_transaction, transactional
from wirekafka.broker.fetch_sessions import FetchKey, FetchPlan, Found
from wirekafka.broker.fetching import FetchLimits, fetch
from wirekafka.broker.partition import Partition
from wirekafka.broker.plain_reading import PlainRead, read_plainly
from wirekafka.broker.timeouts import Timeouts
from wirekafka.protocol.apis.fetch import EpochEndOffset, FetchPartition, PartitionData
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import FileSlice

MUCH = 1 << 20


def plan_of(*wanted: tuple[Found, dict[str, Any]]) -> FetchPlan:
    asked = {
        FetchKey("t", index): FetchPartition(
            partition=index, **{"fetch_offset": 0, "partition_max_bytes": MUCH, **more}
        )
        for index, (_, more) in enumerate(wanted)
    }
    plan = FetchPlan.of(asked, by_topic_id=False)
    for fetched, (found, _) in zip(plan.partitions.values(), wanted, strict=True):
        fetched.found = found
    return plan


def limits_of(max_bytes: int = MUCH, *, committed: bool = False) -> FetchLimits:
    return FetchLimits(min_bytes=0, max_bytes=max_bytes, max_wait_ms=0, committed_only=committed)


def content(records: Any) -> bytes:
    return records.read() if isinstance(records, FileSlice) else bytes(records)


def told(read: PlainRead) -> list[tuple[object, ...]]:
    return [
        (
            one.partition,
            one.high_watermark,
            one.last_stable_offset,
            one.log_start_offset,
            content(one.records),
        )
        for _, one in read.partitions
    ]


def told_by_messages(answer: list[PartitionData]) -> list[tuple[object, ...]]:
    assert all((one.error_code, one.diverging_epoch) == (0, EpochEndOffset()) for one in answer)
    return [
        (
            one.partition_index,
            one.high_watermark,
            one.last_stable_offset,
            one.log_start_offset,
            content(one.records),
        )
        for one in answer
    ]


def _last(one: tuple[Any, ...]) -> Any:
    return one[-1]


@pytest.mark.parametrize("committed", [False, True])
async def test_what_is_plain_is_read_as_messages_tell_it(
    make_partition: MakePartition, committed: bool
) -> None:
    """Every offset of two partitions, one of several segments, under all limits; a third is empty."""
    one, other, empty = make_partition(), make_partition("u", segment_bytes=300), make_partition("v")
    for count in (1, 3, 2, 4):
        append(one, count)
        append(other, count, size=40)
    size = append(one)

    for first, second in itertools.product(range(12), range(11)):
        for max_bytes in (0, 1, size, 3 * size, MUCH):
            wanted = [
                (one, {"fetch_offset": first, "partition_max_bytes": 2 * size}),
                (other, {"fetch_offset": second, "last_fetched_epoch": 0, "current_leader_epoch": 0}),
                (empty, {}),
            ]
            limits = limits_of(max_bytes, committed=committed)

            read = read_plainly(plan_of(*wanted), limits)

            by_messages = list((await fetch(plan_of(*wanted), limits, Timeouts())).values())
            assert read is not None
            assert told(read) == told_by_messages(by_messages)
            assert read.size_bytes == sum(read.sizes.values()) == sum(map(len, map(_last, told(read))))


@pytest.mark.parametrize(
    "more",
    [
        {"fetch_offset": 4},
        {"fetch_offset": 0},
        {"fetch_offset": 2, "current_leader_epoch": 1},
        {"fetch_offset": 2, "last_fetched_epoch": 1},
        {"fetch_offset": 2, "last_fetched_epoch": 7},
    ],
)
def test_errors_and_divergence_are_not_plain(make_partition: MakePartition, more: dict[str, Any]) -> None:
    """Nothing is told of the other partition either."""
    partition = make_partition()
    append(partition, 3)
    partition.move_start(1)

    assert read_plainly(plan_of((partition, {"fetch_offset": 2}), (partition, more)), limits_of()) is None


def test_partition_that_is_not_there_is_not_plain(make_partition: MakePartition) -> None:
    deleted = make_partition()
    deleted.mark_deleted()

    for found in (deleted, KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)):
        assert read_plainly(plan_of((found, {})), limits_of()) is None


def test_transaction_that_was_aborted_is_plain_to_who_reads_all(make_partition: MakePartition) -> None:
    partition = make_partition()
    transactional(partition, 7)
    end_transaction(partition, 7, ABORT)

    assert read_plainly(plan_of((partition, {})), limits_of()) is not None
    assert read_plainly(plan_of((partition, {})), limits_of(committed=True)) is None


def test_segment_whose_index_is_not_read_is_not_plain(
    make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = make_partition(segment_bytes=200)
    for _ in range(6):
        append(partition)
    monkeypatch.setattr(partition.log.segments.all()[0], "_loaded", False)

    assert read_plainly(plan_of((partition, {})), limits_of()) is None


def test_file_that_cannot_be_opened_is_not_plain(
    make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = make_partition()
    append(partition)

    def fail(*_: object) -> FileSlice:
        raise OSError("no descriptor")

    monkeypatch.setattr(type(partition.log.segments), "slice", fail)

    assert isinstance(partition, Partition)
    assert read_plainly(plan_of((partition, {})), limits_of()) is None


def test_who_reads_what_is_committed_hears_of_no_transaction_that_ended_before(
    make_partition: MakePartition,
) -> None:
    """What was aborted in the segment that is read, or in a later one, is for `fetching` to look up."""
    partition = make_partition(segment_bytes=300)
    append(partition, 3)
    transactional(partition, 7)
    end_transaction(partition, 7, ABORT)
    end_of_transaction = partition.log.log_end_offset
    while partition.log.segments.active.base_offset <= end_of_transaction:
        append(partition, 3)
    append(partition, 3)
    later = partition.log.segments.active.base_offset

    def is_plain(offset: int) -> bool:
        return (
            read_plainly(plan_of((partition, {"fetch_offset": offset})), limits_of(committed=True))
            is not None
        )

    assert [is_plain(offset) for offset in (0, end_of_transaction - 1, later)] == [False, False, True]
