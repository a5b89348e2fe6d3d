"""aiokafka at work, with its defaults. Run as a program by `fleet`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from clients.work import PATIENCE_SECONDS, Counted, NothingComes, Work, repeated, values, work_off


@contextmanager
def producing(work: Work) -> Iterator[Counted]:
    with asyncio.Runner() as runner:
        producer: AIOKafkaProducer = runner.run(_producer(work))
        sent = values(work.record_bytes)
        yield lambda: runner.run(_produce(producer, work, sent))
        runner.run(producer.stop())


async def _producer(work: Work) -> AIOKafkaProducer:
    producer = AIOKafkaProducer(
        bootstrap_servers=work.bootstrap,
        acks=work.acks if work.acks == "all" else int(work.acks),
        compression_type=None if work.compression == "none" else work.compression,
    )
    await producer.start()
    await producer.partitions_for(work.topic)
    return producer


async def _produce(producer: AIOKafkaProducer, work: Work, values: list[bytes]) -> None:
    for value in repeated(values, work.records):
        last = await producer.send(work.topic, value)
    await producer.flush()
    await last


@contextmanager
def consuming(work: Work) -> Iterator[Counted]:
    with asyncio.Runner() as runner:
        consumer: AIOKafkaConsumer = runner.run(_consumer(work))
        yield lambda: runner.run(_consume(consumer, work))
        runner.run(consumer.stop())


async def _consumer(work: Work) -> AIOKafkaConsumer:
    consumer = AIOKafkaConsumer(bootstrap_servers=work.bootstrap, group_id=None, enable_auto_commit=False)
    await consumer.start()
    return consumer


async def _consume(consumer: AIOKafkaConsumer, work: Work) -> None:
    consumer.assign([TopicPartition(work.topic, number) for number in range(work.partitions)])
    await consumer.seek_to_beginning()
    got = 0
    while got < work.records:
        came = await consumer.getmany(timeout_ms=int(PATIENCE_SECONDS * 1000))
        if not came:
            raise NothingComes
        got += sum(map(len, came.values()))


if __name__ == "__main__":
    work_off({"produce": producing, "consume": consuming})
