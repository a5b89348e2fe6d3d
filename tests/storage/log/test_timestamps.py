"""Tests of storage.log.timestamps."""

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.support import NOW_MS, Store, UnsyncedFiles
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import HEADER_BYTES, Codec, Record, RecordBatch, build_batch
from wirekafka.storage import Origin, PartitionLog
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.files import FileSlice
from wirekafka.storage.log.timestamps import (
    TimestampOffset,
    TimestampSearch,
    read_indexes,
    search_largest,
    searches_at_or_after,
    unread_segments,
)


@pytest.fixture
def fill(store: Store) -> Callable[..., PartitionLog]:
    """Makes a log of batches, given each batch's timestamps; every codec has its turn."""

    def make(*batches: list[int]) -> PartitionLog:
        store.config = LogConfig(index_interval_bytes=100)
        log = store.open()
        for index, times in enumerate(batches):
            append(log, *times, codec=index % 5)
        return log

    return make


@pytest.fixture
def segmented(store: Store) -> PartitionLog:
    """A log whose segments have room for a few small batches."""
    store.config = LogConfig(segment_bytes=400, index_interval_bytes=100)
    return store.open()


def append(log: PartitionLog, *times: int, codec: int = 0) -> None:
    data = build_batch([Record(b"k", b"v" * 20, time) for time in times], codec=codec)
    log.append(data, leader_epoch=3, now_ms=NOW_MS)


def append_claiming(log: PartitionLog, largest: int, *times: int) -> None:
    """Append a batch whose header has a largest time of its own."""
    data = build_batch([Record(None, b"", time) for time in times])
    RecordBatch(data).set_timestamp_type(log_append_time=False, max_timestamp=largest)
    log.append(data, leader_epoch=3, now_ms=NOW_MS)


def found_in(log: PartitionLog, timestamp_ms: int) -> TimestampOffset | None:
    """What a caller finds that runs every search until one has it."""
    return next(filter(None, (search.run() for search in searches_at_or_after(log, timestamp_ms))), None)


def largest_in(log: PartitionLog) -> TimestampOffset | None:
    search = search_largest(log)
    return search.run() if search is not None else None


def test_the_first_record_at_or_after_a_time_is_found(fill: Callable[..., PartitionLog]) -> None:
    """The exact record inside its batch, compressed or not."""
    log = fill(*[[10 * i, 10 * i + 5] for i in range(1, 30)])

    for time in range(1, 296):
        step = max(-(-time // 5), 2)
        assert found_in(log, time) == TimestampOffset(5 * step, step - 2, 3)
    assert found_in(log, 296) is None


def test_times_that_go_back_are_searched_in_offset_order(fill: Callable[..., PartitionLog]) -> None:
    """It is the first by offset, not by time."""
    log = fill([50, 20], [90], [10, 60], [95])

    assert found_in(log, 55) == TimestampOffset(90, 2, 3)
    assert found_in(log, 91) == TimestampOffset(95, 5, 3)
    log.delete_records_before(3)
    assert found_in(log, 55) == TimestampOffset(60, 4, 3)


def test_log_append_time_needs_no_decoding(store: Store) -> None:
    """All records of the batch have its time; the first that is not before the start counts."""
    store.config = LogConfig(message_timestamp_type="LogAppendTime")
    log = store.open()
    append(log, 10, 20, 30)
    spoil_records(store)

    assert largest_in(log) == TimestampOffset(NOW_MS, 0, 3)
    log.delete_records_before(1)
    assert found_in(log, 15) == TimestampOffset(NOW_MS, 1, 3)


def spoil_records(store: Store) -> None:
    """Overwrite what is behind the first batch's header, so that nobody can read it."""
    with store.log_path().open("r+b") as file:
        file.seek(HEADER_BYTES)
        file.write(b"\xff" * 8)


def test_the_first_record_with_the_largest_time_is_found(fill: Callable[..., PartitionLog]) -> None:
    """Of several batches with the same largest time, the first."""
    log = fill(*([[5, 6]] * 10), [7, 70, 70], [8], [70], *([[9]] * 10))

    assert largest_in(log) == TimestampOffset(70, 21, 3)


def test_records_without_a_time_have_the_largest_there_is(fill: Callable[..., PartitionLog]) -> None:
    """It is -1, of the first record; by time none is found."""
    log = fill([-1, -1])

    assert largest_in(log) == TimestampOffset(-1, 0, 3)
    assert found_in(log, 0) is None


def test_a_batch_whose_header_promises_too_much_is_passed_over(fill: Callable[..., PartitionLog]) -> None:
    """A client may claim a larger maximum than its records have; the search goes on behind it."""
    log = fill()
    append_claiming(log, 99, 10)
    append_claiming(log, 50, 50)

    assert found_in(log, 40) == TimestampOffset(50, 1, 3)
    assert largest_in(log) is None


def test_a_batch_whose_header_promises_too_little_has_the_record_with_that_time(
    fill: Callable[..., PartitionLog],
) -> None:
    """As in Kafka, whose index goes by headers and looks for that very time."""
    log = fill()
    append_claiming(log, 20, 50, 20)

    assert largest_in(log) == TimestampOffset(20, 1, 3)


def test_what_compaction_has_taken_out_of_a_batch_is_not_found(store: Store) -> None:
    """The batch keeps its last offset, and the time of its append."""
    store.config = LogConfig(message_timestamp_type="LogAppendTime")
    log = store.open()
    data = build_batch([Record(b"k", b"v", 1)] * 2)
    data[26] = 5  # the last offset's delta
    batch = RecordBatch(data)
    batch.set_timestamp_type(log_append_time=False, max_timestamp=1)
    log.append(data, leader_epoch=3, now_ms=NOW_MS, origin=Origin.COORDINATOR)

    assert found_in(log, 5) == TimestampOffset(NOW_MS, 0, 3)
    log.delete_records_before(1)
    assert found_in(log, 5) == TimestampOffset(NOW_MS, 1, 3)
    log.delete_records_before(2)
    assert found_in(log, 5) is None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=4), min_size=1, max_size=15),
    start=st.integers(0, 60),
    sought=st.integers(0, 31),
)
def test_the_answer_is_that_of_a_walk_over_all_records(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[int]], start: int, sought: int
) -> None:
    """Times in any order, every codec, many segments, any start: the first by offset at or after a time."""
    store = Store(tmp_path_factory.mktemp("walk"), UnsyncedFiles())
    store.config = LogConfig(segment_bytes=400, index_interval_bytes=100)
    log = store.open()
    for index, times in enumerate(batches):
        append(log, *times, codec=index % 5)
    log.delete_records_before(min(start, log.log_end_offset))
    records = list(enumerate(time for times in batches for time in times))
    wanted = [(time, offset) for offset, time in records if offset >= log.log_start_offset and time >= sought]

    assert found_in(log, sought) == (TimestampOffset(*wanted[0], 3) if wanted else None)
    store.stop(clean=False)


def test_the_search_goes_on_behind_a_segment_that_had_the_time_before_the_start(
    segmented: PartitionLog,
) -> None:
    """Kafka says that there is none; by the meaning of the question there is."""
    for times in ([90, 1], [1, 1], [1, 1], [1, 95], [1, 1]):
        append(segmented, *times)
    segmented.delete_records_before(3)

    assert segmented.segments.first_offset == 0
    assert found_in(segmented, 50) == TimestampOffset(95, 7, 3)


def test_the_largest_time_is_told_though_its_record_is_before_the_start(segmented: PartitionLog) -> None:
    """Kafka 4.4 looks at segments alone for it."""
    append(segmented, 90, 1)
    append(segmented, 1, 1)
    segmented.delete_records_before(2)

    assert largest_in(segmented) == TimestampOffset(90, 0, 3)


def test_an_empty_log_has_nowhere_to_look(segmented: PartitionLog) -> None:
    """Nor has one whose records have all been deleted."""
    assert search_largest(segmented) is None
    append(segmented, 50)
    segmented.delete_records_before(1)

    assert list(searches_at_or_after(segmented, 0)) == []


def test_a_search_outlives_its_segment(segmented: PartitionLog) -> None:
    """Retention may remove a segment while a thread looks into it."""
    append(segmented, 50)
    for _ in range(8):
        append(segmented, 60)
    search = next(searches_at_or_after(segmented, 50))
    segmented.delete_records_before(8)

    assert segmented.segments.first_offset > 0
    assert search.run() == TimestampOffset(50, 0, 3)


def test_a_log_that_is_shortened_between_two_looks_is_searched_on(segmented: PartitionLog) -> None:
    """The second segment has gone when its turn comes; the third has the record."""
    for times in ([90, 1], [1, 1], [1, 1], [1, 95], [1, 1], [1, 1], [97, 1], [1, 1], [1, 1]):
        append(segmented, *times)
    segmented.delete_records_before(1)
    searches = searches_at_or_after(segmented, 50)
    bases = [segment.base_offset for segment in segmented.segments.all()]

    assert next(searches).run() is None
    segmented.delete_records_before(bases[2])
    assert [search.run() for search in searches] == [TimestampOffset(97, 12, 3)]


def test_what_was_read_up_to_is_what_was_there_when_it_began(segmented: PartitionLog) -> None:
    """Appends go on beside a search."""
    append(segmented, 10)
    search = TimestampSearch(
        FileSlice(segmented.segments.active.file, 0, segmented.segments.active.size), 50, 0, LogConfig()
    )
    append(segmented, 60)

    assert search.run() is None


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_in_the_log_is_not_unpacked(store: Store, codec: Codec) -> None:
    """A batch is taken in unopened, so a search may be the first to see what it grows to."""
    log = store.open()
    bomb = build_batch([Record(b"k", bytes(1 << 20), 10)] * 80, codec=codec)
    if codec is Codec.SNAPPY:
        log.config = LogConfig(max_message_bytes=8 << 20)
    log.append(bomb, leader_epoch=0, now_ms=NOW_MS)
    (search,) = searches_at_or_after(log, 5)
    tracemalloc.start()
    try:
        with pytest.raises(KafkaError) as caught:
            search.run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert peak < 80 * 1024 * 1024 + 2 * len(bomb)


def test_a_record_of_more_than_the_topic_allows_is_not_looked_at(store: Store) -> None:
    """max.decompressed.message.bytes, lowered afterwards, makes lookups fail, as in Kafka."""
    log = store.open()
    append(log, 10, codec=Codec.ZSTD)
    log.config = LogConfig(max_decompressed_message_bytes=20)

    with pytest.raises(KafkaError) as caught:
        found_in(log, 5)
    assert caught.value.code is ErrorCode.INVALID_RECORD


def test_indexes_that_were_not_read_yet_may_be_read_beforehand(store: Store) -> None:
    """All but the last segment's, after a start; what a thread meets there is told to who uses it."""
    store.config = LogConfig(segment_bytes=400, index_interval_bytes=100)
    log = store.open()
    for time in range(100):
        append(log, time)
    store.stop()
    log = store.open()
    sealed = log.segments.all()[:-1]
    store.log_path(sealed[1].base_offset).rename(store.folder / "elsewhere")

    before = unread_segments(log)
    read_indexes(before)

    assert len(before) > 5
    assert unread_segments(log) == [sealed[1]]
    with pytest.raises(FileNotFoundError):
        found_in(log, sealed[1].base_offset)
    (store.folder / "elsewhere").rename(store.log_path(sealed[1].base_offset))
    assert found_in(log, 55) == TimestampOffset(55, 55, 3)
    assert unread_segments(log) == []
