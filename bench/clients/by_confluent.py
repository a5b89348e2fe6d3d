"""confluent-kafka at work, with its defaults but for one. Run as a program by `fleet`."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from clients.work import PATIENCE_SECONDS, SILENT, Counted, NothingComes, Work, repeated, values, work_off

_AT_ONCE, _BYTES_AT_ONCE = 10_000, 10_000_000
"""Messages taken over by one call: the cheapest way there is to read with this client. But what is taken over
is made into Python's objects when all are there; of 10,000 large ones the client would rest meanwhile."""


@contextmanager
def producing(work: Work) -> Iterator[Counted]:
    producer = Producer(
        {
            "bootstrap.servers": work.bootstrap,
            "acks": work.acks,
            "compression.type": work.compression,
            **SILENT,
        }
    )
    producer.list_topics(work.topic, timeout=PATIENCE_SECONDS)
    yield functools.partial(_produce, producer, work, values(work.record_bytes))


def _produce(producer: Producer, work: Work, values: list[bytes]) -> None:
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failed.append(error)

    for value in repeated(values, work.records):
        while True:
            try:
                producer.produce(work.topic, value, on_delivery=delivered)
                break
            except BufferError:  # the client's queue is full
                producer.poll(1.0)
    while producer.flush(PATIENCE_SECONDS):
        pass
    if failed:
        raise KafkaException(failed[0])


@contextmanager
def consuming(work: Work) -> Iterator[Counted]:
    consumer = Consumer(
        {
            "bootstrap.servers": work.bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
            # At the default of 1,000 it fetches nothing for a second when 64 MiB wait to be taken, which they
            # do if the broker is quicker than Python: chance would then say how many seconds 200 MB take.
            "fetch.queue.backoff.ms": 1,
            **SILENT,
        }
    )
    consumer.list_topics(work.topic, timeout=PATIENCE_SECONDS)
    yield functools.partial(_consume, consumer, work)
    consumer.close()


def _consume(consumer: Consumer, work: Work) -> None:
    consumer.assign(
        [TopicPartition(work.topic, number, OFFSET_BEGINNING) for number in range(work.partitions)]
    )
    got, at_once = 0, min(_AT_ONCE, max(1, _BYTES_AT_ONCE // work.record_bytes))
    while got < work.records:
        messages = consumer.consume(min(at_once, work.records - got), timeout=PATIENCE_SECONDS)
        if not messages:
            raise NothingComes
        got += sum(message.error() is None for message in messages)


if __name__ == "__main__":
    work_off({"produce": producing, "consume": consuming})
