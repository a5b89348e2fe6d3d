"""Tests of broker.looking_up: KIP-79 and KIP-734, as Kafka's Partition.fetchOffsetForTimestamp has them."""

import threading
from typing import Any

import pytest
import trio

from tests.broker.conftest import MakePartition
from wirekafka.broker.looking_up import offset_for_timestamp, offset_of_max_timestamp
from wirekafka.broker.partition import ListedOffset, Partition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Codec, Record, build_batch
from wirekafka.storage import Origin, TimestampSearch
from wirekafka.storage.segments.segment_indexes import SegmentIndexes, load_indexes


@pytest.fixture
def partition(make_partition: MakePartition) -> Partition:
    """A batch at 10 and 30, and one at 20, compressed, in leader epoch 4."""
    partition = make_partition(leader_epoch=4)
    for times, codec in (((10, 30), Codec.ZSTD), ((20,), Codec.NONE)):
        partition.append(build_batch([Record(b"k", b"v", time) for time in times], codec=codec), now_ms=1)
    return partition


async def test_the_first_record_at_or_after_a_time(partition: Partition) -> None:
    """With its own time, its offset and its leader epoch, which is in the compressed batch."""
    assert await offset_for_timestamp(partition, 11, committed_only=False) == ListedOffset(30, 1, 4)
    assert await offset_for_timestamp(partition, 10, committed_only=False) == ListedOffset(10, 0, 4)
    assert await offset_for_timestamp(partition, 31, committed_only=False) == ListedOffset()


async def test_the_largest_time(partition: Partition, make_partition: MakePartition) -> None:
    """Nothing in an empty partition."""
    empty = make_partition("empty")

    assert await offset_of_max_timestamp(partition, committed_only=False) == ListedOffset(30, 1, 4)
    assert await offset_of_max_timestamp(empty, committed_only=False) == ListedOffset()


async def test_what_is_not_committed_is_not_told_to_who_reads_committed(partition: Partition) -> None:
    """An open transaction begins at offset 3; Kafka says that there is no such record."""
    data = build_batch(
        [Record(b"k", b"v", 50)], producer_id=1, producer_epoch=0, base_sequence=0, attributes=0x10
    )
    partition.append(data, now_ms=1, origin=Origin.COORDINATOR)

    assert await offset_for_timestamp(partition, 40, committed_only=True) == ListedOffset()
    assert await offset_for_timestamp(partition, 40, committed_only=False) == ListedOffset(50, 3, 4)
    assert await offset_of_max_timestamp(partition, committed_only=True) == ListedOffset()
    assert await offset_of_max_timestamp(partition, committed_only=False) == ListedOffset(50, 3, 4)


async def test_the_event_loop_goes_on_meanwhile(
    partition: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is read and unpacked in another thread."""
    seen: list[threading.Thread] = []
    run = TimestampSearch.run

    def noting(search: TimestampSearch) -> object:
        seen.append(threading.current_thread())
        return run(search)

    monkeypatch.setattr(TimestampSearch, "run", noting)
    await offset_for_timestamp(partition, 11, committed_only=False)
    await offset_of_max_timestamp(partition, committed_only=False)

    assert len(seen) == 2
    assert threading.current_thread() not in seen


async def test_at_most_two_look_at_once(partition: Partition, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may hold 64 MiB."""
    gate, inside, most = threading.Event(), 0, 0
    lock = threading.Lock()

    def slow(search: TimestampSearch) -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
            if inside == 2:
                gate.set()
        gate.wait(5)
        with lock:
            inside -= 1

    monkeypatch.setattr(TimestampSearch, "run", slow)
    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(lambda: offset_for_timestamp(partition, 11, committed_only=False))

    assert most == 2


def _fails(search: TimestampSearch) -> None:
    raise OSError(5, "Input/output error")


async def test_a_disk_that_cannot_be_read_is_a_storage_error(
    partition: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named by the topic, not by a path."""
    monkeypatch.setattr(TimestampSearch, "run", _fails)
    refusals = []
    for asking in (
        offset_for_timestamp(partition, 11, committed_only=False),
        offset_of_max_timestamp(partition, committed_only=False),
    ):
        with pytest.raises(KafkaError) as caught:
            await asking
        refusals.append((caught.value.code, "t-0" in caught.value.message))

    assert refusals == [(ErrorCode.KAFKA_STORAGE_ERROR, True)] * 2


async def test_the_indexes_of_old_segments_are_read_in_a_thread(
    make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of files after a start, for which the event loop may not wait."""
    partition = make_partition(segment_bytes=200, retention_ms=-1)
    for time in range(10):
        partition.append(build_batch([Record(b"k", b"v" * 60, time)]), now_ms=1)
    log = partition.log
    for segment in log.segments.all()[:-1]:
        monkeypatch.setattr(segment, "_loaded", False)
    seen: list[threading.Thread] = []

    def noting(*arguments: Any) -> SegmentIndexes:
        seen.append(threading.current_thread())
        return load_indexes(*arguments)

    monkeypatch.setattr("wirekafka.storage.segments.segment.load_indexes", noting)

    assert await offset_for_timestamp(partition, 7, committed_only=False) == ListedOffset(7, 7, 0)
    assert len(seen) == len(log.segments.all()) - 1 > 2
    assert threading.current_thread() not in seen
