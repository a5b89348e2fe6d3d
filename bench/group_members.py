"""Stock consumers under a watch: when each reads, and which partitions it has. What `groups.py` drives."""

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from clients.leaders import wait_for_leaders
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

PARTITIONS = 4
_RECORDS_A_SECOND = 200
_MOST_SECONDS = 60.0
_POLL_SECONDS = 0.002


class GroupMember:
    """One confluent-kafka consumer with the client's defaults, and what it reads of the topic."""

    def __init__(self, bootstrap: str, group_id: str, protocol: str, topic: str) -> None:
        config = {
            "bootstrap.servers": bootstrap,
            "group.id": group_id,
            "group.protocol": protocol,
            "auto.offset.reset": "latest",
        }
        self._consumer = Consumer(config)
        self.partitions: set[int] = set()
        self.reads = False
        """Whether a record has come since its partitions last changed."""
        self.begun = time.perf_counter()
        self._consumer.subscribe([topic], on_assign=self._assigned, on_revoke=self._revoked)

    def poll(self) -> None:
        message = self._consumer.poll(_POLL_SECONDS)
        if message is None:
            return
        error = message.error()
        if error is None:
            self.reads = bool(self.partitions)
        elif error.code() not in (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT):
            raise RuntimeError(str(error))

    def poll_for(self, seconds: float) -> None:
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            self.poll()

    def close(self) -> None:
        self._consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.partitions |= {each.partition for each in partitions}
        self.reads = False

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.partitions -= {each.partition for each in partitions}
        self.reads = False


class Shared(NamedTuple):
    """When every partition had one of the members and, with that, some had read."""

    last_reads: float
    """The last of the members: it got its partitions from the others, who go on with some of theirs."""
    all_read: float


def until_shared(members: Sequence[GroupMember]) -> Shared:
    """Poll until every partition has one of the members, and each member reads; the times it was then."""
    deadline = time.perf_counter() + _MOST_SECONDS
    last_reads: float | None = None
    while time.perf_counter() < deadline:
        for member in members:
            member.poll()
        if not _have_all(members):
            last_reads = None
            continue
        if last_reads is None and members[-1].reads:
            last_reads = time.perf_counter()
        if last_reads is not None and all(member.reads for member in members):
            return Shared(last_reads, time.perf_counter())
    owned = [sorted(member.partitions) for member in members]
    raise RuntimeError(f"after {_MOST_SECONDS:.0f} s the members have {owned}")


def _have_all(members: Sequence[GroupMember]) -> bool:
    owned = [partition for member in members for partition in member.partitions]
    return sorted(owned) == list(range(PARTITIONS)) and all(member.partitions for member in members)


class Writer:
    """Writes to every partition of a topic, all the time, so that who reads is seen to read."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _write(self) -> None:
        number = 0
        while not self._stopping.wait(1 / _RECORDS_A_SECOND):
            self._producer.produce(self._topic, b"x", partition=number % PARTITIONS)
            self._producer.poll(0)
            number += 1
        self._producer.flush(5)


def make_topic(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for made in admin.create_topics([NewTopic(topic, PARTITIONS, 1)]).values():
        made.result(30)
    wait_for_leaders(bootstrap, topic, PARTITIONS)
