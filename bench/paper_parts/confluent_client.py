"""Produces and consumes by confluent-kafka. Run by `clients`: `confluent_client.py ADDRESS`."""

import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition

from paper_parts.serving import MESSAGE, PREFETCH, Order, serve

ADDRESS = sys.argv[1]
_FETCH_BYTES = PREFETCH * len(MESSAGE)
_PATIENCE_SECONDS = 60.0
_LINGER_MS = 5


def _consumer() -> Consumer:
    """One with the paper's prefetch.

    When as many are fetched ahead, librdkafka looks again only after a second, if it is not told otherwise.
    """
    return Consumer(
        {
            "bootstrap.servers": ADDRESS,
            "group.id": "paper",
            "enable.auto.commit": False,
            "message.max.bytes": _FETCH_BYTES,
            "fetch.max.bytes": _FETCH_BYTES,
            "max.partition.fetch.bytes": _FETCH_BYTES,
            "queued.min.messages": PREFETCH,
            "fetch.queue.backoff.ms": 1,
        }
    )


def _wait_until_there(client: Producer | Consumer, topic: str) -> None:
    """Connect, and let the client know the topic, which Apache Kafka tells a little after it was made."""
    deadline = time.perf_counter() + _PATIENCE_SECONDS
    while not client.list_topics(topic, timeout=_PATIENCE_SECONDS).topics[topic].partitions:
        if time.perf_counter() > deadline:
            raise TimeoutError(f"there is no {topic}")
        time.sleep(0.01)


def produce(order: Order) -> float:
    """From the first call until the broker has all of them."""
    producer = Producer(
        {
            "bootstrap.servers": ADDRESS,
            "acks": order.acks,
            "batch.num.messages": order.batch,
            "linger.ms": 0 if order.batch == 1 else _LINGER_MS,
            "queue.buffering.max.messages": order.count,
            "queue.buffering.max.kbytes": 2_000_000,
        }
    )
    _wait_until_there(producer, order.name)
    witness, partition = _consumer(), TopicPartition(order.name, 0)
    _wait_until_there(witness, order.name)
    witness.get_watermark_offsets(partition, timeout=_PATIENCE_SECONDS)
    begun = time.perf_counter()
    for _ in range(order.count):
        producer.produce(order.name, MESSAGE)
    producer.flush(_PATIENCE_SECONDS)
    while witness.get_watermark_offsets(partition, timeout=_PATIENCE_SECONDS)[1] < order.count:
        if time.perf_counter() - begun > _PATIENCE_SECONDS:
            raise TimeoutError(f"{order} is not there")
        time.sleep(0.001)
    seconds = time.perf_counter() - begun
    witness.close()
    return seconds


def consume(order: Order) -> float:
    """From the assignment until all of them were here, one a call."""
    consumer = _consumer()
    _wait_until_there(consumer, order.name)
    begun = time.perf_counter()
    consumer.assign([TopicPartition(order.name, 0, 0)])
    taken = 0
    while taken < order.count:
        message = consumer.poll(_PATIENCE_SECONDS)
        if message is None or message.error():
            raise TimeoutError(f"{order}: {taken} came, then {message and message.error()}")
        taken += 1
    seconds = time.perf_counter() - begun
    consumer.close()
    return seconds


if __name__ == "__main__":
    serve(produce, consume)
