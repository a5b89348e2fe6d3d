"""Makes data folders: one by Apache Kafka with all that a folder may hold, and one of wirekafka's.

Called by the tests beside it; calls `apache_kafka.node` and `wirekafka.testing`.
Source: none.
"""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compat_tests.apache_kafka.node import KafkaNode, start_node

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
SMALL_SEGMENT_BYTES = 1024 * 1024
GROUP = "interchange"
SETTINGS = {
    "log.cleaner.backoff.ms": "200",
    "log.retention.check.interval.ms": "200",
    "log.initial.task.delay.ms": "200",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
}
TOPICS: Mapping[str, tuple[int, Mapping[str, str]]] = {
    "codecs": (2, {}),
    "transactions": (1, {}),
    "rolled": (1, {"segment.bytes": str(SMALL_SEGMENT_BYTES)}),
    "compacted": (
        1,
        {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"},
    ),
    "deleted": (1, {"segment.bytes": str(SMALL_SEGMENT_BYTES), "retention.bytes": str(SMALL_SEGMENT_BYTES)}),
}
"""Each topic's partitions and settings."""

Told = tuple[int | None, int, bytes | None, bytes | None, tuple[object, ...]]
"""A record as a consumer is told of it: offset, timestamp, key, value, headers."""


ToSend = tuple[str, int, bytes | None, bytes | None]
"""A record to be written: topic, partition, key, value."""


@dataclass(slots=True)
class Contents:
    """What a consumer finds in a folder's topics."""

    records: dict[tuple[str, int, str], list[Told]] = field(default_factory=dict)
    """By topic, partition and isolation level."""
    ranges: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """First offset and end of each partition."""
    committed: int = -1
    """The group's offset in `codecs-0`."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A data folder of Apache Kafka, and what Kafka itself has told is in it."""

    path: Path
    contents: Contents


def fill(bootstrap: str) -> None:
    """Make the topics, and write records of every kind that a log may hold."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    admin = AdminClient({"bootstrap.servers": bootstrap})
    new = [NewTopic(name, count, 1, config=dict(config)) for name, (count, config) in TOPICS.items()]
    for future in admin.create_topics(new).values():
        future.result()
    for codec in CODECS:
        _produce(bootstrap, {"compression.type": codec, "enable.idempotence": True}, _records_of(codec))
    _commit_and_abort(bootstrap)
    noise = random.Random(4)
    large: list[ToSend] = [("rolled", 0, None, noise.randbytes(100_000)) for _ in range(30)]
    large += [("deleted", 0, None, noise.randbytes(100_000)) for _ in range(40)]
    _produce(bootstrap, {"linger.ms": 0}, large, flush_each=True)
    for number in range(12):
        keyed: list[ToSend] = [
            ("compacted", 0, f"k{key}".encode(), f"v{number}".encode()) for key in range(5)
        ]
        keyed.append(("compacted", 0, f"once{number}".encode(), None if number % 2 else b"x"))
        _produce(bootstrap, {}, keyed)
        time.sleep(0.15)
    _commit(bootstrap)


def _records_of(codec: str) -> list[ToSend]:
    return [
        ("codecs", number % 2, f"k{number}".encode(), f"{codec} {number} ".encode() * 20)
        for number in range(120)
    ]


def _produce(
    bootstrap: str,
    settings: Mapping[str, Any],
    records: Sequence[ToSend],
    *,
    flush_each: bool = False,
) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, **settings})
    for topic, partition, key, value in records:
        producer.produce(topic, key=key, value=value, partition=partition, headers=[("h", b"v")])
        if flush_each:
            producer.flush()
    assert producer.flush(30) == 0


def _commit_and_abort(bootstrap: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "interchange"})
    producer.init_transactions(60)
    for number in range(6):
        producer.begin_transaction()
        for record in range(10):
            producer.produce("transactions", f"transaction {number} record {record}".encode())
        assert producer.flush(30) == 0
        end = producer.abort_transaction if number % 3 == 1 else producer.commit_transaction
        end(30)


def leave_a_transaction_open(bootstrap: str) -> None:
    """Write into a transaction that nobody ends."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "left-open"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("transactions", b"of a transaction that is open")
    assert producer.flush(30) == 0


def _commit(bootstrap: str) -> None:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP})
    consumer.commit(offsets=[TopicPartition("codecs", 0, 7)], asynchronous=False)
    consumer.close()


def contents(bootstrap: str) -> Contents:
    """Read every topic to its end, in both isolation levels."""
    found = Contents()
    for topic, (count, _) in TOPICS.items():
        for partition in range(count):
            for isolation in ("read_uncommitted", "read_committed"):
                told, bounds = read(bootstrap, topic, partition, isolation)
                found.records[topic, partition, isolation] = told
                if isolation == "read_uncommitted":
                    found.ranges[topic, partition] = bounds
    found.committed = _committed(bootstrap)
    return found


def read(bootstrap: str, topic: str, partition: int, isolation: str) -> tuple[list[Told], tuple[int, int]]:
    """Read one partition from its first offset to its end."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "check.crcs": True,
        }
    )
    place = TopicPartition(topic, partition)
    low, high = consumer.get_watermark_offsets(place, timeout=20)
    consumer.assign([TopicPartition(topic, partition, low)])
    told: list[Told] = []
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        message = consumer.poll(1.0)
        if message is None:
            continue
        if message.error() is not None:
            assert "PARTITION_EOF" in str(message.error()), message.error()
            break
        headers = tuple(message.headers() or ())
        told.append((message.offset(), message.timestamp()[1], message.key(), message.value(), headers))
    else:
        raise AssertionError(f"{topic}-{partition} was not read to its end")
    consumer.close()
    return told, (low, high)


def _committed(bootstrap: str) -> int:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP})
    (place,) = consumer.committed([TopicPartition("codecs", 0)], timeout=20)
    consumer.close()
    return int(place.offset)


def wait_until(what: Callable[[], bool], why: str, seconds: float = 30) -> None:
    """Wait for something that a broker does when it likes."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.1)


@contextmanager
def kafkas_folders(scratch: Path) -> Iterator[dict[str, Folder]]:
    """Give folders that Apache Kafka 4.4 has left: "killed" and "clean". Raises NotAvailable."""
    home = scratch / "node"
    home.mkdir()
    node = start_node(home, SETTINGS)
    try:
        fill(node.bootstrap)
        _wait_for_cleaning(node)
        leave_a_transaction_open(node.bootstrap)
        before = contents(node.bootstrap)
        node.stop(signal.SIGKILL)
        shutil.copytree(node.log_dir, scratch / "killed")
        node = start_node(home, SETTINGS)
        after = contents(node.bootstrap)
        node.stop()
        shutil.copytree(node.log_dir, scratch / "clean")
    finally:
        node.stop(signal.SIGKILL)
    yield {"killed": Folder(scratch / "killed", before), "clean": Folder(scratch / "clean", after)}


def _wait_for_cleaning(node: KafkaNode) -> None:
    """Wait until the cleaner and retention have been there, and neither is at work."""
    checkpoint = node.log_dir / "cleaner-offset-checkpoint"
    wait_until(lambda: "compacted 0" in _text(checkpoint), "nothing was compacted")

    def is_deleted() -> bool:
        return not (node.log_dir / "deleted-0" / f"{0:020d}.log").exists()

    wait_until(is_deleted, "nothing was deleted")
    time.sleep(1.5)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
