"""Stories of producing: what is sent is kept as it was sent, or refused with the right error.

Source: Apache Kafka 4.4; KIP-98 (idempotence), KIP-110 (zstd), KIP-82 (headers).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat_tests.clients.adapter import Acks, BrokerError, Capability, Client, Code, Record
from compat_tests.conftest import MakeTopic, OpenConsumer
from compat_tests.stories.waiting import CODECS, read, values

# The broker's default for max.message.bytes, less more than a batch of one record adds to its value.
NEAR_LIMIT_BYTES = 1_048_588 - 200
# 2026-01-01: past enough to be told from the client's own stamp. Topics that get it keep records for ever.
NEW_YEAR_MS = 1_767_225_600_000

EVERY_CODEC = [
    pytest.param("none", id="none"),
    *(pytest.param(codec.value, marks=pytest.mark.needs(codec), id=codec.value) for codec in CODECS),
]


@pytest.mark.parametrize("codec", EVERY_CODEC)
def test_every_codec_round_trips(client: Client, topic: str, open_consumer: OpenConsumer, codec: str) -> None:
    """Records compressed by the client come back with the same keys and values, in order."""
    sent = [Record(b"value-%d " % number * 20, key=b"key-%d" % number) for number in range(50)]

    client.produce(topic, sent, codec=codec, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    received = read(consumer, len(sent))

    assert [(record.key, record.value) for record in received] == [
        (record.key, record.value) for record in sent
    ]


def test_offsets_count_up_from_zero(client: Client, topic: str) -> None:
    """A new partition gives offsets from 0, one for each record, across productions."""
    first = client.produce(topic, [Record(b"a"), Record(b"b")], partition=0)
    second = client.produce(topic, [Record(b"c")], partition=0)

    assert first + second == [(0, 0), (0, 1), (0, 2)]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(Record(b"value", key=None), id="null-key"),
        pytest.param(Record(None, key=b"key"), id="null-value"),
        pytest.param(Record(b"", key=b"key"), id="empty-value"),
        pytest.param(Record(b"value", key=b""), id="empty-key"),
        pytest.param(Record(b"\x00\xff\n\xfe", key=b"\x00\n\xff"), id="bytes"),
    ],
)
def test_key_and_value_come_back_as_sent(
    client: Client, topic: str, open_consumer: OpenConsumer, record: Record
) -> None:
    """Null, empty and arbitrary bytes stay what they are, as key and as value."""
    client.produce(topic, [record], partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    (received,) = read(consumer, 1)

    assert (received.key, received.value) == (record.key, record.value)


@pytest.mark.needs(Capability.HEADER_ORDER)
def test_headers_come_back_in_order(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """Headers keep their order, repeated names and empty values (KIP-82)."""
    headers = (("trace", b"1"), ("kind", b""), ("trace", b"2"))

    client.produce(topic, [Record(b"value", headers=headers)], partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    (received,) = read(consumer, 1)

    assert received.headers == headers


@pytest.mark.needs(Capability.RECORD_TIMESTAMP)
def test_producer_timestamps_are_kept(
    client: Client, make_topic: MakeTopic, open_consumer: OpenConsumer
) -> None:
    """A topic with CreateTime keeps the timestamps its producer chose."""
    topic = make_topic(retention_ms="-1")
    stamps = [NEW_YEAR_MS + 5, NEW_YEAR_MS, NEW_YEAR_MS + 9]

    client.produce(topic, [Record(b"v", timestamp_ms=stamp) for stamp in stamps], partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    received = read(consumer, 3)

    assert [record.timestamp_ms for record in received] == stamps


@pytest.mark.needs(Capability.RECORD_TIMESTAMP)
@pytest.mark.parametrize("codec", [EVERY_CODEC[0], EVERY_CODEC[1]])
def test_log_append_time_replaces_timestamps(
    client: Client, make_topic: MakeTopic, open_consumer: OpenConsumer, codec: str
) -> None:
    """A topic with LogAppendTime gives records the broker's time instead of the producer's."""
    topic = make_topic(message_timestamp_type="LogAppendTime")

    client.produce(topic, [Record(b"v", timestamp_ms=NEW_YEAR_MS)] * 2, codec=codec, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    received = read(consumer, 2)

    assert all(record.timestamp_ms > NEW_YEAR_MS for record in received)


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_level_of_acks_stores(
    client: Client, topic: str, open_consumer: OpenConsumer, acks: Acks
) -> None:
    """Records arrive whatever acknowledgement the producer asks for, also none."""
    client.produce(topic, [Record(b"a"), Record(b"b")], acks=acks, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})

    assert values(read(consumer, 2)) == [b"a", b"b"]


def test_idempotent_producer_stores_each_record_once(
    client: Client, topic: str, open_consumer: OpenConsumer
) -> None:
    """An idempotent producer gets a producer id, and its numbered batches are stored in order (KIP-98)."""
    sent = [Record(b"%d" % number * 100) for number in range(1000)]

    client.produce(topic, sent, idempotent=True, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    received = read(consumer, len(sent))

    assert values(received) == [record.value for record in sent]


@pytest.mark.parametrize("codec", [EVERY_CODEC[0], EVERY_CODEC[1]])
def test_many_batches_keep_order(client: Client, topic: str, open_consumer: OpenConsumer, codec: str) -> None:
    """Thousands of records in many batches have offsets without gaps and are read in order."""
    sent = [Record(b"%06d" % number * 20) for number in range(3000)]

    places = client.produce(topic, sent, codec=codec, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    received = read(consumer, len(sent))

    assert places == [(0, number) for number in range(len(sent))]
    assert [(record.offset, record.value) for record in received] == [
        (number, record.value) for number, record in enumerate(sent)
    ]


def test_record_near_the_size_limit_is_stored(
    client: Client, topic: str, open_consumer: OpenConsumer
) -> None:
    """A record just below max.message.bytes is taken and read back whole (KIP-74)."""
    client.produce(topic, [Record(b"x" * NEAR_LIMIT_BYTES)], partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    (received,) = read(consumer, 1)

    assert received.value == b"x" * NEAR_LIMIT_BYTES


def test_record_above_the_size_limit_is_refused(client: Client, topic: str) -> None:
    """A record above max.message.bytes is refused with MESSAGE_TOO_LARGE, and nothing is stored."""
    with pytest.raises(BrokerError) as refusal:
        client.produce(topic, [Record(b"x" * 1_100_000)], partition=0)
    places = client.produce(topic, [Record(b"small")], partition=0)

    assert refusal.value.code == Code.MESSAGE_TOO_LARGE
    assert places == [(0, 0)]


def test_topic_sets_its_own_size_limit(client: Client, make_topic: MakeTopic) -> None:
    """The topic's max.message.bytes rules over the broker's."""
    topic = make_topic(max_message_bytes="1000")

    with pytest.raises(BrokerError) as refusal:
        client.produce(topic, [Record(b"x" * 1000)], partition=0)

    assert refusal.value.code == Code.MESSAGE_TOO_LARGE


def test_chosen_partition_gets_the_record(
    client: Client, make_topic: MakeTopic, open_consumer: OpenConsumer
) -> None:
    """A record goes to the partition its producer chose, and to no other."""
    topic = make_topic(partition_count=3)

    places = client.produce(topic, [Record(b"here")], partition=2)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning", 1: "beginning", 2: "beginning"})
    received = read(consumer, 1)

    assert places == [(2, 0)]
    assert [(record.partition, record.value) for record in received] == [(2, b"here")]


def test_same_key_goes_to_one_partition(client: Client, make_topic: MakeTopic) -> None:
    """A client that partitions by key sends one key to one partition."""
    topic = make_topic(partition_count=4)

    places = client.produce(topic, [Record(b"%d" % number, key=b"same") for number in range(20)])

    assert len(places) == 20
    assert len({partition for partition, _ in places}) == 1


def test_producing_creates_the_topic(
    client: Client, unique_name: Callable[[str], str], open_consumer: OpenConsumer
) -> None:
    """Producing to a topic that is not there creates it (auto.create.topics.enable)."""
    topic = unique_name("auto")

    client.produce(topic, [Record(b"first")])
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})

    assert values(read(consumer, 1)) == [b"first"]
