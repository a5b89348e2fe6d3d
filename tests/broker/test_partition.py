"""partition: what a leader without followers lets be written, seen and waited for."""

import pytest
import trio

from tests.broker.conftest import MakePartition
from tests.broker.support import append, batch
from wirekafka.broker.partition import ListedOffset, Partition, is_transactional
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, NotOneBatch
from wirekafka.protocol.records import Codec, Record, build_batch


def append_from_client(partition: Partition, records: bytes | bytearray | None, **facts: bool) -> int:
    """Append as a producer that knows everything, unless said otherwise."""
    known = {"zstd_allowed": True, **facts}
    view = None if records is None else memoryview(bytearray(records))
    return partition.append_from_client(view, now_ms=1, **known).base_offset


def code_of_append(partition: Partition, records: bytes | bytearray | None, **facts: bool) -> ErrorCode:
    with pytest.raises(KafkaError) as refusal:
        append_from_client(partition, records, **facts)
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


def test_refused_append_rings_nobody(make_partition: MakePartition) -> None:
    partition, waits = make_partition(), trio.Event()
    partition.wait_with(waits)
    damaged = batch()
    damaged[-1] ^= 1

    assert code_of_append(partition, damaged) == ErrorCode.CORRUPT_MESSAGE
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
def test_no_records_are_invalid(make_partition: MakePartition, records: bytes | None) -> None:
    with pytest.raises(NotOneBatch) as refusal:
        append_from_client(make_partition(), records)
    assert refusal.value.code == ErrorCode.INVALID_RECORD


def test_zstd_is_for_those_who_know_it(make_partition: MakePartition) -> None:
    """KIP-110: an older client would write what no client of its age could read."""
    partition = make_partition()
    packed = build_batch([Record(value=b"v" * 100)], timestamp_ms=1, codec=Codec.ZSTD)

    assert code_of_append(partition, packed, zstd_allowed=False) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert append_from_client(partition, packed) == 0


def test_transactional_batch_has_a_producer_that_no_coordinator_knows(make_partition: MakePartition) -> None:
    """Nothing may be written that no coordinator would ever commit or abort."""
    partition = make_partition()
    records = batch(attributes=0x10, producer_id=1, producer_epoch=0, base_sequence=0)

    assert code_of_append(partition, records) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
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


def test_offsets_by_timestamp(make_partition: MakePartition) -> None:
    partition = make_partition()
    for time_ms in (10, 30, 20):
        partition.append(build_batch([Record(value=b"v", timestamp_ms=time_ms)]), now_ms=1)

    assert partition.offset_for_timestamp(11, committed_only=False) == ListedOffset(30, 1, 0)
    assert partition.offset_for_timestamp(31, committed_only=False) == ListedOffset()
    assert partition.offset_of_max_timestamp(committed_only=False) == ListedOffset(30, 1, 0)
    assert make_partition("empty").offset_of_max_timestamp(committed_only=False) == ListedOffset()


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
