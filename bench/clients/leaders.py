"""Waits until a topic that was made can be written to. Called by `turns` and by questions that make topics.

Apache Kafka says that a topic is made some 0.3 s before all its partitions have their leader. An idempotent
producer of Java (kafka-producer-perf-test) that begins meanwhile is stuck with a batch: it waits for them
until they are too old, 120 s.
"""

import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

from clients.work import SILENT

_MOST_SECONDS, _AGAIN_SECONDS = 30.0, 0.05


def wait_for_leaders(bootstrap: str, topic: str, partitions: int = 1) -> None:
    """Return when every partition has its leader. Raises TimeoutError after 30 s."""
    deadline = time.monotonic() + _MOST_SECONDS
    while not _have_leaders(bootstrap, [TopicPartition(topic, number) for number in range(partitions)]):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} has no leaders")
        time.sleep(_AGAIN_SECONDS)


def _have_leaders(bootstrap: str, partitions: list[TopicPartition]) -> bool:
    # A new client each time: librdkafka's keeps to it that a partition is unknown.
    asking = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", **SILENT})
    try:
        for partition in partitions:
            asking.get_watermark_offsets(partition, timeout=_MOST_SECONDS)
    except KafkaException:
        return False
    finally:
        asking.close()
    return True
