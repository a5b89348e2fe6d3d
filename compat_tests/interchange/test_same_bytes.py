"""Apache Kafka 4.4 and wirekafka are sent the same batches and stopped: their folders are the same.

Batches, indexes, producer snapshots and leader epochs, over segments that roll by size and by a full index.
partition.metadata differs in the topic's id, which each broker draws.
Source: none.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat_tests.apache_kafka.jars import NotAvailable
from compat_tests.apache_kafka.node import kafka_node
from compat_tests.differential.batches import NOW_MS, Producer, Record, batch
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from wirekafka.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData

CONFIGS = {
    "segment.bytes": str(1 << 20),
    "segment.index.bytes": "4096",
    "index.interval.bytes": "1000",
    "retention.ms": "-1",
}
SETTINGS = {"log.retention.check.interval.ms": "3600000"}
PRODUCE_VERSION, CREATE_VERSION = 9, 5
NOT_LEADER_YET = 6
_NO_TIMESTAMP = -1

Maker = Callable[[random.Random], Iterator[bytes]]


def nothing(chance: random.Random) -> Iterator[bytes]:
    """A partition that nobody writes to."""
    yield from ()


def one(chance: random.Random) -> Iterator[bytes]:
    """A single record."""
    yield batch([Record(None, b"v", NOW_MS)])


def growing(chance: random.Random) -> Iterator[bytes]:
    """Batches that grow, with times that sometimes go back; a segment ends by its size."""
    for number in range(90):
        time_ms = NOW_MS + 10 * number - 45 * (number % 3)
        yield batch([Record(b"k", chance.randbytes(1000 + 150 * number), time_ms)] * (1 + number % 3))


def idempotent(chance: random.Random) -> Iterator[bytes]:
    """Producers in turn, over two segments: their snapshots at the roll and at the end."""
    sent = dict.fromkeys(range(1000, 1007), 0)
    for number in range(200):
        producer_id, count = 1000 + number % 7, 1 + number % 3
        producer = Producer(producer_id, 2, sent[producer_id])
        yield batch([Record(b"k", chance.randbytes(3000), NOW_MS + number)] * count, producer=producer)
        sent[producer_id] += count


def timeless(chance: random.Random) -> Iterator[bytes]:
    """Records without timestamps: the time index stays empty."""
    for _ in range(30):
        yield batch([Record(None, chance.randbytes(3000), _NO_TIMESTAMP)])


def many(chance: random.Random) -> Iterator[bytes]:
    """More index entries than segment.index.bytes has room for: a segment ends by its time index."""
    for number in range(900):
        yield batch([Record(None, bytes(1100), NOW_MS + number)])


MAKERS: dict[str, Maker] = {
    maker.__name__: maker for maker in (nothing, one, growing, idempotent, timeless, many)
}


def write(side: Side) -> None:
    """Make the topics and send each its batches, one after the other."""
    configs = [CreatableTopicConfig(name=name, value=value) for name, value in CONFIGS.items()]
    topics = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=configs)
        for name in MAKERS
    ]
    made = side.ask("create", CreateTopicsRequest(topics=topics, timeout_ms=10_000), CREATE_VERSION)
    assert [topic.error_code for topic in made.topics] == [0] * len(topics)
    for name, maker in MAKERS.items():
        for data in maker(random.Random(1)):
            produce(side, name, data)


def produce(side: Side, topic: str, data: bytes) -> None:
    partition = PartitionProduceData(index=0, records=memoryview(data))
    request = ProduceRequest(
        acks=-1, timeout_ms=5000, topic_data=[TopicProduceData(name=topic, partition_data=[partition])]
    )
    code = NOT_LEADER_YET
    for _ in range(50):
        answer = side.ask("produce", request, PRODUCE_VERSION)
        code = answer.responses[0].partition_responses[0].error_code
        if code == 0:
            return
        time.sleep(0.1)
    pytest.fail(f"{side.name} answers a batch for {topic} with error {code}")


def files_of(data: Path, topic: str) -> dict[str, bytes]:
    """The files of a partition's folder, without the one that has the topic's id."""
    folder = data / f"{topic}-0"
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "partition.metadata"}


Files = dict[str, dict[str, bytes]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Files, Files]:
    """What Apache Kafka and wirekafka have left of the same batches, by topic and name."""
    from wirekafka.testing import running_broker

    try:
        with kafka_node(SETTINGS) as node:
            side = Side("Apache Kafka", node.bootstrap)
            write(side)
            side.close()
            node.stop()
            theirs = {topic: files_of(node.log_dir, topic) for topic in MAKERS}
    except NotAvailable as reason:
        pytest.skip(str(reason))
    data = tmp_path_factory.mktemp("wirekafka") / "data"
    with running_broker(data_dir=data) as broker:
        side = Side("wirekafka", broker.bootstrap)
        write(side)
        side.close()
    return theirs, {topic: files_of(data, topic) for topic in MAKERS}


@pytest.mark.parametrize("topic", MAKERS)
def test_the_folder_is_the_same_to_the_byte(written: tuple[Files, Files], topic: str) -> None:
    """No file more, none less, and every byte."""
    theirs, ours = written[0][topic], written[1][topic]

    assert sorted(ours) == sorted(theirs)
    assert [name for name, data in theirs.items() if ours[name] != data] == []


def test_the_folders_have_what_is_to_be_shown(written: tuple[Files, Files]) -> None:
    """Or the sameness would show little."""
    theirs = written[0]

    assert len([name for name in theirs["growing"] if name.endswith(".log")]) > 1
    assert len([name for name in theirs["idempotent"] if name.endswith(".snapshot")]) == 2
    assert len(theirs["many"]["00000000000000000000.timeindex"]) > 4000
    assert theirs["timeless"]["00000000000000000000.timeindex"] == b""
    assert theirs["nothing"]["leader-epoch-checkpoint"] == b"0\n1\n0 0\n"
