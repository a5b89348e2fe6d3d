"""What an acknowledgement means, told by stock clients against a disk that is slow, held or broken.

Source: docs/durability.md.
"""

import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it re-exports without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
)

from tests.support.disk import WAIT_SECONDS, SlowDisk
from wirekafka.testing import RunningBroker, running_broker

STORAGE_ERROR = 56
NOT_ENOUGH_REPLICAS = 19


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    return SlowDisk(monkeypatch)


@pytest.fixture
def broker(disk: SlowDisk) -> Iterator[RunningBroker]:
    """A broker in the mode os, for topics to differ from, which has the offsets topic already.

    A consumer asks for its coordinator before it fetches, and the making of that topic waits for the disk.
    """
    with running_broker() as running:
        consumer = Consumer({"bootstrap.servers": running.bootstrap, "group.id": "g"})
        consumer.committed([TopicPartition("any", 0)], WAIT_SECONDS)
        consumer.close()
        yield running


def make_topic(broker: RunningBroker, name: str = "t", **configs: str) -> str:
    given = {key.replace("__", "-").replace("_", "."): value for key, value in configs.items()}
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    [made] = admin.create_topics([NewTopic(name, 1, 1, config=given)]).values()
    made.result(WAIT_SECONDS)
    return name


class Sender:
    """A producer that tries once, and keeps what it is told of each record."""

    def __init__(self, broker: RunningBroker, acks: str = "all", **settings: object) -> None:
        self.told: list[int | None] = []
        self._producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "acks": acks, "retries": 0, "linger.ms": 0, **settings}
        )

    def send(self, topic: str, value: bytes = b"v") -> None:
        self._producer.produce(topic, value, on_delivery=self._delivered)
        self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        self.told.append(None if error is None else error.code())

    def wait(self, seconds: float = WAIT_SECONDS) -> list[int | None]:
        """Wait for what is on its way, at most so long; give all that was told."""
        self._producer.flush(seconds)
        return self.told


def read(broker: RunningBroker, topic: str, seconds: float, count: int = 1) -> list[bytes | None]:
    """The values of a topic that a consumer finds within a time, at most so many."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    try:
        return [message.value() for message in consumer.consume(count, seconds)]
    finally:
        consumer.close()


def test_fsync_acknowledges_and_shows_what_the_disk_has(broker: RunningBroker, disk: SlowDisk) -> None:
    """acks=all waits for the sync, and no consumer reads what a power cut could still take away."""
    topic = make_topic(broker, wirekafka_durability="fsync")
    sender, syncs = Sender(broker), disk.syncs

    with disk.held():
        sender.send(topic)
        disk.wait_for_sync(syncs + 1)
        told, seen = list(sender.wait(0.3)), read(broker, topic, 0.5)

    assert (told, seen) == ([], [])
    assert sender.wait() == [None]
    assert read(broker, topic, WAIT_SECONDS) == [b"v"]


def test_acks_1_is_told_before_the_sync_and_seen_after_it(broker: RunningBroker, disk: SlowDisk) -> None:
    topic = make_topic(broker, wirekafka_durability="fsync")
    sender = Sender(broker, acks="1")

    with disk.held():
        sender.send(topic)
        told, seen = list(sender.wait()), read(broker, topic, 0.5)

    assert (told, seen) == ([None], [])
    assert read(broker, topic, WAIT_SECONDS) == [b"v"]


def test_os_waits_for_no_disk(broker: RunningBroker, disk: SlowDisk) -> None:
    """The default, as in Kafka."""
    topic = make_topic(broker)
    sender = Sender(broker)

    with disk.held():
        sender.send(topic)
        told, seen = list(sender.wait()), read(broker, topic, WAIT_SECONDS)

    assert (told, seen) == ([None], [b"v"])


def test_mode_changes_at_run_time(broker: RunningBroker, disk: SlowDisk) -> None:
    topic = make_topic(broker)
    alter(broker, topic, "wirekafka.durability", "fsync")
    sender, syncs = Sender(broker), disk.syncs

    with disk.held():
        sender.send(topic)
        disk.wait_for_sync(syncs + 1)
        told = list(sender.wait(0.3))

    assert told == []
    assert sender.wait() == [None]


def alter(broker: RunningBroker, topic: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for altered in admin.incremental_alter_configs([resource]).values():
        altered.result(WAIT_SECONDS)


def test_failed_sync_acknowledges_nobody_from_then_on(broker: RunningBroker, disk: SlowDisk) -> None:
    """KAFKA_STORAGE_ERROR for those who wait and for all after them, whatever their topic; reads go on."""
    os_topic = make_topic(broker, "os")
    before = Sender(broker)
    before.send(os_topic, b"before")
    before.wait()
    fsync_topic = make_topic(broker, "fsync", wirekafka_durability="fsync")
    waiting = [Sender(broker) for _ in range(4)]

    disk.broken, syncs = True, disk.syncs
    with disk.held():
        for sender in waiting:
            sender.send(fsync_topic)
        disk.wait_for_sync(syncs + 1)
    told = [sender.wait() for sender in waiting]
    disk.broken = False
    syncs = disk.syncs
    after = [Sender(broker), Sender(broker)]
    for sender, topic in zip(after, (os_topic, fsync_topic), strict=True):
        sender.send(topic)

    assert told == [[STORAGE_ERROR]] * 4
    assert [sender.wait() for sender in after] == [[STORAGE_ERROR]] * 2
    assert disk.syncs == syncs
    assert read(broker, os_topic, WAIT_SECONDS) == [b"before"]
    assert read(broker, fsync_topic, 0.5) == []


def test_thirty_two_producers_share_their_syncs(broker: RunningBroker, disk: SlowDisk) -> None:
    """One sync a record would be 320 here."""
    topic = make_topic(broker, wirekafka_durability="fsync")
    disk.seconds, syncs = 0.005, disk.syncs
    senders = [Sender(broker) for _ in range(32)]

    def produce_one_after_the_other(sender: Sender) -> None:
        for _ in range(10):
            sender.send(topic)
            sender.wait()

    threads = [threading.Thread(target=produce_one_after_the_other, args=(sender,)) for sender in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [sender.told for sender in senders] == [[None] * 10] * 32
    assert disk.syncs - syncs <= 320 / 5


def test_flush_messages_answers_after_the_sync(broker: RunningBroker, disk: SlowDisk) -> None:
    """As in Kafka, in the mode os too; consumers need not wait for it."""
    topic = make_topic(broker, flush_messages="2")
    first, second = Sender(broker), Sender(broker)
    first.send(topic)
    alone, syncs = first.wait(), disk.syncs

    with disk.held():
        second.send(topic)
        disk.wait_for_sync(syncs + 1)
        told, seen = list(second.wait(0.3)), read(broker, topic, WAIT_SECONDS, 2)

    assert (alone, told, seen) == ([None], [], [b"v", b"v"])
    assert second.wait() == [None]


def test_flush_ms_syncs_in_time(broker: RunningBroker, disk: SlowDisk) -> None:
    topic = make_topic(broker, flush_ms="100")
    sender, syncs = Sender(broker), disk.syncs

    sender.send(topic)

    assert sender.wait() == [None]
    disk.wait_for_sync(syncs + 1)


@pytest.mark.parametrize(("acks", "told"), [("all", NOT_ENOUGH_REPLICAS), ("1", None), ("0", None)])
def test_more_replicas_in_sync_than_there_are(broker: RunningBroker, acks: str, told: int | None) -> None:
    """min.insync.replicas is of acks=all alone, and nothing is written that it refuses."""
    topic = make_topic(broker, min_insync_replicas="2")
    sender = Sender(broker, acks=acks)

    sender.send(topic)

    assert sender.wait() == [told]
    assert read(broker, topic, 0.5 if told else WAIT_SECONDS) == ([] if told else [b"v"])


def test_whole_broker_in_the_mode_fsync(disk: SlowDisk) -> None:
    """Groups and topics too: what they answer has been flushed."""
    with running_broker(settings={"wirekafka.durability": "fsync"}) as broker:
        make_topic(broker)
        made = disk.syncs
        sender = Sender(broker)
        sender.send("t")
        sender.wait()
        consumer = Consumer(
            {"bootstrap.servers": broker.bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe(["t"])
        [message] = consumer.consume(1, WAIT_SECONDS)
        before_commit = disk.syncs
        consumer.commit(message=message, asynchronous=False)
        committed = disk.syncs
        consumer.close()

    assert made > 0
    assert committed > before_commit


def test_topic_is_said_to_be_made_when_it_lasts(broker: RunningBroker, disk: SlowDisk) -> None:
    """The metadata log is flushed in the mode os too, as Kafka's is."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    syncs = disk.syncs

    with disk.held():
        [made] = admin.create_topics([NewTopic("t", 1, 1)]).values()
        disk.wait_for_sync(syncs + 1)
        told = made.done()

    assert not told
    made.result(WAIT_SECONDS)


@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_full_disk_refuses_and_service_resumes(
    broker: RunningBroker, disk: SlowDisk, durability: str
) -> None:
    """Nothing half-written stays, reads go on, and no restart is needed."""
    topic = make_topic(broker, wirekafka_durability=durability)
    sender = Sender(broker)
    sender.send(topic, b"before")
    sender.wait()

    disk.full = True
    sender.send(topic, b"refused")
    refused, seen = list(sender.wait()), read(broker, topic, WAIT_SECONDS)
    disk.full = False
    sender.send(topic, b"after")

    assert (refused, seen) == ([None, STORAGE_ERROR], [b"before"])
    assert sender.wait() == [None, STORAGE_ERROR, None]
    assert read(broker, topic, WAIT_SECONDS, 2) == [b"before", b"after"]


def test_no_descriptor_left_refuses_and_service_resumes(disk: SlowDisk) -> None:
    """EMFILE ends nothing: who needs a file that is not open is answered with 56, and later served."""
    with running_broker(settings={"wirekafka.open.files.max": "1"}) as broker:
        one, other = make_topic(broker, "one"), make_topic(broker, "other")
        sender = Sender(broker)
        sender.send(one)
        sender.wait()
        sender.send(other)
        sender.wait()

        disk.no_descriptors = True
        sender.send(one)
        refused = list(sender.wait())
        disk.no_descriptors = False
        sender.send(one)

        assert refused == [None, None, STORAGE_ERROR]
        assert sender.wait() == [None, None, STORAGE_ERROR, None]
        assert read(broker, one, WAIT_SECONDS, 2) == [b"v", b"v"]
