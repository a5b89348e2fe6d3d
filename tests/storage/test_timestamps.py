"""Tests of storage.timestamps."""

from collections.abc import Callable
from pathlib import Path

import pytest

from wirekafka.protocol.records import Record, RecordBatch, build_batch
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk import Disk
from wirekafka.storage.files import FILES
from wirekafka.storage.segment import Segment
from wirekafka.storage.timestamps import TimestampOffset, first_at_or_after, first_with_largest


@pytest.fixture
def fill(tmp_path: Path) -> Callable[..., Segment]:
    """Makes a segment of batches, given each batch's timestamps."""

    def make(*batches: list[int], attributes: int = 0) -> Segment:
        config = LogConfig(index_interval_bytes=100)
        segment = Segment.create(Disk.on(FILES), str(tmp_path), 0, config=config, created_ms=0)
        for i, times in enumerate(batches):
            data = build_batch(
                [Record(b"k", b"v", time) for time in times],
                base_offset=segment.next_offset,
                leader_epoch=3,
                codec=i % 5,
                attributes=attributes,
            )
            segment.append(data, RecordBatch(data))
        return segment

    return make


def test_the_first_record_at_or_after_a_time_is_found(fill: Callable[..., Segment]) -> None:
    """The exact record inside its batch, compressed or not."""
    segment = fill(*[[10 * i, 10 * i + 5] for i in range(1, 30)])

    for time in range(1, 296):
        step = max(-(-time // 5), 2)
        assert first_at_or_after(segment, time, 0) == TimestampOffset(5 * step, step - 2, 3)
    assert first_at_or_after(segment, 296, 0) is None


def test_times_that_go_back_are_searched_in_offset_order(fill: Callable[..., Segment]) -> None:
    """It is the first by offset, not by time."""
    segment = fill([50, 20], [90], [10, 60], [95])

    assert first_at_or_after(segment, 55, 0) == TimestampOffset(90, 2, 3)
    assert first_at_or_after(segment, 91, 0) == TimestampOffset(95, 5, 3)
    assert first_at_or_after(segment, 55, 3) == TimestampOffset(60, 4, 3)


def test_log_append_time_needs_no_decoding(fill: Callable[..., Segment]) -> None:
    """All records of the batch have its time; the first that is not before the start counts."""
    segment = fill([10, 20, 30], attributes=0x08)

    assert first_at_or_after(segment, 15, 1) == TimestampOffset(30, 1, 3)
    assert first_with_largest(segment) == TimestampOffset(30, 0, 3)


def test_the_first_record_with_the_largest_time_is_found(fill: Callable[..., Segment]) -> None:
    """Of several batches with the same largest time, the first."""
    segment = fill(*([[5, 6]] * 10), [7, 70, 70], [8], [70], *([[9]] * 10))

    assert first_with_largest(segment) == TimestampOffset(70, 21, 3)


def test_a_segment_without_batches_has_none(fill: Callable[..., Segment]) -> None:
    """None, not an offset of nothing."""
    assert first_with_largest(fill()) is None
    assert first_at_or_after(fill(), 0, 0) is None


def test_a_batch_whose_header_promises_too_much_is_passed_over(tmp_path: Path) -> None:
    """A client may claim a larger maximum than its records have; the search goes on behind it."""
    config = LogConfig()
    segment = Segment.create(Disk.on(FILES), str(tmp_path), 0, config=config, created_ms=0)
    for offset, (time, claimed) in enumerate([(10, 99), (50, 50)]):
        data = build_batch([Record(None, b"", time)], base_offset=offset)
        batch = RecordBatch(data)
        batch.set_timestamp_type(log_append_time=False, max_timestamp=claimed)
        segment.append(data, batch)

    assert first_at_or_after(segment, 40, 0) == TimestampOffset(50, 1, -1)
    assert first_with_largest(segment) is None
