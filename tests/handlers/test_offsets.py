"""ListOffsets and OffsetForLeaderEpoch over TCP, held against Kafka 4.4."""

from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.handlers.support import batch, new_topic, produce
from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from wirekafka.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from wirekafka.protocol.apis.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.records import Codec, Record, RecordBatch, build_batch
from wirekafka.testing import RunningBroker

NEWEST = 11
every_form = pytest.mark.parametrize("version", range(1, NEWEST + 1))
START_MS = 1_700_000_000_000
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = range(-1, -7, -1)


@pytest.fixture(scope="module")
def topic(broker: RunningBroker) -> str:
    """Three partitions; the first has batches of two records, out of order in time. Nothing changes it.

    The times are of years ago, so retention has to be off.
    """
    with RawClient(broker.bootstrap) as raw:
        made = new_topic(raw, partitions=3, retention_ms="-1")
        for after_ms in (1000, 3000, 2000, 3000):
            produce(raw, made, batch(2, timestamp_ms=START_MS + after_ms))
    return made[0]


def ask(raw: RawClient, version: int, topic: str, *partitions: ListOffsetsPartition, **more: int) -> Any:
    asked = [ListOffsetsTopic(name=topic, partitions=list(partitions))]
    return raw.ask(ListOffsetsRequest(replica_id=-1, topics=asked, **more), version).topics


def listed(
    raw: RawClient, version: int, topic: str, timestamp: int, partition: int = 0, **more: int
) -> tuple[int, int, int, int]:
    """Error code, offset, timestamp and leader epoch of one partition."""
    epoch = {"current_leader_epoch": more.pop("epoch")} if "epoch" in more else {}
    asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp, **epoch)
    [[found]] = [one.partitions for one in ask(raw, version, topic, asked, **more)]
    return found.error_code, found.offset, found.timestamp, found.leader_epoch


def found(version: int, offset: int, timestamp: int = -1) -> tuple[int, int, int, int]:
    """An offset in leader epoch 0, which is told from v4 on."""
    return 0, offset, timestamp, 0 if version >= 4 else -1


NOT_FOUND = (0, -1, -1, -1)


@every_form
def test_ends_of_the_log(raw: RawClient, topic: str, version: int) -> None:
    assert listed(raw, version, topic, LATEST) == found(version, 8)
    assert listed(raw, version, topic, EARLIEST) == found(version, 0)


@every_form
def test_ends_of_an_empty_log_are_in_the_leaders_epoch(raw: RawClient, topic: str, version: int) -> None:
    for timestamp in (LATEST, EARLIEST):
        assert listed(raw, version, topic, timestamp, 1) == found(version, 0)


@every_form
@pytest.mark.parametrize(
    ("after_ms", "offset", "found_after_ms"),
    [(0, 0, 1000), (1000, 0, 1000), (1001, 1, 1001), (1002, 2, 3000), (2500, 2, 3000), (3001, 3, 3001)],
)
def test_first_record_at_or_after_a_time(
    raw: RawClient, topic: str, version: int, after_ms: int, offset: int, found_after_ms: int
) -> None:
    """KIP-79: the record's offset and time, not its batch's."""
    answer = listed(raw, version, topic, START_MS + after_ms)

    assert answer == found(version, offset, START_MS + found_after_ms)


@every_form
def test_time_after_every_record_finds_none(raw: RawClient, topic: str, version: int) -> None:
    assert listed(raw, version, topic, START_MS + 3002) == NOT_FOUND
    assert listed(raw, version, topic, START_MS, 1) == NOT_FOUND


@every_form
@pytest.mark.parametrize(
    ("timestamp", "since", "offset", "time_ms"),
    [
        (MAX_TIMESTAMP, 7, 3, START_MS + 3001),
        (EARLIEST_LOCAL, 8, 0, -1),
        (LATEST_TIERED, 9, None, None),
        (EARLIEST_PENDING_UPLOAD, 11, None, None),
        (-7, 99, None, None),
        (-100, 99, None, None),
    ],
)
def test_special_timestamps_have_their_versions(
    raw: RawClient, topic: str, version: int, timestamp: int, since: int, offset: int | None, time_ms: int
) -> None:
    """Before, and where there is no such timestamp, UNSUPPORTED_VERSION; nothing is tiered here."""
    answer = listed(raw, version, topic, timestamp)
    of_unknown_topic = listed(raw, version, "nowhere", timestamp)[0]

    if version < since:
        assert answer == (ErrorCode.UNSUPPORTED_VERSION, -1, -1, -1)
        assert of_unknown_topic == ErrorCode.UNSUPPORTED_VERSION
    else:
        assert answer == (NOT_FOUND if offset is None else found(version, offset, time_ms))
        assert of_unknown_topic == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@every_form
@pytest.mark.parametrize(("name", "partition"), [(None, 9), (None, -1), ("nowhere", 0), ("a b", 0), ("", 0)])
def test_unknown_partition(
    raw: RawClient, topic: str, version: int, name: str | None, partition: int
) -> None:
    answer = listed(raw, version, topic if name is None else name, LATEST, partition)

    assert answer == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1)


@pytest.mark.parametrize("version", [4, 7, 11])
@pytest.mark.parametrize(
    ("epoch", "code"),
    [(-1, 0), (0, 0), (1, ErrorCode.UNKNOWN_LEADER_EPOCH), (-2, ErrorCode.FENCED_LEADER_EPOCH)],
)
def test_leader_epochs_since_v4(raw: RawClient, topic: str, version: int, epoch: int, code: int) -> None:
    """KIP-320; -1 alone means any epoch."""
    for timestamp in (LATEST, START_MS):
        assert listed(raw, version, topic, timestamp, epoch=epoch)[0] == code


@pytest.mark.parametrize("version", [2, 7, 11])
def test_read_committed_sees_the_same_without_transactions(raw: RawClient, topic: str, version: int) -> None:
    assert listed(raw, version, topic, LATEST, isolation_level=1) == found(version, 8)


@every_form
def test_partition_asked_twice_is_refused_once(raw: RawClient, topic: str, version: int) -> None:
    """The others are answered."""
    twice = [ListOffsetsPartition(partition_index=index, timestamp=LATEST) for index in (0, 0, 1)]

    [answered] = ask(raw, version, topic, *twice)

    codes = {one.partition_index: one.error_code for one in answered.partitions}
    assert (codes, len(answered.partitions)) == ({0: ErrorCode.INVALID_REQUEST, 1: 0}, 2)


@every_form
def test_topic_without_partitions_is_not_answered(raw: RawClient, topic: str, version: int) -> None:
    assert ask(raw, version, topic) == []


epoch_forms = pytest.mark.parametrize("version", [2, 3, 4])


def end_of(
    raw: RawClient, version: int, topic: str, epoch: int, partition: int = 0, current: int = -1
) -> tuple[int, int, int]:
    """Error code, epoch and end offset."""
    asked = OffsetForLeaderPartition(partition=partition, current_leader_epoch=current, leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])])
    [[answered]] = [one.partitions for one in raw.ask(request, version).topics]
    assert answered.partition == partition
    return answered.error_code, answered.leader_epoch, answered.end_offset


@epoch_forms
@pytest.mark.parametrize(
    ("epoch", "partition", "answer"),
    [(0, 0, (0, 0, 8)), (1, 0, (0, -1, -1)), (-1, 0, (0, -1, -1)), (0, 1, (0, 0, 0)), (0, 9, (3, -1, -1))],
    ids=["written", "later", "none", "empty partition", "unknown partition"],
)
def test_end_of_an_epoch(
    raw: RawClient, topic: str, version: int, epoch: int, partition: int, answer: tuple[int, int, int]
) -> None:
    """KIP-101; the leader's epoch has an end also where nothing is written."""
    assert end_of(raw, version, topic, epoch, partition) == answer


@epoch_forms
@pytest.mark.parametrize(("current", "code"), [(0, 0), (-1, 0), (5, ErrorCode.UNKNOWN_LEADER_EPOCH)])
def test_end_of_an_epoch_checks_the_current_one(
    raw: RawClient, topic: str, version: int, current: int, code: int
) -> None:
    assert end_of(raw, version, topic, 0, current=current)[0] == code


@epoch_forms
def test_end_of_an_epoch_of_an_unknown_topic(raw: RawClient, version: int) -> None:
    assert end_of(raw, version, "nowhere", 0) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)


@pytest.mark.parametrize("version", [7, 11])
def test_largest_timestamp_of_records_without_any(raw: RawClient, version: int) -> None:
    """It is -1, of the first record; only an empty partition has none."""
    made = new_topic(raw, partitions=2, retention_ms="-1")
    produce(raw, made, batch(1, timestamp_ms=-1))

    assert listed(raw, version, made[0], MAX_TIMESTAMP) == (0, 0, -1, 0)
    assert listed(raw, version, made[0], MAX_TIMESTAMP, 1) == NOT_FOUND


CODECS = pytest.mark.parametrize("codec", list(Codec))


@CODECS
def test_records_are_found_inside_compressed_batches(raw: RawClient, codec: Codec) -> None:
    """The record's own offset and time, though the batch's header has neither."""
    made = new_topic(raw, retention_ms="-1")
    for times in ([1, 4, 2], [0, 9, 9]):
        records = [Record(b"k", b"v", START_MS + after_ms) for after_ms in times]
        produce(raw, made, bytes(build_batch(records, codec=codec)))

    assert listed(raw, NEWEST, made[0], START_MS + 2) == found(NEWEST, 1, START_MS + 4)
    assert listed(raw, NEWEST, made[0], START_MS + 5) == found(NEWEST, 4, START_MS + 9)
    assert listed(raw, NEWEST, made[0], MAX_TIMESTAMP) == found(NEWEST, 4, START_MS + 9)


@CODECS
def test_nothing_is_found_before_the_start_of_the_log(raw: RawClient, codec: Codec) -> None:
    """DeleteRecords may leave a batch of which only the end is still there."""
    made = new_topic(raw, retention_ms="-1")
    records = [Record(b"k", b"v", START_MS + after_ms) for after_ms in (5, 9, 1, 5)]
    produce(raw, made, bytes(build_batch(records, codec=codec)))
    start = DeleteRecordsPartition(partition_index=0, offset=2)
    topics = [DeleteRecordsTopic(name=made[0], partitions=[start])]
    raw.ask(DeleteRecordsRequest(topics=topics, timeout_ms=1000), 2)

    assert listed(raw, NEWEST, made[0], EARLIEST) == found(NEWEST, 2)
    assert listed(raw, NEWEST, made[0], START_MS) == found(NEWEST, 2, START_MS + 1)
    assert listed(raw, NEWEST, made[0], START_MS + 2) == found(NEWEST, 3, START_MS + 5)
    assert listed(raw, NEWEST, made[0], START_MS + 6) == NOT_FOUND


def test_log_append_time_is_the_time_that_is_searched(raw: RawClient) -> None:
    """All records of a batch have it, whatever their producer said."""
    made = new_topic(raw, message_timestamp_type="LogAppendTime")
    produce(raw, made, batch(3, timestamp_ms=5))
    produce(raw, made, batch(3, timestamp_ms=5))
    code, offset, timestamp, _ = listed(raw, NEWEST, made[0], START_MS)

    assert (code, offset) == (0, 0)
    assert listed(raw, NEWEST, made[0], timestamp + 60_000) == NOT_FOUND


def test_a_batch_that_cannot_be_unpacked_is_an_error_of_its_partition(raw: RawClient) -> None:
    """The others of the request are answered."""
    made = new_topic(raw, partitions=2, retention_ms="-1")
    spoilt = build_batch([Record(b"k", b"v", START_MS)])
    spoilt[22] |= Codec.LZ4
    view = RecordBatch(spoilt)
    view.set_timestamp_type(log_append_time=False, max_timestamp=view.max_timestamp)
    produce(raw, made, bytes(spoilt))
    produce(raw, made, batch(1, timestamp_ms=START_MS), partition=1)
    wanted = [ListOffsetsPartition(partition_index=index, timestamp=START_MS) for index in (0, 1)]
    [answered] = ask(raw, NEWEST, made[0], *wanted)

    codes = {one.partition_index: one.error_code for one in answered.partitions}
    assert codes == {0: ErrorCode.CORRUPT_MESSAGE, 1: 0}


def test_a_stock_client_finds_offsets_by_time(broker: RunningBroker, topic: str) -> None:
    """Consumer.offsets_for_times of confluent-kafka: -1 is the log's end."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "by-time"})
    times = (START_MS + 1001, START_MS + 1002, START_MS + 3002)
    told = [consumer.offsets_for_times([TopicPartition(topic, 0, time)], 10)[0] for time in times]
    consumer.close()

    assert [(one.offset, one.error) for one in told] == [(1, None), (2, None), (-1, None)]
