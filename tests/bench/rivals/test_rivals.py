"""Every rival takes a record of a stock producer and gives it to a stock consumer.

Apache Kafka does in compat_tests. What would have to be fetched first is left to the benches.
"""

from pathlib import Path

import pytest
import rivals
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition

RECORDS = 100
_MOST_SECONDS = 20.0


@pytest.mark.parametrize("name", [name for name in rivals.RIVALS if name != "apache-kafka"])
def test_records_are_acknowledged_and_read(name: str, tmp_path: Path) -> None:
    """Partition by partition, as groups are not every rival's matter."""
    if not rivals.RIVALS[name].is_here():
        pytest.skip(f"{name} is not here: python bench/all.py fetches it")
    with rivals.start(name, tmp_path) as broker:
        acknowledged = written(broker.bootstrap)
        found = read(broker.bootstrap, len(acknowledged))

    assert sorted(found) == sorted(acknowledged) == [b"%03d" % n for n in range(RECORDS)]


def written(bootstrap: str) -> list[bytes]:
    """The values of all that was acknowledged."""
    acknowledged: list[bytes] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        acknowledged.append(message.value() or b"")

    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "compression.type": "zstd"})
    for number in range(RECORDS):
        producer.produce("smoke", b"%03d" % number, on_delivery=delivered)
    assert producer.flush(_MOST_SECONDS) == 0
    return acknowledged


def read(bootstrap: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "smoke"})
    partitions = consumer.list_topics("smoke", timeout=_MOST_SECONDS).topics["smoke"].partitions
    consumer.assign([TopicPartition("smoke", partition, OFFSET_BEGINNING) for partition in partitions])
    found: list[bytes] = []
    while len(found) < count:
        messages = consumer.consume(count - len(found), _MOST_SECONDS)
        assert messages, f"{len(found)} of {count} records came"
        found += [message.value() or b"" for message in messages if message.error() is None]
    consumer.close()
    return found
