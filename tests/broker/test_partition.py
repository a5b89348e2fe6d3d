"""partition: what a leader without followers lets be written, seen and waited for."""

from typing import Any

import pytest
import trio

from tests.broker.conftest import MakePartition
from tests.broker.support import FlushAtWill, append, batch
from wirekafka.broker.flushing import Flusher
from wirekafka.broker.partition import ListedOffset, Partition, is_transactional
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, NotOneBatch
from wirekafka.protocol.records import Codec, Record, RecordBatch, build_batch, decode_records
from wirekafka.storage import FileSlice, LogConfig


async def append_from_client(partition: Partition, records: bytes | bytearray | None, **facts: bool) -> int:
    """Append as a producer that knows everything, unless said otherwise."""
    known = {"zstd_allowed": True, **facts}
    view = None if records is None else memoryview(bytearray(records))
    return (await partition.append_from_client(view, now_ms=1, **known)).base_offset


async def code_of_append(partition: Partition, records: bytes | bytearray | None, **facts: bool) -> ErrorCode:
    with pytest.raises(KafkaError) as refusal:
        await append_from_client(partition, records, **facts)
    return refusal.value.code


@pytest.mark.parametrize("leader_epoch", [5, -1, -2])
def test_current_epoch_and_none_at_all_pass(make_partition: MakePartition, leader_epoch: int) -> None:
    """KIP-320: a negative epoch asks for no check."""
    partition = make_partition(leader_epoch=5)
    append(partition)

    partition.check_leader_epoch(leader_epoch)

    assert partition.leader_epoch == 5


@pytest.mark.parametrize(
    ("leader_epoch", "code"), [(4, ErrorCode.FENCED_LEADER_EPOCH), (6, ErrorCode.UNKNOWN_LEADER_EPOCH)]
)
def test_other_epochs_are_refused(make_partition: MakePartition, leader_epoch: int, code: ErrorCode) -> None:
    """KIP-320: 74 sends the client for newer metadata, 75 makes it wait for this broker's."""
    partition = make_partition(leader_epoch=5)

    with pytest.raises(KafkaError) as refusal:
        partition.check_leader_epoch(leader_epoch)
    assert refusal.value.code == code


def test_append_rings_the_bells_that_wait(make_partition: MakePartition) -> None:
    partition, waits, has_left = make_partition(), trio.Event(), trio.Event()
    partition.wait_with(waits)
    partition.wait_with(has_left)
    partition.wait_no_more(has_left)

    append(partition)

    assert (waits.is_set(), has_left.is_set()) == (True, False)


def test_a_run_rings_the_bells_that_wait_when_it_is_written(make_partition: MakePartition) -> None:
    partition, waits = make_partition(), trio.Event()
    append(partition)
    partition.wait_with(waits)
    run = partition.begin_run(now_ms=1, acks_all=True)
    assert run is not None
    run.take(memoryview(batch()))

    before = waits.is_set()
    partition.end_run(run)

    assert (before, waits.is_set(), partition.high_watermark) == (False, True, 2)


@pytest.mark.parametrize(
    ("config", "acks_all"),
    [
        ({"cleanup_policy": ("compact",)}, False),
        ({"compression_type": "gzip"}, False),
        ({"flush_messages": 10}, False),
        ({"flush_ms": 10}, False),
        ({"durability": "fsync"}, False),
        ({"min_insync_replicas": 2}, True),
        ({"message_timestamp_type": "LogAppendTime"}, False),
    ],
)
def test_no_run_begins_where_an_append_takes_more_than_a_write(
    make_partition: MakePartition, disk: FlushAtWill, config: dict[str, Any], acks_all: bool
) -> None:
    partition = make_partition(flusher=Flusher(disk.flush, disk.health), **config)

    assert partition.begin_run(now_ms=1, acks_all=acks_all) is None


@pytest.mark.parametrize("facts", [{}, {"acks_all": True}, {"zstd_allowed": False}])
def test_an_append_at_once_is_one_as_any_other(make_partition: MakePartition, facts: dict[str, bool]) -> None:
    """The first, which begins a segment, and the plain ones after it."""
    partition = make_partition()
    known = {"zstd_allowed": True, **facts}

    appended = [partition.append_at_once(memoryview(batch(2)), now_ms=1, **known) for _ in range(3)]

    assert [(each.base_offset, each.last_offset) for each in appended] == [(0, 1), (2, 3), (4, 5)]
    assert {(each.log_append_time_ms, each.log_start_offset, each.duplicate) for each in appended} == {
        (-1, 0, False)
    }


@pytest.mark.parametrize("records", [None, b""])
def test_an_append_at_once_is_refused_as_any_other(
    make_partition: MakePartition, records: bytes | None
) -> None:
    view = None if records is None else memoryview(bytearray(records))

    with pytest.raises(NotOneBatch):
        make_partition().append_at_once(view, now_ms=1, zstd_allowed=True)


@pytest.mark.parametrize(
    ("config", "prepares"),
    [({}, False), ({"compression_type": "gzip"}, True), ({"durability": "fsync"}, False)],
)
def test_partition_tells_whether_it_prepares_batches(
    make_partition: MakePartition, config: dict[str, str], prepares: bool
) -> None:
    assert make_partition(**config).prepares is prepares


def test_no_run_begins_on_a_deleted_partition(make_partition: MakePartition) -> None:
    partition = make_partition()
    with_one = partition.begin_run(now_ms=1, acks_all=True)
    partition.mark_deleted()

    assert (with_one is None, partition.begin_run(now_ms=1, acks_all=True)) == (False, None)


async def test_refused_append_rings_nobody(make_partition: MakePartition) -> None:
    partition, waits = make_partition(), trio.Event()
    partition.wait_with(waits)
    damaged = batch()
    damaged[-1] ^= 1

    assert await code_of_append(partition, damaged) == ErrorCode.CORRUPT_MESSAGE
    assert not waits.is_set()


def test_deleted_partition_wakes_who_waits_and_refuses_all_use(make_partition: MakePartition) -> None:
    """A fetch that waits learns at once that its topic is gone."""
    partition, waits = make_partition(), trio.Event()
    partition.wait_with(waits)

    partition.mark_deleted()

    assert waits.is_set()
    uses = (
        lambda: partition.append(batch(), now_ms=1),
        lambda: partition.read(0, 100, committed_only=False, at_least_one_batch=True),
        lambda: partition.check_leader_epoch(-1),
    )
    for use in uses:
        with pytest.raises(KafkaError) as refusal:
            use()
        assert refusal.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("records", [None, b""])
async def test_no_records_are_invalid(make_partition: MakePartition, records: bytes | None) -> None:
    with pytest.raises(NotOneBatch) as refusal:
        await append_from_client(make_partition(), records)
    assert refusal.value.code == ErrorCode.INVALID_RECORD


async def test_zstd_is_for_those_who_know_it(make_partition: MakePartition) -> None:
    """KIP-110: an older client would write what no client of its age could read."""
    partition = make_partition()
    packed = build_batch([Record(value=b"v" * 100)], timestamp_ms=1, codec=Codec.ZSTD)

    assert (
        await code_of_append(partition, packed, zstd_allowed=False) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    )
    assert await append_from_client(partition, packed) == 0


async def test_transactional_batch_has_a_producer_that_no_coordinator_knows(
    make_partition: MakePartition,
) -> None:
    """Nothing may be written that no coordinator would ever commit or abort."""
    partition = make_partition()
    records = batch(attributes=0x10, producer_id=1, producer_epoch=0, base_sequence=0)

    assert await code_of_append(partition, records) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert partition.high_watermark == 0


@pytest.mark.parametrize(
    ("records", "is_so"),
    [
        (None, False),
        (b"short", False),
        (bytes(batch()), False),
        (bytes(batch(attributes=0x10)), True),
        (bytes(batch(attributes=0x10))[:16] + b"\x01" + bytes(batch(attributes=0x10))[17:], False),
    ],
)
def test_only_a_v2_batch_can_be_transactional(records: bytes | None, is_so: bool) -> None:
    """In older formats the same bits say something else."""
    assert is_transactional(None if records is None else memoryview(records)) is is_so


def test_latest_and_earliest_of_an_empty_partition(make_partition: MakePartition) -> None:
    """Both in the leader's epoch, as Kafka begins the epoch when a leader is made."""
    partition = make_partition(leader_epoch=3)

    assert partition.latest_offset(committed_only=False) == ListedOffset(-1, 0, 3)
    assert partition.earliest_offset() == ListedOffset(-1, 0, 3)


def test_own_epoch_ends_where_the_log_does(make_partition: MakePartition) -> None:
    """Also before anything was written; an epoch that has not been is unknown."""
    partition = make_partition(leader_epoch=3)

    assert partition.end_offset_for_epoch(3) == (3, 0)
    append(partition, 2)
    assert partition.end_offset_for_epoch(3) == (3, 2)
    assert partition.end_offset_for_epoch(4) == (-1, -1)


def test_read_committed_sees_up_to_the_open_transaction(make_partition: MakePartition) -> None:
    """The last stable offset is the end of what it may see."""
    partition = make_partition()
    append(partition)
    size = len(partition.read(0, 1000, committed_only=False, at_least_one_batch=True))
    partition.append(batch(attributes=0x10, producer_id=1, producer_epoch=0, base_sequence=0), now_ms=1)

    assert partition.visible_end(committed_only=False) == 2
    assert partition.visible_end(committed_only=True) == 1
    assert len(partition.read(0, 1000, committed_only=True, at_least_one_batch=True)) == size
    assert len(partition.read(1, 1000, committed_only=True, at_least_one_batch=True)) == 0


@pytest.mark.parametrize(
    ("wanted", "acks_all", "code"),
    [(1, True, None), (2, False, None), (2, True, ErrorCode.NOT_ENOUGH_REPLICAS)],
)
async def test_acks_all_promises_no_more_copies_than_there_are(
    make_partition: MakePartition, wanted: int, acks_all: bool, code: ErrorCode | None
) -> None:
    """min.insync.replicas above 1 is more than one node has; nothing is written then."""
    partition = make_partition(min_insync_replicas=wanted)

    if code is None:
        await append_from_client(partition, batch(), acks_all=acks_all)
    else:
        assert await code_of_append(partition, batch(), acks_all=acks_all) == code

    assert partition.log.log_end_offset == (0 if code else 1)


async def test_codec_of_the_topic_is_the_batches(make_partition: MakePartition) -> None:
    """compression.type: what is written is packed as the topic has it, and the rest is as it came."""
    partition = make_partition(compression_type="gzip")

    await append_from_client(partition, batch(3, size=500))

    written = RecordBatch(slice_of(partition).read())
    assert (written.codec, written.record_count) == (Codec.GZIP, 3)
    assert [record.value for record in decode_records(written)] == [b"v" * 500] * 3


async def test_refusal_of_a_batch_that_is_to_be_repacked_is_the_same(make_partition: MakePartition) -> None:
    partition = make_partition(compression_type="gzip")
    damaged = batch()
    damaged[-1] ^= 1

    assert await code_of_append(partition, damaged) == ErrorCode.CORRUPT_MESSAGE


async def test_topic_deleted_while_a_batch_is_repacked(
    make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = make_partition(compression_type="gzip")
    partition.mark_deleted()

    assert await code_of_append(partition, batch()) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def slice_of(partition: Partition, offset: int = 0) -> FileSlice:
    found = partition.read(offset, 1 << 20, committed_only=False, at_least_one_batch=True)
    assert isinstance(found, FileSlice)
    return found


def test_reader_at_the_end_opens_no_file(make_partition: MakePartition) -> None:
    """Consumers wait at the end of thousands of partitions, and each file open counts."""
    partition = make_partition()
    append(partition, 3)

    assert partition.read(3, 1 << 20, committed_only=False, at_least_one_batch=True) == b""


@pytest.mark.parametrize("offset", [-1, 4])
def test_offset_out_of_range(make_partition: MakePartition, offset: int) -> None:
    partition = make_partition()
    append(partition, 3)

    with pytest.raises(KafkaError) as refusal:
        partition.read(offset, 1 << 20, committed_only=False, at_least_one_batch=True)
    assert refusal.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


# --- the mode fsync


async def test_readers_see_only_what_is_flushed(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill
) -> None:
    """What a power cut can take away nobody may act on: not by a fetch, a list of offsets, or the LSO."""
    partition, waits = make_partition(flusher=flusher, durability="fsync"), trio.Event()
    partition.wait_with(waits)
    disk.hold()
    append(partition)
    await disk.has_begun(1)

    held = (
        partition.high_watermark,
        partition.last_stable_offset,
        partition.latest_offset(committed_only=False).offset,
        partition.read(0, 1 << 20, committed_only=False, at_least_one_batch=True),
        waits.is_set(),
    )
    disk.let_go()
    await waits.wait()

    assert held == (0, 0, 0, b"", False)
    assert (partition.high_watermark, partition.last_stable_offset) == (1, 1)
    assert len(slice_of(partition)) == len(batch())


@pytest.mark.parametrize(
    ("durability", "acks_all", "waits"),
    [("os", True, False), ("os", False, False), ("fsync", True, True), ("fsync", False, False)],
)
async def test_only_acks_all_in_the_mode_fsync_waits(
    make_partition: MakePartition, flusher: Flusher, durability: str, acks_all: bool, waits: bool
) -> None:
    partition = make_partition(flusher=flusher, durability=durability)
    append(partition)

    assert (partition.awaited_flush(1, acks_all=acks_all) is not None) is waits


async def test_written_with_acks_1_is_flushed_nevertheless(
    make_partition: MakePartition, flusher: Flusher
) -> None:
    """Nobody waits for it, but readers are to see it."""
    partition = make_partition(flusher=flusher, durability="fsync")
    append(partition)

    while partition.high_watermark < 1:
        await trio.lowlevel.checkpoint()

    assert partition.awaited_flush(1, acks_all=True) is None


async def test_retry_of_what_is_not_flushed_waits_as_well(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill
) -> None:
    """A duplicate is answered with where the first went, which has to last before that is said."""
    partition = make_partition(flusher=flusher, durability="fsync")
    sent = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    disk.hold()
    partition.append(batch(2, **sent), now_ms=1)

    again = partition.append(batch(2, **sent), now_ms=1)
    unflushed = partition.awaited_flush(again.last_offset + 1, acks_all=True)

    assert (again.duplicate, again.base_offset) == (True, 0)
    assert unflushed is not None
    disk.let_go()
    await unflushed.wait()
    assert partition.high_watermark == 2


@pytest.mark.parametrize("acks_all", [True, False])
async def test_append_that_makes_flush_messages_full_is_answered_after_the_flush(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill, acks_all: bool
) -> None:
    """As Kafka's UnifiedLog.append flushes in the request's thread, whatever the acks."""
    partition = make_partition(flusher=flusher, flush_messages=3)
    append(partition, 2)
    below = partition.awaited_flush(2, acks_all=acks_all)
    append(partition, 1)
    full = partition.awaited_flush(3, acks_all=acks_all)

    assert below is None
    assert full is not None
    assert partition.high_watermark == 3
    await full.wait()
    assert (partition.log.recovery_point, disk.flushed) == (3, [{"t-0"}])
    append(partition, 2)
    assert partition.awaited_flush(5, acks_all=acks_all) is None


async def test_settings_change_at_run_time(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill
) -> None:
    """Readers are never shown less than before; what was written is flushed as the new settings want it."""
    partition = make_partition(flusher=flusher)
    append(partition, 2)
    disk.hold()

    partition.reconfigure(LogConfig(durability="fsync"))
    shown = [partition.high_watermark]
    append(partition, 1)
    shown.append(partition.high_watermark)
    partition.reconfigure(LogConfig())
    shown.append(partition.high_watermark)
    partition.reconfigure(LogConfig(durability="fsync"))
    shown.append(partition.high_watermark)
    disk.let_go()
    while partition.log.recovery_point < 3:
        await trio.lowlevel.checkpoint()

    assert shown == [2, 2, 3, 3]


async def test_what_is_left_of_an_earlier_run_is_flushed(
    make_partition: MakePartition, flusher: Flusher, disk: FlushAtWill
) -> None:
    """A log that was opened with more than is known to last shows it when it does."""
    log = make_partition().log
    append(Partition(log, 0))

    partition = Partition(log, 0, flusher)
    partition.reconfigure(LogConfig(durability="fsync"))
    await disk.has_begun(1)
    opened_so = Partition(log, 0, flusher)

    assert opened_so.high_watermark in (0, 1)
    while opened_so.high_watermark < 1:
        await trio.lowlevel.checkpoint()
