"""Produce, held against Kafka 4.4: every code below is what it answers, unless said otherwise."""

from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.handlers.one_topic import NOW_MS, TOPIC_ID, Topic, a_topic, joined
from tests.handlers.support import NO_ID, UNKNOWN_ID, batch, make_coordinator, new_topic, now_ms, produce
from tests.support.disk import SlowDisk
from tests.support.raw_client import RawClient, request_frame
from wirekafka.handlers import NOT_AT_ONCE, CloseConnection, RequestContext
from wirekafka.handlers.produce import produce as PRODUCE_HANDLER
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.protocol.apis.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from wirekafka.protocol.connection import Built, ReceivedRequest, response_parts
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Codec
from wirekafka.testing import RunningBroker, running_broker

VERSIONS = [3, 8, 13]
every_form = pytest.mark.parametrize("version", VERSIONS)


def with_byte(records: bytes, position: int, value: int) -> bytes:
    changed = bytearray(records)
    changed[position] = value
    return bytes(changed)


@every_form
def test_good_batches_are_numbered(raw: RawClient, version: int) -> None:
    topic = new_topic(raw)

    first = produce(raw, topic, batch(2), version=version)
    second = produce(raw, topic, batch(1), version=version, acks=1)

    assert [(r.error_code, r.base_offset, r.log_append_time_ms) for r in (first, second)] == [
        (0, 0, -1),
        (0, 2, -1),
    ]
    assert (first.record_errors, first.error_message) == ([], None)
    assert first.log_start_offset == (-1 if version < 5 else 0)


@every_form
@pytest.mark.parametrize("partition", [1, -1])
def test_unknown_partition(raw: RawClient, version: int, partition: int) -> None:
    refused = produce(raw, new_topic(raw), batch(), version=version, partition=partition)

    assert (refused.error_code, refused.base_offset) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert (refused.error_message is None) is (version < 8)


@pytest.mark.parametrize("version", [3, 12])
@pytest.mark.parametrize("name", ["nowhere", "", "a b/c"])
def test_unknown_name(raw: RawClient, version: int, name: str) -> None:
    refused = produce(raw, (name, NO_ID), batch(), version=version)

    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("topic_id", [UNKNOWN_ID, NO_ID])
def test_unknown_id(raw: RawClient, topic_id: bytes) -> None:
    """From v13 on, per partition."""
    refused = produce(raw, ("", topic_id), batch(), version=13)

    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@every_form
@pytest.mark.parametrize("acks", [2, -2])
def test_acks_without_a_meaning(raw: RawClient, version: int, acks: int) -> None:
    topic = new_topic(raw)

    assert (
        produce(raw, topic, batch(), version=version, acks=acks).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    )
    assert produce(raw, topic, batch()).base_offset == 0


def test_unknown_partition_comes_before_wrong_acks(raw: RawClient) -> None:
    refused = produce(raw, new_topic(raw), batch(), partition=7, acks=2)

    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


MAGIC = 16
REFUSED = {
    "empty": (b"", ErrorCode.INVALID_RECORD),
    "less than a header": (b"\0" * 10, ErrorCode.INVALID_RECORD),
    "cut": (batch()[:-3], ErrorCode.INVALID_RECORD),
    "two batches": (batch() + batch(), ErrorCode.INVALID_RECORD),
    "magic 0": (with_byte(batch(), MAGIC, 0), ErrorCode.INVALID_RECORD),
    "magic 1": (with_byte(batch(), MAGIC, 1), ErrorCode.INVALID_RECORD),
    "magic 3": (with_byte(batch(), MAGIC, 3), ErrorCode.CORRUPT_MESSAGE),
    "wrong CRC": (with_byte(batch(), -1, 0xFF), ErrorCode.CORRUPT_MESSAGE),
    "control batch": (batch(attributes=0x20), ErrorCode.INVALID_RECORD),
    "no records": (batch(0), ErrorCode.INVALID_RECORD),
    "base offset": (batch(base_offset=5), ErrorCode.INVALID_RECORD),
    "no sequence": (batch(producer_id=6, producer_epoch=0), ErrorCode.INVALID_RECORD),
    "too large": (batch(value=b"x" * 1_100_000), ErrorCode.MESSAGE_TOO_LARGE),
    "codec 5": (batch(attributes=5), ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
}


@every_form
@pytest.mark.parametrize(("records", "code"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_batch_of_a_producer_is_refused(
    raw: RawClient, version: int, records: bytes, code: ErrorCode
) -> None:
    """A codec that does not exist is UNKNOWN_SERVER_ERROR in Kafka; ours says what is wrong."""
    topic = new_topic(raw)

    refused = produce(raw, topic, records, version=version)

    assert (refused.error_code, refused.base_offset) == (code, -1)
    assert bool(refused.error_message) is (version >= 8)
    assert produce(raw, topic, batch()).base_offset == 0


@every_form
def test_null_records_are_refused(raw: RawClient, version: int) -> None:
    """Kafka never answers these."""
    assert produce(raw, new_topic(raw), None, version=version).error_code == ErrorCode.INVALID_RECORD


@every_form
@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_compressed_batches_are_stored_as_they_are(raw: RawClient, version: int, codec: Codec) -> None:
    assert produce(raw, new_topic(raw), batch(3, codec=codec), version=version).error_code == 0


@pytest.mark.parametrize(("version", "code"), [(3, 76), (6, 76), (7, 0), (13, 0)])
def test_zstd_since_v7(raw: RawClient, version: int, code: int) -> None:
    """KIP-110: UNSUPPORTED_COMPRESSION_TYPE before."""
    assert produce(raw, new_topic(raw), batch(3, codec=Codec.ZSTD), version=version).error_code == code


def test_bytes_behind_the_batch_are_passed_over(raw: RawClient) -> None:
    topic = new_topic(raw)

    assert [produce(raw, topic, batch(2) + b"abc").base_offset for _ in range(2)] == [0, 2]


@every_form
def test_timestamps_far_in_the_future_are_refused(raw: RawClient, version: int) -> None:
    """More than an hour, by message.timestamp.after.max.ms; each record at fault is named."""
    refused = produce(raw, new_topic(raw), batch(3, timestamp_ms=now_ms() + 2 * 3_600_000), version=version)

    assert refused.error_code == ErrorCode.INVALID_TIMESTAMP
    assert [fault.batch_index for fault in refused.record_errors] == ([] if version < 8 else [0, 1, 2])
    assert all(fault.batch_index_error_message for fault in refused.record_errors)


@every_form
@pytest.mark.parametrize("timestamp_ms", [-1, 1])
def test_old_timestamps_and_none_are_fine(raw: RawClient, version: int, timestamp_ms: int) -> None:
    assert produce(raw, new_topic(raw), batch(timestamp_ms=timestamp_ms), version=version).error_code == 0


@every_form
def test_log_append_time_is_told(raw: RawClient, version: int) -> None:
    topic = new_topic(raw, message_timestamp_type="LogAppendTime")
    before_ms = now_ms()

    stamped = produce(raw, topic, batch(timestamp_ms=5), version=version)
    claimed = produce(raw, topic, batch(attributes=0x08), version=version)

    assert before_ms <= stamped.log_append_time_ms <= now_ms()
    assert claimed.error_code == ErrorCode.INVALID_TIMESTAMP


def idempotent(sequence: int, count: int = 1, *, epoch: int = 0) -> bytes:
    return batch(count, producer_id=4711, producer_epoch=epoch, base_sequence=sequence)


@every_form
def test_repeated_batch_is_answered_as_the_first_time(raw: RawClient, version: int) -> None:
    """KIP-98: with its offset, and the time of the batch that was kept; any of the last five."""
    topic = new_topic(raw)
    records = [idempotent(sequence) for sequence in range(5)]
    for one in records:
        produce(raw, topic, one, version=version)

    again = [produce(raw, topic, one, version=version) for one in records]

    assert [(r.error_code, r.base_offset) for r in again] == [(0, n) for n in range(5)]
    assert all(now_ms() - 60_000 < r.log_append_time_ms <= now_ms() for r in again)


@every_form
@pytest.mark.parametrize(
    ("records", "code"),
    [
        (idempotent(9, epoch=2), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (idempotent(0, 1, epoch=2), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (idempotent(5, epoch=3), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (idempotent(4, epoch=1), ErrorCode.INVALID_PRODUCER_EPOCH),
        (idempotent(0, epoch=3), 0),
        (idempotent(3, epoch=2), 0),
    ],
    ids=["gap", "part of a batch", "new epoch not at 0", "old epoch", "new epoch", "next"],
)
def test_sequence_numbers(raw: RawClient, version: int, records: bytes, code: int) -> None:
    topic = new_topic(raw)
    produce(raw, topic, idempotent(0, 3, epoch=2), version=version)

    assert produce(raw, topic, records, version=version).error_code == code


def test_unknown_producer_may_begin_anywhere(raw: RawClient) -> None:
    """Its earlier batches may have been deleted."""
    topic = new_topic(raw)

    assert produce(raw, topic, idempotent(7)).error_code == 0
    assert produce(raw, topic, idempotent(8)).error_code == 0


def transactional() -> bytes:
    return batch(attributes=0x10, producer_id=5, producer_epoch=0, base_sequence=0)


@every_form
def test_transactional_batch_needs_a_transactional_id(raw: RawClient, version: int) -> None:
    """The whole request is refused."""
    for records in (transactional(), batch(attributes=0x10)):
        refused = produce(raw, new_topic(raw), records, version=version)
        assert refused.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@every_form
@pytest.mark.parametrize(("transactional_id", "code"), [("tx", 49), ("", 42)])
def test_batch_of_a_transactional_id_that_no_coordinator_knows(
    raw: RawClient, version: int, transactional_id: str, code: int
) -> None:
    """INVALID_PRODUCER_ID_MAPPING, as Kafka's coordinator says of an id it has no entry for."""
    topic = new_topic(raw)

    refused = produce(raw, topic, transactional(), version=version, transactional_id=transactional_id)

    assert refused.error_code == code
    assert produce(raw, topic, batch()).base_offset == 0


@every_form
def test_transactional_id_without_a_transactional_batch_is_fine(raw: RawClient, version: int) -> None:
    assert produce(raw, new_topic(raw), batch(), version=version, transactional_id="tx").error_code == 0


@every_form
def test_internal_topics_are_the_brokers_own(raw: RawClient, version: int) -> None:
    """Kafka's admin client alone may write them, by its client id."""
    make_coordinator(raw)
    topics = raw.ask(MetadataRequest(topics=None), 12).topics
    topic = next((t.name, t.topic_id) for t in topics if t.name == "__consumer_offsets")

    refused = produce(raw, topic, batch(), version=version)

    assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


@every_form
def test_each_partition_has_its_own_answer(raw: RawClient, version: int) -> None:
    """A topic without partitions has none."""
    name, topic_id = new_topic(raw, partitions=2)
    empty = TopicProduceData(name="other", topic_id=UNKNOWN_ID, partition_data=[])
    data = [PartitionProduceData(index=i, records=memoryview(batch())) for i in (0, 7, 1)]
    mixed = TopicProduceData(name=name, topic_id=topic_id, partition_data=data)

    answer = raw.ask(ProduceRequest(acks=-1, timeout_ms=1, topic_data=[empty, mixed]), version)

    [topic] = answer.responses
    assert [(p.index, p.error_code) for p in topic.partition_responses] == [(0, 0), (7, 3), (1, 0)]


@every_form
def test_no_topics(raw: RawClient, version: int) -> None:
    assert raw.ask(ProduceRequest(acks=-1, timeout_ms=1, topic_data=[]), version).responses == []


def silent(topic: tuple[str, bytes], records: bytes, version: int) -> bytes:
    data = [PartitionProduceData(index=0, records=memoryview(records))]
    topic_data = [TopicProduceData(name=topic[0], topic_id=topic[1], partition_data=data)]
    return request_frame(ProduceRequest(acks=0, timeout_ms=1, topic_data=topic_data), version)


@every_form
def test_acks_0_gets_no_answer(raw: RawClient, version: int) -> None:
    """The next answer on the connection is the next request's."""
    topic = new_topic(raw)

    raw.send(silent(topic, batch(2), version))

    assert produce(raw, topic, batch()).base_offset == 2


@every_form
@pytest.mark.parametrize("records", [batch()[:-3], transactional()], ids=["cut", "transactional"])
def test_acks_0_closes_on_an_error(
    broker: RunningBroker, raw: RawClient, version: int, records: bytes
) -> None:
    """It is all that can tell of it."""
    topic = new_topic(raw)
    with RawClient(broker.bootstrap) as other:
        other.send(silent(topic, records, version))

        assert other.hung_up()


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (batch(attributes=0x20), ErrorCode.INVALID_RECORD),
        (idempotent(9), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
    ],
    ids=["control", "gap"],
)
def test_fault_of_the_records_is_told_with_the_start_offset(
    raw: RawClient, records: bytes, code: ErrorCode
) -> None:
    """The partition was found, and where it starts is known."""
    topic = new_topic(raw)
    produce(raw, topic, idempotent(0))
    refused = produce(raw, topic, records)

    assert (refused.error_code, refused.log_start_offset) == (code, 0)
    assert produce(raw, topic, b"").log_start_offset == -1


def test_negative_producer_id_is_no_producer(raw: RawClient) -> None:
    """-1 says that there is none; Kafka takes any negative one for that."""
    topic = new_topic(raw)
    records = batch(producer_id=-2, producer_epoch=0, base_sequence=0)

    assert [produce(raw, topic, records).base_offset for _ in range(2)] == [0, 1]


def test_duplicate_is_found_without_an_epoch_too(raw: RawClient) -> None:
    topic = new_topic(raw)
    records = batch(1, producer_id=6000, producer_epoch=-1, base_sequence=0)

    assert [produce(raw, topic, records).base_offset for _ in range(2)] == [0, 0]


# --- durability


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    return SlowDisk(monkeypatch)


def test_answer_waits_for_the_disk_when_the_topic_has_it_so(raw: RawClient, disk: SlowDisk) -> None:
    """Every partition's batch is one flush's; acks=1 waits for none."""
    topic = new_topic(raw, wirekafka_durability="fsync")

    syncs = disk.syncs
    first = produce(raw, topic, batch(2))
    synced = disk.syncs - syncs
    second = produce(raw, topic, batch(1), acks=1)

    assert (first.error_code, first.base_offset, second.error_code, second.base_offset) == (0, 0, 0, 2)
    assert synced > 0


def test_retry_is_answered_with_the_first_offset_when_that_lasts(raw: RawClient, disk: SlowDisk) -> None:
    """An idempotent producer asks again when its answer was lost: the same, and no earlier."""
    topic = new_topic(raw, wirekafka_durability="fsync")

    assert [produce(raw, topic, idempotent(0)).base_offset for _ in range(2)] == [0, 0]


def test_flush_that_takes_longer_than_the_producer_waits(raw: RawClient, disk: SlowDisk) -> None:
    """REQUEST_TIMED_OUT: nobody knows yet whether the record lasts."""
    topic = new_topic(raw, wirekafka_durability="fsync")

    with disk.held():
        refused = produce(raw, topic, batch())

    assert (refused.error_code, refused.base_offset) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    assert (refused.log_append_time_ms, refused.log_start_offset) == (-1, -1)


def test_failed_sync_is_a_storage_error_for_good(disk: SlowDisk) -> None:
    """Whatever the disk says later: only a restart finds out what it has."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        topic, other = new_topic(raw, wirekafka_durability="fsync"), new_topic(raw)
        disk.broken = True
        first = produce(raw, topic, batch())
        disk.broken = False
        later = [produce(raw, each, batch(), acks=acks) for each in (topic, other) for acks in (-1, 1)]

    assert (first.error_code, first.base_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
    assert [each.error_code for each in later] == [ErrorCode.KAFKA_STORAGE_ERROR] * 4


@every_form
@pytest.mark.parametrize(
    ("acks", "code"), [(-1, ErrorCode.NOT_ENOUGH_REPLICAS), (1, ErrorCode.NONE)], ids=["all", "1"]
)
def test_more_replicas_in_sync_than_there_are(
    raw: RawClient, version: int, acks: int, code: ErrorCode
) -> None:
    """Told before anything is written, whatever the batch."""
    topic = new_topic(raw, min_insync_replicas="2")

    told = produce(raw, topic, batch(), version=version, acks=acks)

    assert (told.error_code, told.base_offset) == (code, -1 if code else 0)


def test_codec_of_the_topic_replaces_the_producers(raw: RawClient) -> None:
    """compression.type other than `producer`; the order of a connection's requests is kept."""
    topic = new_topic(raw, compression_type="gzip")

    offsets = [produce(raw, topic, batch(3, value=b"v" * 300)).base_offset for _ in range(3)]

    assert offsets == [0, 3, 6]


# --- at once


SENT = st.lists(
    st.tuples(st.sampled_from([0, 0, 1, 2]), st.sampled_from(["good"] * 9 + ["packed"] * 3 + [*REFUSED])),
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([3, 7, 9, 12, 13]),
    st.sampled_from([1, -1, 2]),
    st.lists(SENT, min_size=1, max_size=4),
    st.sampled_from([0, 0, 0, 2, 3, 5]),
)
def test_what_is_appended_at_once_is_what_is_appended_by_and_by(
    version: int, acks: int, requests: list[list[tuple[int, str]]], failing_write: int
) -> None:
    """The same answers and the same bytes, whatever is refused between."""
    with a_topic(max_message_bytes=1000) as fast, a_topic(max_message_bytes=1000) as slow:
        fast.files.fails_at = slow.files.fails_at = failing_write
        for sent in requests:
            answers = [
                frame_of(topic, several(sent, acks), version, at_once=topic is fast) for topic in (fast, slow)
            ]

            assert answers[0] == answers[1]
        assert fast.stored() == slow.stored()


def frame_of(topic: Topic, request: ProduceRequest, version: int, *, at_once: bool) -> bytes:
    """The answer as it is sent."""
    try:
        response = response_of(topic, request, version, at_once=at_once)
    except KafkaError as error:
        response = PRODUCE_HANDLER.refusal(request, error)
    return joined(response_parts(ReceivedRequest(PRODUCE, version, 5, "test", request), response))


def numbered(producer_id: int, sequence: int) -> memoryview:
    records = batch(1, timestamp_ms=NOW_MS, producer_id=producer_id, producer_epoch=0, base_sequence=sequence)
    return memoryview(bytearray(records))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 1), st.sampled_from([-1, 5, 6]), st.integers(0, 3)),
            min_size=1,
            max_size=5,
        ),
        max_size=8,
    )
)
def test_sequences_are_looked_at_at_once_as_by_and_by(requests: list[list[tuple[int, int, int]]]) -> None:
    """What comes next, comes again or comes too early, for several partitions and producers."""
    with a_topic() as fast, a_topic() as slow:
        for sent in requests:
            answers = []
            for topic in (fast, slow):
                data = [
                    PartitionProduceData(index=index, records=numbered(producer_id, sequence))
                    for index, producer_id, sequence in sent
                ]
                topics = [TopicProduceData(name="t", topic_id=TOPIC_ID, partition_data=data)]
                request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)
                answers.append(frame_of(topic, request, 13, at_once=topic is fast))

            assert answers[0] == answers[1]
        assert fast.stored() == slow.stored()
        remembered = [
            [
                {who: list(producer.batches) for who, producer in partition.log.producers.producers.items()}
                for partition in topic.partitions
            ]
            for topic in (fast, slow)
        ]
        assert remembered[0] == remembered[1]


@pytest.mark.parametrize("version", [9, 13])
def test_good_batches_for_several_partitions_need_no_messages(version: int) -> None:
    """Their answer is bytes already; one that is not plain has all of them made."""
    with a_topic() as topic:
        first, good, mixed = (
            response_of(topic, several([(0, name), (1, "good"), (0, "good")], -1), version, at_once=True)
            for name in ("good", "good", "packed")
        )
        refused = response_of(topic, several([(0, "good"), (1, "too large")], -1), version, at_once=True)

        assert [isinstance(answer, Built) for answer in (first, good, mixed, refused)] == [
            False,  # a segment's first batch is never plain
            True,
            True,
            False,
        ]


@pytest.mark.parametrize(("name", "is_closed"), [("good", False), ("too large", True)])
def test_what_is_not_answered_is_written_at_once_too(name: str, is_closed: bool) -> None:
    """acks=0; a refusal closes the connection, and what was good is there all the same."""
    with a_topic() as topic:
        response_of(topic, several([(0, "good"), (1, "good")], 1), 13, at_once=True)
        closed = False
        try:
            answer = response_of(topic, several([(0, "good"), (1, name)], 0), 13, at_once=True)
        except CloseConnection:
            closed = True
        else:
            assert answer is None

        assert closed is is_closed
        assert topic.partitions[0].log.log_end_offset == 4


def several(sent: list[tuple[int, str]], acks: int) -> ProduceRequest:
    """A request for several partitions, some of which may not be there."""
    good = {
        "good": batch(2, timestamp_ms=NOW_MS),
        "packed": batch(2, timestamp_ms=NOW_MS, codec=Codec.ZSTD),
        "too large": batch(1, value=b"v" * 2000, timestamp_ms=NOW_MS),
        **{name: records for name, (records, _) in REFUSED.items()},
    }
    data = [
        PartitionProduceData(index=index, records=memoryview(bytearray(good[name]))) for index, name in sent
    ]
    topic = TopicProduceData(name="t", topic_id=TOPIC_ID, partition_data=data)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])


def response_of(topic: Topic, request: ProduceRequest, version: int, *, at_once: bool) -> Any:
    context = RequestContext(topic.client, version, "test")
    if at_once:
        assert PRODUCE_HANDLER.at_once is not None
        return PRODUCE_HANDLER.at_once(request, context)

    async def by_and_by() -> Any:
        return await PRODUCE_HANDLER.function(request, context)

    return trio.run(by_and_by)


@pytest.mark.parametrize("config", [{"compression_type": "gzip"}, {"cleanup_policy": ("compact",)}])
def test_what_is_prepared_is_not_appended_at_once(config: dict[str, Any]) -> None:
    """That is done in a thread; of a partition that is not there nothing is prepared."""
    with a_topic(**config) as topic:
        prepared, unknown = (
            response_of(topic, several([(index, "good")], 1), 9, at_once=True) for index in (0, 2)
        )

        assert (prepared is NOT_AT_ONCE, unknown is NOT_AT_ONCE) == (True, False)
        assert topic.stored()[0] == b""
