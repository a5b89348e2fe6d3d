"""Stories of consuming by assignment: where reading starts, goes on, waits and stops.

Source: Apache Kafka 4.4; KIP-79 (offsets by time), KIP-227 (fetch sessions).
"""

from __future__ import annotations

import time

import pytest

from compat_tests.clients.adapter import Capability, Client, Record
from compat_tests.conftest import MakeTopic, OpenConsumer
from compat_tests.stories.waiting import codecs_of, read, values

NEW_YEAR_MS = 1_767_225_600_000
FIVE = [Record(b"%d" % number) for number in range(5)]


def test_from_the_beginning(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """A consumer started at the beginning gets every record, in order of offset."""
    client.produce(topic, FIVE, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    received = read(consumer, 5)

    assert [(record.offset, record.value) for record in received] == [
        (number, b"%d" % number) for number in range(5)
    ]


def test_from_the_end(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """A consumer started at the end gets only what is produced afterwards."""
    client.produce(topic, FIVE, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "end"})
    client.produce(topic, [Record(b"new")], partition=0)

    assert values(read(consumer, 1)) == [b"new"]


def test_from_an_offset(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """A consumer started at an offset gets the record of that offset first."""
    client.produce(topic, FIVE, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: 3})

    assert values(read(consumer, 2)) == [b"3", b"4"]


def test_from_an_offset_inside_a_compressed_batch(
    client: Client, topic: str, open_consumer: OpenConsumer
) -> None:
    """An offset inside a compressed batch is found, though the broker can only send the whole batch."""
    client.produce(topic, [Record(b"%d" % number) for number in range(100)], codec="gzip", partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: 97})

    assert values(read(consumer, 3)) == [b"97", b"98", b"99"]


def test_offset_past_the_end_resets(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """An offset past the end is refused as out of range, and the consumer resets to the earliest."""
    client.produce(topic, FIVE, partition=0)
    consumer = open_consumer(reset="earliest")
    consumer.assign(topic, {0: 1000})

    assert values(read(consumer, 5)) == [record.value for record in FIVE]


@pytest.mark.needs(Capability.RECORD_TIMESTAMP)
def test_from_a_timestamp(client: Client, make_topic: MakeTopic, open_consumer: OpenConsumer) -> None:
    """The offset for a time is the first record with that timestamp or a later one (KIP-79)."""
    topic = make_topic(retention_ms="-1")
    stamped = [Record(b"%d" % number, timestamp_ms=NEW_YEAR_MS + 100 * number) for number in range(5)]

    client.produce(topic, stamped, partition=0)
    consumer = open_consumer()
    offset = consumer.offset_for_time((topic, 0), NEW_YEAR_MS + 250)
    consumer.assign(topic, {0: offset or 0})

    assert offset == 3
    assert values(read(consumer, 2)) == [b"3", b"4"]


def test_no_record_is_late_enough(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """There is no offset for a time after the last record."""
    client.produce(topic, FIVE, partition=0)
    consumer = open_consumer()

    assert consumer.offset_for_time((topic, 0), 4_000_000_000_000) is None


def test_beginning_and_end_offsets(
    client: Client, make_topic: MakeTopic, open_consumer: OpenConsumer
) -> None:
    """The beginning offset is that of the first record, the end offset is one past the last."""
    topic = make_topic(partition_count=2)
    client.produce(topic, FIVE, partition=1)
    consumer = open_consumer()

    found = [
        (consumer.beginning_offset((topic, partition)), consumer.end_offset((topic, partition)))
        for partition in (0, 1)
    ]

    assert found == [(0, 0), (0, 5)]


@pytest.mark.needs(Capability.SEEK)
def test_seek_back_and_forth(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """A consumer that seeks goes on from there, forwards and backwards."""
    client.produce(topic, FIVE, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    first = read(consumer, 5)
    consumer.seek((topic, 0), 4)
    last = read(consumer, 1)
    consumer.seek((topic, 0), "beginning")
    again = read(consumer, 5)

    assert values(last) == [b"4"]
    assert again == first


@pytest.mark.needs(Capability.POSITION)
def test_position_follows_reading(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """The position is the offset after the last record read."""
    client.produce(topic, FIVE, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: 2})
    read(consumer, 3)

    assert consumer.position((topic, 0)) == 5


@pytest.mark.needs(Capability.PAUSE)
def test_paused_partition_waits(client: Client, make_topic: MakeTopic, open_consumer: OpenConsumer) -> None:
    """A paused partition gives nothing while others go on, and everything once it is resumed."""
    topic = make_topic(partition_count=2)
    client.produce(topic, FIVE, partition=0)
    client.produce(topic, FIVE, partition=1)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning", 1: "beginning"})
    consumer.pause([(topic, 0)])
    while_paused = read(consumer, 5)
    consumer.resume([(topic, 0)])
    after = read(consumer, 5)

    assert {record.partition for record in while_paused} == {1}
    assert [(record.partition, record.value) for record in after] == [(0, record.value) for record in FIVE]


def test_several_partitions(client: Client, make_topic: MakeTopic, open_consumer: OpenConsumer) -> None:
    """One consumer reads several partitions, each in its own order."""
    topic = make_topic(partition_count=3)
    for partition in range(3):
        client.produce(topic, [Record(b"%d-%d" % (partition, n)) for n in range(20)], partition=partition)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning", 1: "beginning", 2: "beginning"})
    received = read(consumer, 60)

    for partition in range(3):
        own = [record.value for record in received if record.partition == partition]
        assert own == [b"%d-%d" % (partition, n) for n in range(20)]


def test_fetch_at_the_end_waits_for_a_record(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """A fetch that waits at the end is answered when a record arrives, not when its wait is over."""
    consumer = open_consumer(fetch_wait_ms=15_000)
    consumer.assign(topic, {0: 0})
    before = consumer.poll(0.3)
    started = time.monotonic()
    client.produce(topic, [Record(b"at last")], partition=0)
    received = read(consumer, 1)

    assert before == []
    assert values(received) == [b"at last"]
    assert time.monotonic() - started < 10


def test_many_records_come_in_many_fetches(client: Client, topic: str, open_consumer: OpenConsumer) -> None:
    """More records than one fetch holds are read completely, one fetch after another."""
    sent = [Record(b"%04d" % number * 10_000) for number in range(60)]
    client.produce(topic, sent, partition=0)
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})

    assert values(read(consumer, 60)) == [record.value for record in sent]


def test_what_another_client_wrote(
    client: Client,
    topic: str,
    open_consumer: OpenConsumer,
    bootstrap: str,
    writer_class: type[Client],
) -> None:
    """Every client reads what every other wrote, with every codec both know."""
    codecs = [codec for codec in codecs_of(writer_class) if codec in codecs_of(client)]
    writer = writer_class(bootstrap)
    try:
        for codec in codecs:
            record = Record(codec.encode() * 100, key=codec.encode(), headers=(("codec", codec.encode()),))
            writer.produce(topic, [record], codec=codec, partition=0)
    finally:
        writer.close()
    consumer = open_consumer()
    consumer.assign(topic, {0: "beginning"})
    received = read(consumer, len(codecs))

    assert [(record.key, record.value, record.headers) for record in received] == [
        (codec.encode(), codec.encode() * 100, (("codec", codec.encode()),)) for codec in codecs
    ]
