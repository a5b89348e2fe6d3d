"""kafka-python at work, with its defaults. Run as a program by `fleet`."""

import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from clients.work import PATIENCE_SECONDS, Counted, NothingComes, Work, repeated, values, work_off


@contextmanager
def producing(work: Work) -> Iterator[Counted]:
    producer = KafkaProducer(
        bootstrap_servers=work.bootstrap,
        acks=work.acks if work.acks == "all" else int(work.acks),
        compression_type=None if work.compression == "none" else work.compression,
    )
    producer.partitions_for(work.topic)
    yield functools.partial(_produce, producer, work, values(work.record_bytes))
    producer.close()


def _produce(producer: KafkaProducer, work: Work, values: list[bytes]) -> None:
    for value in repeated(values, work.records):
        last = producer.send(work.topic, value)
    producer.flush(PATIENCE_SECONDS)
    last.get(0)


@contextmanager
def consuming(work: Work) -> Iterator[Counted]:
    consumer = KafkaConsumer(bootstrap_servers=work.bootstrap, group_id=None, enable_auto_commit=False)
    consumer.partitions_for_topic(work.topic)
    consumer.assign([TopicPartition(work.topic, number) for number in range(work.partitions)])
    consumer.seek_to_beginning()
    yield functools.partial(_consume, consumer, work)
    consumer.close()


def _consume(consumer: KafkaConsumer, work: Work) -> None:
    got, last_came = 0, time.perf_counter()
    while got < work.records:
        came = sum(map(len, consumer.poll(timeout_ms=1000).values()))
        if came:
            got, last_came = got + came, time.perf_counter()
        elif time.perf_counter() > last_came + PATIENCE_SECONDS:
            raise NothingComes


if __name__ == "__main__":
    work_off({"produce": producing, "consume": consuming})
