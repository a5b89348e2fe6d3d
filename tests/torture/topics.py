"""Making a topic and reading all of it, with stock librdkafka.

Used by the parts that judge whole processes.
"""

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.torture.judging import Read
from tests.torture.oracle import name_of

READ_SECONDS = 120.0
_ADMIN_SECONDS = 20.0
FOR_EVER = {"retention.ms": "-1"}
"""For records whose timestamps are of no time: retention takes the oldest first."""


class NotReadable(Exception):
    """A topic could not be read to its end; the text says why."""


def create(
    bootstrap: str,
    topic: str,
    partitions: int,
    configs: Mapping[str, str] | None = None,
    *,
    seconds: float = _ADMIN_SECONDS,
) -> None:
    """Make a topic. Raises KafkaException."""
    admin: Any = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=dict(configs or {}))
    for future in admin.create_topics([new], request_timeout=seconds).values():
        future.result()


def names(bootstrap: str) -> set[str]:
    """The topics that there are. Raises KafkaException."""
    admin: Any = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    return set(admin.list_topics(timeout=_ADMIN_SECONDS).topics)


def read_all(bootstrap: str, topic: str, partitions: int, *, seconds: float = READ_SECONDS) -> Read:
    """Read every partition from its start to the end it has now. Raises NotReadable.

    Read again when retention moved a start meanwhile: what was read belongs to one state of the log.
    """
    errors: list[str] = []
    consumer: Any = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "check.crcs": True,
            "fetch.wait.max.ms": 10,
            "log_level": 0,
            "error_cb": lambda error: errors.append(error.str()),
        }
    )
    try:
        while True:
            read = _read_to_ends(consumer, topic, partitions, time.monotonic() + seconds)
            if _start_offsets(consumer, topic, partitions) == read.start_offsets:
                return read
    except KafkaException as error:
        raise NotReadable(f"{error}; {errors[-1:]}") from None
    finally:
        consumer.close()


def _read_to_ends(consumer: Any, topic: str, partitions: int, deadline: float) -> Read:
    read = Read(start_offsets=_start_offsets(consumer, topic, partitions))
    consumer.assign([TopicPartition(topic, number, start) for number, start in read.start_offsets.items()])
    unread = set(range(partitions))
    while unread:
        if time.monotonic() > deadline:
            raise NotReadable(f"the end of partitions {sorted(unread)} was not reached")
        for message in consumer.consume(10_000, timeout=0.2):
            error = message.error()
            if error is None:
                _take(read, message)
            elif error.code() == KafkaError._PARTITION_EOF:
                unread.discard(message.partition())
            else:
                raise NotReadable(f"partition {message.partition()}: {error.str()}")
    return read


def _start_offsets(consumer: Any, topic: str, partitions: int) -> dict[int, int]:
    found = {}
    for number in range(partitions):
        place = TopicPartition(topic, number)
        found[number], _ = consumer.get_watermark_offsets(place, timeout=_ADMIN_SECONDS)
    return found


def _take(read: Read, message: Any) -> None:
    name = name_of(message.value() or b"")
    partition, offset = message.partition(), message.offset()
    if name is None or name[1] != partition:
        read.forged.append(f"partition {partition}, offset {offset}: {message.value()!r:.80} was never sent")
        return
    read.records[partition].append((offset, name[0], name[2]))


def wait_for(condition: Any, what: str, *, seconds: float = 30.0) -> None:
    """Wait until `condition()` holds. Raises NotReadable with `what`."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(KafkaException):
            if condition():
                return
        if time.monotonic() > deadline:
            raise NotReadable(f"{what} did not come within {seconds:.0f} s")
        time.sleep(0.05)
