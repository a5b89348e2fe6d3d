"""What a log keeps: retention, DeleteRecords and compaction, told by stock clients.

Source: Kafka's documentation of retention.ms, retention.bytes, cleanup.policy; KIP-107.
"""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it re-exports without saying so
    AdminClient,
    NewTopic,
)

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import batches_in
from wirekafka.testing import RunningBroker, running_broker

WAIT_SECONDS = 10.0
MEBIBYTE = 1024 * 1024
LARGE = "x" * 300_000
"""Three of them fill a segment of the least size there is."""
Pair = tuple[str, str | None]


def make_topic(broker: RunningBroker, name: str = "t", **configs: object) -> str:
    given = {key.replace("_", "."): str(value) for key, value in configs.items()}
    client = admin(broker)
    [made] = client.create_topics([NewTopic(name, 1, 1, config=given)]).values()
    made.result(WAIT_SECONDS)
    return name


def admin(broker: RunningBroker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def send(broker: RunningBroker, topic: str, *pairs: Pair, timestamp_ms: int = 0) -> None:
    """Each record in a batch of its own."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "batch.num.messages": 1})
    for key, value in pairs:
        producer.produce(topic, value, key, timestamp=timestamp_ms)
        producer.flush(WAIT_SECONDS)


def earliest(broker: RunningBroker, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader"})
    low, _ = consumer.get_watermark_offsets(TopicPartition(topic, 0), WAIT_SECONDS)
    consumer.close()
    return low


def delete_records(broker: RunningBroker, topic: str, index: int, offset: int) -> int:
    """Give the low watermark."""
    client = admin(broker)
    [answer] = client.delete_records([TopicPartition(topic, index, offset)]).values()
    return int(answer.result(WAIT_SECONDS).low_watermark)


def read(broker: RunningBroker, topic: str, count: int) -> list[tuple[int, str, str | None]]:
    """The first records of a topic, at most so many: offset, key and value."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    found: list[tuple[int, str, str | None]] = []
    try:
        while len(found) < count:
            message = consumer.poll(WAIT_SECONDS)
            assert message is not None
            if message.error() is not None:
                break  # the end
            found.append((message.offset() or 0, _text(message.key()) or "", _text(message.value())))
    finally:
        consumer.close()
    return found


def _text(data: str | bytes | None) -> str | None:
    return data.decode() if isinstance(data, bytes) else data


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what the broker does at an interval of a second."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def test_retention_ms_is_seen_to_work() -> None:
    """A topic that keeps records for a second loses them by itself, and offsets go on."""
    with running_broker() as broker:
        topic = make_topic(broker, retention_ms=1000)
        send(broker, topic, ("a", "1"), ("a", "2"))

        wait_until(lambda: earliest(broker, topic) == 2)

        send(broker, topic, ("a", "3"))
        assert read(broker, topic, 10) == [(2, "a", "3")]


def test_retention_now() -> None:
    """By the time of the records: what is old goes at once, what is not stays."""
    with running_broker(settings={"log.retention.check.interval.ms": "1000000"}) as broker:
        topic = make_topic(broker, retention_ms=3_600_000, segment_bytes=MEBIBYTE)
        old_ms = time.time_ns() // 1_000_000 - 7_200_000
        send(broker, topic, *[("old", LARGE)] * 6, timestamp_ms=old_ms)
        send(broker, topic, *[("new", LARGE)] * 6)

        broker.apply_retention(topic)

        kept = [key for _, key, _ in read(broker, topic, 20)]
        assert kept[-6:] == ["new"] * 6
        assert kept.count("old") < 3
        assert earliest(broker, topic) >= 4


def test_retention_bytes_now() -> None:
    """As many of the newest segments stay as make up retention.bytes."""
    with running_broker() as broker:
        topic = make_topic(broker, retention_bytes=2_500_000, segment_bytes=MEBIBYTE, file_delete_delay_ms=0)
        send(broker, topic, *[("k", LARGE)] * 30)

        broker.apply_retention(topic)

        assert 20 < earliest(broker, topic) < 26
        logs = broker.data_dir / f"{topic}-0"
        wait_until(lambda: not list(logs.glob("*.deleted")))
        assert sum(path.stat().st_size for path in logs.glob("*.log")) < 3_600_000


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_deleted_records_stay_deleted(tmp_path: Path, policy: str) -> None:
    """DeleteRecords answers where the log begins, and a restart keeps it."""
    with running_broker(data_dir=tmp_path) as broker:
        topic = make_topic(broker, cleanup_policy=policy)
        send(broker, topic, *[(f"k{i}", "v") for i in range(5)])
        assert delete_records(broker, topic, 0, 3) == 3
        assert [offset for offset, _, _ in read(broker, topic, 10)] == [3, 4]

    with running_broker(data_dir=tmp_path) as broker:
        assert earliest(broker, topic) == 3
        assert delete_records(broker, topic, 0, -1) == 5
        assert read(broker, topic, 10) == []


def test_records_that_cannot_be_deleted() -> None:
    """Each with Kafka's code: behind the end, of a topic that is only compacted."""
    with running_broker() as broker:
        kept = make_topic(broker, "kept", cleanup_policy="compact")
        topic = make_topic(broker)
        send(broker, topic, ("a", "1"))

        def code(name: str, index: int, offset: int) -> int:
            with pytest.raises(KafkaException) as caught:
                delete_records(broker, name, index, offset)
            return int(caught.value.args[0].code())

        assert code(topic, 0, 2) == ErrorCode.OFFSET_OUT_OF_RANGE
        assert code(kept, 0, -1) == ErrorCode.POLICY_VIOLATION
        assert earliest(broker, topic) == 0


def test_compaction_now(tmp_path: Path) -> None:
    """Of every key the newest value is left, of what was deleted nothing; a restart finds the same."""
    with running_broker(data_dir=tmp_path) as broker:
        topic = make_topic(broker, cleanup_policy="compact", delete_retention_ms=0)
        send(broker, topic, ("a", "1"), ("b", "1"), ("a", "2"), ("c", "1"), ("b", None), ("d", "1"))

        broker.compact(topic)

        expected = [(2, "a", "2"), (3, "c", "1"), (5, "d", "1")]
        assert read(broker, topic, 10) == expected
        send(broker, topic, ("c", "2"))

    with running_broker(data_dir=tmp_path) as broker:
        assert read(broker, topic, 10) == [*expected, (6, "c", "2")]
        broker.compact(topic)
        assert read(broker, topic, 10) == [(2, "a", "2"), (5, "d", "1"), (6, "c", "2")]


def test_consumers_pass_over_batches_that_are_empty() -> None:
    """The last batch of each idempotent producer stays as a header, for its sequence numbers."""
    with running_broker() as broker:
        topic = make_topic(broker, cleanup_policy="compact")
        for value in "12345":
            producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
            producer.produce(topic, value, "a")
            producer.flush(WAIT_SECONDS)

        broker.compact(topic)

        [log] = (broker.data_dir / f"{topic}-0").glob(f"{0:020d}.log")
        counts = [batch.record_count for batch in batches_in(log.read_bytes())]
        assert counts == [0, 0, 0, 0, 1]
        assert read(broker, topic, 10) == [(4, "a", "5")]


def test_compaction_by_itself() -> None:
    """With segments that are sealed early and a low ratio the cleaner finds the log by itself."""
    with running_broker() as broker:
        topic = make_topic(
            broker, cleanup_policy="compact", segment_bytes=MEBIBYTE, min_cleanable_dirty_ratio=0.01
        )
        send(broker, topic, *[("k", LARGE) for _ in range(30)])

        wait_until(lambda: read(broker, topic, 1)[0][0] > 20)


def test_only_compacted_topics_are_compacted() -> None:
    """A test that asks for it on another has a mistake in it, and is told."""
    with running_broker() as broker:
        topic = make_topic(broker)

        with pytest.raises(KafkaError) as caught:
            broker.compact(topic)
        assert caught.value.code is ErrorCode.POLICY_VIOLATION
        with pytest.raises(KafkaError) as caught:
            broker.compact("nowhere")
        assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        with pytest.raises(KafkaError) as caught:
            broker.apply_retention("nowhere")
        assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_group_offsets_are_compacted(tmp_path: Path) -> None:
    """Ten thousand commits of one group are few records after it, and a restart has the right offsets."""
    settings = {"offsets.topic.num.partitions": "1", "log.cleaner.enable": "false"}
    with running_broker(data_dir=tmp_path, settings=settings) as broker:
        topic = make_topic(broker)
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g"})
        for offset in range(1, 10_001):
            consumer.commit(offsets=[TopicPartition(topic, 0, offset)])
            if offset % 500 == 0:
                consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
        consumer.close()
        log = tmp_path / "__consumer_offsets-0"
        before = sum(path.stat().st_size for path in log.glob("*.log"))

        broker.compact("__consumer_offsets")

        after = sum(path.stat().st_size for path in log.glob("*.log"))
        assert before > 1_000_000
        assert after < 2_000

    with running_broker(data_dir=tmp_path, settings=settings) as broker:
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g"})
        [committed] = consumer.committed([TopicPartition(topic, 0)], WAIT_SECONDS)
        consumer.close()
        assert committed.offset == 10_000
