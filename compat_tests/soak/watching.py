"""Who writes, who looks on, and who kills the broker, while members come and go.

Each is the body of a thread that `__main__` starts; they tell the ledger.
Source: none.
"""

from __future__ import annotations

import signal
import threading
import time

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from compat_tests.broker import RestartableBroker
from compat_tests.soak.ledger import Ledger

TOPIC, PARTITIONS = "soak", 24
RECORDS_A_SECOND = 50
LOOK_EVERY_SECONDS = 0.5
COMMITTED_EVERY_SECONDS = 1.0
LOOK_SECONDS = 10.0
_FLUSH_SECONDS = 60.0


def _client(bootstrap: str) -> dict[str, str | int | float | bool]:
    """Settings of a client that outlives the broker.

    confluent-kafka 2.16 would forget the broker that is gone and begin with its bootstrap servers again: a
    request of the admin client that is then sent to the broker it knew before waits for ever.
    """
    return {"bootstrap.servers": bootstrap, "metadata.recovery.strategy": "none", "log_level": 0}


class Writer:
    """Writes to all partitions in turn, and notes what the broker has acknowledged."""

    def __init__(self, bootstrap: str, ledger: Ledger) -> None:
        self._ledger = ledger
        self._number = 0
        self._producer = Producer({**_client(bootstrap), "enable.idempotence": True})

    def write_until(self, over: threading.Event) -> None:
        """Write at a steady rate; give back when all that was sent is acknowledged."""
        while not over.wait(1 / RECORDS_A_SECOND):
            self._write()
        self._producer.flush(_FLUSH_SECONDS)

    def write_round(self) -> None:
        """Write one record to each partition, and wait until they are acknowledged."""
        for _ in range(PARTITIONS):
            self._write()
        self._producer.flush(_FLUSH_SECONDS)

    def _write(self) -> None:
        self._ledger.note_sent()
        partition = self._number % PARTITIONS
        self._producer.produce(TOPIC, b"x", partition=partition, on_delivery=self._acknowledged)
        self._producer.poll(0)
        self._number += 1

    def _acknowledged(self, error: object, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is not None:
            self._ledger.note_refusal("writer", str(error))
        elif partition is not None and offset is not None:
            self._ledger.note_written((partition, offset), time.monotonic())


def watch_commits(bootstrap: str, group: str, ledger: Ledger, over: threading.Event) -> None:
    """Look at what a group has committed, once a second while the broker is there."""
    admin = AdminClient(_client(bootstrap))
    while not over.wait(COMMITTED_EVERY_SECONDS):
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        try:
            found = asked[group].result(LOOK_SECONDS)
        except (KafkaException, TimeoutError) as error:  # the broker is down
            ledger.note_refusal(f"look at {group}", str(error) or "no answer")
            continue
        places = found.topic_partitions
        ledger.note_committed(group, {(place.topic, place.partition): place.offset for place in places})


def watch_unread(ledger: Ledger, over: threading.Event) -> None:
    """Look at how long records have not been read."""
    while not over.wait(LOOK_EVERY_SECONDS):
        ledger.look_at_unread(time.monotonic())


def kill_broker(
    broker: RestartableBroker, every_seconds: float, ledger: Ledger, over: threading.Event
) -> None:
    """Kill the broker again and again, and start it at once."""
    while not over.wait(every_seconds):
        ledger.note_event("broker killed")
        ledger.excuse_all(time.monotonic())
        broker.restart(signal.SIGKILL)
        ledger.excuse_all(time.monotonic())
