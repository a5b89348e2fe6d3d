"""Produces and consumes by kafka-python. Run by `clients`: `kafka_python_client.py ADDRESS`."""

import sys
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from paper_parts.serving import MESSAGE, PREFETCH, Order, serve

ADDRESS = sys.argv[1]
_FETCH_BYTES = PREFETCH * len(MESSAGE)
_PATIENCE_SECONDS = 60.0
_LINGER_MS = 5
_BATCH_HEAD_BYTES, _RECORD_HEAD_BYTES = 61, 7
"""What stands before the records of a batch, and before the value of a record."""


def _batch_bytes(messages: int) -> int:
    """The size by which kafka-python says how many messages go into a batch."""
    return _BATCH_HEAD_BYTES + messages * (_RECORD_HEAD_BYTES + len(MESSAGE)) if messages > 1 else 0


def _consumer() -> KafkaConsumer:
    return KafkaConsumer(
        bootstrap_servers=ADDRESS,
        enable_auto_commit=False,
        max_poll_records=PREFETCH,
        fetch_max_bytes=_FETCH_BYTES,
        max_partition_fetch_bytes=_FETCH_BYTES,
    )


def produce(order: Order) -> float:
    """From the first call until the broker has all of them."""
    producer = KafkaProducer(
        bootstrap_servers=ADDRESS,
        acks=order.acks,
        enable_idempotence=False,
        batch_size=_batch_bytes(order.batch),
        linger_ms=0 if order.batch == 1 else _LINGER_MS,
    )
    producer.partitions_for(order.name)
    witness, partition = _consumer(), TopicPartition(order.name, 0)
    witness.end_offsets([partition])
    begun = time.perf_counter()
    for _ in range(order.count):
        producer.send(order.name, MESSAGE)
    producer.flush(_PATIENCE_SECONDS)
    while witness.end_offsets([partition])[partition] < order.count:
        if time.perf_counter() - begun > _PATIENCE_SECONDS:
            raise TimeoutError(f"{order} is not there")
        time.sleep(0.001)
    seconds = time.perf_counter() - begun
    producer.close()
    witness.close()
    return seconds


def consume(order: Order) -> float:
    """From the assignment until all of them were here, one a turn of the loop."""
    consumer, partition = _consumer(), TopicPartition(order.name, 0)
    consumer.partitions_for_topic(order.name)
    begun = time.perf_counter()
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    for taken, _ in enumerate(consumer, 1):
        if taken == order.count:
            break
    seconds = time.perf_counter() - begun
    consumer.close()
    return seconds


if __name__ == "__main__":
    serve(produce, consume)
