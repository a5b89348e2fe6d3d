"""confluent-kafka (librdkafka) behind the common face.

Called by stories through `clients.adapter`; calls `confluent_kafka`.
Source: confluent-kafka 2.16, librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka import Consumer as LibraryConsumer

from compat_tests.clients.adapter import (
    CLIENT_LIMIT_BYTES,
    DEADLINE_SECONDS,
    Acks,
    Admin,
    BrokerError,
    Capability,
    Consumer,
    ConsumerSettings,
    Header,
    MortalConsumer,
    Partition,
    Place,
    Rebalance,
    Received,
    Record,
    Start,
)
from compat_tests.clients.confluent_admin import ConfluentAdmin, broker_errors
from compat_tests.clients.member import MemberProcess

# librdkafka reports these while metadata of a new topic is on its way, and goes on by itself.
PASSING = {KafkaError._PARTITION_EOF, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN}
PASSING |= {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE}
# It left its group, not having been polled; the poll that says so is the one after which it joins again.
PASSING |= {KafkaError._MAX_POLL_EXCEEDED}
# What librdkafka takes for a record whose partition, or time, it shall choose itself.
ANY_PARTITION, NO_TIMESTAMP = -1, 0
FATAL = (KafkaError.FENCED_INSTANCE_ID, KafkaError.UNRELEASED_INSTANCE_ID, KafkaError.GROUP_MAX_SIZE_REACHED)
LOGICAL = {"beginning": OFFSET_BEGINNING, "end": OFFSET_END}


def _settings(bootstrap: str, settings: ConsumerSettings) -> dict[str, Any]:
    common = {
        "bootstrap.servers": bootstrap,
        # librdkafka's consumer wants a group even where none is joined.
        "group.id": settings.group or f"nobody-{uuid.uuid4().hex[:8]}",
        "auto.offset.reset": settings.reset,
        "enable.auto.commit": settings.auto_commit,
        "enable.partition.eof": True,
        "fetch.wait.max.ms": settings.fetch_wait_ms,
        "topic.metadata.refresh.interval.ms": settings.metadata_max_age_ms,
        "max.poll.interval.ms": settings.max_poll_interval_ms,
    }
    if settings.instance_id is not None:
        common["group.instance.id"] = settings.instance_id
    if settings.request_timeout_ms is not None:
        common["socket.timeout.ms"] = settings.request_timeout_ms
    if settings.assignor == "consumer":
        chosen = settings.server_assignor
        remote = {} if chosen is None else {"group.remote.assignor": chosen}
        return {**common, "group.protocol": "consumer", **remote}
    return {
        **common,
        "session.timeout.ms": settings.session_timeout_ms,
        "heartbeat.interval.ms": settings.heartbeat_interval_ms,
        "partition.assignment.strategy": settings.assignor,
    }


class ConfluentConsumer:
    """The `Consumer` of confluent-kafka."""

    def __init__(self, bootstrap: str, settings: ConsumerSettings) -> None:
        self._consumer = LibraryConsumer(_settings(bootstrap, settings))
        self._early: list[Received] = []
        self._rebalances: list[Rebalance] = []
        self._at_end: set[Partition] = set()
        self._closed = False

    def assign(self, topic: str, starts: Mapping[int, Start]) -> None:
        # Metadata first: without it librdkafka waits half a second before it asks for a logical offset.
        self._consumer.list_topics(topic, timeout=DEADLINE_SECONDS)
        self._consumer.assign(
            [TopicPartition(topic, partition, _offset(start)) for partition, start in starts.items()]
        )
        self._await_end({(topic, partition) for partition, start in starts.items() if start == "end"})

    def _await_end(self, partitions: set[Partition]) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not partitions <= self._at_end:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the end of {partitions - self._at_end} was not reported")
            self._early += self._take(self._consumer.poll(0.1))

    def subscribe(self, topics: Sequence[str]) -> None:
        self._consumer.subscribe(
            list(topics),
            on_assign=lambda _, partitions: self._note("assigned", partitions),
            on_revoke=lambda _, partitions: self._note("revoked", partitions),
            on_lost=lambda _, partitions: self._note("revoked", partitions),
        )

    def subscribe_pattern(self, pattern: str) -> None:
        self.subscribe([f"^{pattern}$"])

    def _note(self, kind: Literal["assigned", "revoked"], partitions: Sequence[TopicPartition]) -> None:
        self._rebalances.append(Rebalance.now(kind, ((tp.topic, tp.partition) for tp in partitions)))

    def assignment(self) -> set[Partition]:
        return {(tp.topic, tp.partition) for tp in self._consumer.assignment()}

    def rebalances(self) -> list[Rebalance]:
        return list(self._rebalances)

    def poll(self, timeout_seconds: float) -> list[Received]:
        received, self._early = self._early, []
        if not received:
            received = self._take(self._consumer.poll(timeout_seconds))
        for message in self._consumer.consume(1000, 0):
            received += self._take(message)
        return received

    def _take(self, message: Message | None) -> list[Received]:
        if message is None:
            return []
        error = message.error()
        if error is None:
            return [_received(message)]
        if error.code() not in PASSING:
            raise BrokerError(_code_of(error), error.str())
        if error.code() == KafkaError._PARTITION_EOF:
            self._at_end.add((str(message.topic()), int(message.partition() or 0)))
        return []

    def seek(self, partition: Partition, start: Start) -> None:
        # librdkafka refuses a seek until the fetcher of the partition runs.
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            try:
                self._consumer.seek(TopicPartition(*partition, _offset(start)))
                return
            except KafkaException as exception:
                if exception.args[0].code() != KafkaError._STATE or time.monotonic() > deadline:
                    raise
            self._early += self._take(self._consumer.poll(0.01))

    def position(self, partition: Partition) -> int:
        (found,) = self._consumer.position([TopicPartition(*partition)])
        return int(found.offset)

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._consumer.pause([TopicPartition(*partition) for partition in partitions])

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._consumer.resume([TopicPartition(*partition) for partition in partitions])

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        targets = [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        with broker_errors():
            self._consumer.commit(offsets=targets, asynchronous=False)

    def committed(self, partition: Partition) -> int | None:
        (found,) = self._consumer.committed([TopicPartition(*partition)], timeout=DEADLINE_SECONDS)
        return int(found.offset) if found.offset >= 0 else None

    def beginning_offset(self, partition: Partition) -> int:
        return self._watermarks(partition)[0]

    def end_offset(self, partition: Partition) -> int:
        return self._watermarks(partition)[1]

    def _watermarks(self, partition: Partition) -> tuple[int, int]:
        target = TopicPartition(*partition)
        low, high = self._consumer.get_watermark_offsets(target, timeout=DEADLINE_SECONDS)
        return int(low), int(high)

    def offset_for_time(self, partition: Partition, timestamp_ms: int) -> int | None:
        target = TopicPartition(*partition, timestamp_ms)
        (found,) = self._consumer.offsets_for_times([target], timeout=DEADLINE_SECONDS)
        return int(found.offset) if found.offset >= 0 else None

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._consumer.close()


def _code_of(error: KafkaError) -> int:
    """Give the code of an error; that of one which ends the consumer is only in its text."""
    if error.code() != KafkaError._FATAL:
        return error.code()
    return next((code for code in FATAL if KafkaError(code).str() in error.str()), error.code())


def _offset(start: Start) -> int:
    return start if isinstance(start, int) else LOGICAL[start]


def _received(message: Message) -> Received:
    return Received(
        topic=str(message.topic()),
        partition=int(message.partition() or 0),
        offset=int(message.offset() or 0),
        key=message.key(),
        value=message.value(),
        headers=_headers(message),
        timestamp_ms=message.timestamp()[1],
    )


def _headers(message: Message) -> tuple[Header, ...]:
    found: Any = message.headers() or []
    return tuple(found)


class Confluent:
    """confluent-kafka, pointed at one broker."""

    name: ClassVar[str] = "confluent-kafka"
    not_supported: ClassVar[Mapping[Capability, str]] = {
        Capability.STICKY: "librdkafka's sticky assignor is the cooperative one",
        Capability.SERVER_SIDE_PATTERN: "reads a pattern itself before it tells the broker",
        Capability.OFFSET_DELETION: "cannot delete a group's offsets, which librdkafka can",
    }

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin: ConfluentAdmin | None = None

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: Acks = "all",
        idempotent: bool = False,
        partition: int | None = None,
    ) -> list[Place]:
        producer = Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "acks": acks,
                "compression.type": codec,
                "enable.idempotence": idempotent,
                "message.max.bytes": CLIENT_LIMIT_BYTES,
            }
        )
        delivered: list[Place] = []
        refused: list[KafkaError] = []

        def report(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                refused.append(error)
            else:
                delivered.append((int(message.partition() or 0), int(message.offset() or 0)))

        for record in records:
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                partition=ANY_PARTITION if partition is None else partition,
                timestamp=record.timestamp_ms or NO_TIMESTAMP,
                on_delivery=report,
            )
        if producer.flush(DEADLINE_SECONDS):
            raise TimeoutError(f"records for {topic} were not delivered")
        if refused:
            raise BrokerError(refused[0].code(), refused[0].str())
        return [] if acks == "0" else delivered

    def consumer(self, settings: ConsumerSettings) -> Consumer:
        return ConfluentConsumer(self._bootstrap, settings)

    def mortal_consumer(self, settings: ConsumerSettings) -> MortalConsumer:
        return MemberProcess(Confluent, self._bootstrap, settings)

    def admin(self) -> Admin:
        if self._admin is None:
            self._admin = ConfluentAdmin(type(self), self._bootstrap)
        return self._admin

    def close(self) -> None:
        self._admin = None
