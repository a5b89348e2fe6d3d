"""A producer, or a consumer, of records that are due at fixed times. Run as a program by `pace`.

Every record has the time at which it was due in its value, by the clock that all processes of a machine
share. Latency counts from there: when the broker or the machine keeps the producer waiting, all records are
late that were due meanwhile, instead of not having been sent. Nothing lingers (linger.ms=0): at librdkafka's
default of 5 ms all brokers would show the client's waiting and little else.
The producer's delivery reports are served by a thread of their own, so that they are told apart from sending.
"""

import functools
import gc
import json
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
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

from clients.pace import Pace
from clients.work import SILENT, NothingComes, wait_for_go

_NANOSECONDS_A_MS = 1e6
_DUE = struct.Struct(">q")
_UNCOUNTED = -1
"""Due at no time: it tells both sides that all stands."""
_FIRST_AFTER_SECONDS = 0.05
_PATIENCE_SECONDS = 60.0

Counted = Callable[[], list[float]]


@contextmanager
def producing(pace: Pace) -> Iterator[Counted]:
    producer = Producer({"bootstrap.servers": pace.bootstrap, "acks": "all", "linger.ms": 0, **SILENT})
    ended = threading.Event()
    reports = threading.Thread(target=_serve_reports, args=(producer, ended))
    reports.start()
    producer.produce(pace.topic, _value(pace, _UNCOUNTED))
    producer.flush(_PATIENCE_SECONDS)
    yield functools.partial(_produce, producer, pace)
    ended.set()
    reports.join()


def _serve_reports(producer: Producer, ended: threading.Event) -> None:
    while not ended.is_set():
        producer.poll(0.2)


def _produce(producer: Producer, pace: Pace) -> list[float]:
    acknowledged_ms: list[float] = []

    def delivered(due: int, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            raise KafkaException(error)
        acknowledged_ms.append((time.perf_counter_ns() - due) / _NANOSECONDS_A_MS)

    first = time.perf_counter_ns() + int(_FIRST_AFTER_SECONDS * 1e9)
    for number in range(pace.records):
        due = first + number * 1_000_000_000 // pace.records_a_second
        while (early := due - time.perf_counter_ns()) > 0:
            time.sleep(early / 1e9)
        producer.produce(pace.topic, _value(pace, due), on_delivery=functools.partial(delivered, due))
    if producer.flush(_PATIENCE_SECONDS):
        raise NothingComes
    return acknowledged_ms


def _value(pace: Pace, due: int) -> bytes:
    return _DUE.pack(due).ljust(pace.record_bytes, b"x")


@contextmanager
def consuming(pace: Pace) -> Iterator[Counted]:
    consumer = Consumer(
        {"bootstrap.servers": pace.bootstrap, "group.id": "bench", "enable.auto.commit": False, **SILENT}
    )
    consumer.assign(
        [TopicPartition(pace.topic, number, OFFSET_BEGINNING) for number in range(pace.partitions)]
    )
    if _due(consumer) != _UNCOUNTED:
        raise ValueError(f"{pace.topic} is not new")
    yield functools.partial(_consume, consumer, pace)
    consumer.close()


def _consume(consumer: Consumer, pace: Pace) -> list[float]:
    read_ms: list[float] = []
    while len(read_ms) < pace.records:
        due = _due(consumer)
        read_ms.append((time.perf_counter_ns() - due) / _NANOSECONDS_A_MS)
    return read_ms


def _due(consumer: Consumer) -> int:
    """When the next record was due."""
    message = consumer.poll(_PATIENCE_SECONDS)
    if message is None:
        raise NothingComes
    if (error := message.error()) is not None:
        raise KafkaException(error)
    return int(_DUE.unpack_from(message.value() or b"")[0])


def main() -> None:
    """Do what comes down standard input until it ends."""
    gc.disable()  # pauses of ours would be taken for the broker's
    verbs = {"produce": producing, "consume": consuming}
    for line in sys.stdin:
        pace = Pace(**json.loads(line))
        with verbs[pace.verb](pace) as counted:
            wait_for_go()
            latencies = counted()
        del counted  # and with it the client
        print(json.dumps([round(ms, 3) for ms in latencies]), flush=True)


if __name__ == "__main__":
    main()
