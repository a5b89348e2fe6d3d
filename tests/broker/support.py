"""What tests of several broker modules share: batches, and a machine that does what it is told."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trio

from wirekafka.broker import Broker, BrokerConfig
from wirekafka.broker.partition import Partition
from wirekafka.ids import TopicId
from wirekafka.machine import Decision, KeyValue, Reply, Ticket
from wirekafka.metadata import Settings
from wirekafka.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsEntry,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.records import Record, build_batch
from wirekafka.storage import Health, PartitionLog

WAIT_SECONDS = 10.0
TOPIC_ID = TopicId(b"\x01" * 16)


def batch(count: int = 1, *, size: int = 10, **header: int) -> bytearray:
    """A batch of records with values of one size."""
    return build_batch([Record(value=b"v" * size)] * count, timestamp_ms=1, **header)


def append(partition: Partition, count: int = 1, *, size: int = 10) -> int:
    """Append a batch and give its size in bytes."""
    records = batch(count, size=size)
    partition.append(records, now_ms=1)
    return len(records)


class FlushAtWill:
    """Stands for the disk: `flush` waits in its thread for `let_go`, counts, and fails as it is told."""

    def __init__(self) -> None:
        self.health = Health()
        self.flushed: list[set[str]] = []
        """The partitions of each flush."""
        self.failure: KafkaError | None = None
        self.spared: set[str] = set()
        """The partitions that a failure does not concern."""
        self._gate = threading.Event()
        self._gate.set()

    def hold(self) -> None:
        """Let the flushes from here on wait."""
        self._gate.clear()

    def let_go(self) -> None:
        self._gate.set()

    async def has_begun(self, count: int) -> None:
        """Return when that many flushes have begun, each with what was written by then."""
        while len(self.flushed) < count:
            await trio.lowlevel.checkpoint()

    def flush(self, logs: Sequence[PartitionLog]) -> None:
        begun = [(log, log.begin_flush()) for log in logs]
        self.flushed.append({str(log.topic_partition) for log in logs})
        assert self._gate.wait(WAIT_SECONDS)
        for log, flush in begun:
            if flush is not None and (self.failure is None or str(log.topic_partition) in self.spared):
                log.unflushed.end(flush)
            elif flush is not None:
                log.unflushed.give_up(flush)
        if self.failure is not None:
            raise self.failure


@dataclass
class NotebookMachine:
    """Keeps the words it was given as records; wakes and replies as the test says."""

    words: list[str] = field(default_factory=list)
    wake: int | None = None
    woken: list[int] = field(default_factory=list)
    forgotten: list[Ticket] = field(default_factory=list)
    failures: list[KafkaError] = field(default_factory=list)
    on_wake: Decision[str] = field(default_factory=Decision)

    def apply(self, record: str) -> None:
        self.words.append(record)

    def wake_at_ms(self) -> int | None:
        return self.wake

    def on_time(self, now_ms: int) -> Decision[str]:
        self.woken.append(now_ms)
        self.wake = None
        return self.on_wake

    def on_append_failed(self, decision: Decision[str], error: KafkaError, now_ms: int) -> Decision[str]:
        self.failures.append(error)
        return Decision(replies=[Reply(reply.ticket, error) for reply in decision.replies])


class NotebookRecords:
    """A word is a record's value; one that begins with "?" is of a later version."""

    def encode(self, record: str, now_ms: int) -> KeyValue:
        return KeyValue(b"word", record.encode())

    def decode(self, item: KeyValue) -> str | None:
        word = (item.value or b"").decode()
        return None if word.startswith("?") else word


def broker_config(folder: Path, **settings: str) -> BrokerConfig:
    """The settings of a broker in `folder`; a name's dots are written as underscores."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    return BrokerConfig.from_settings(
        Settings.load(None, {"offsets.topic.num.partitions": "3", "log.dirs": str(folder), **given})
    )


async def create_topic(broker: Broker, name: str, partitions: int = 1, **configs: str) -> bytes:
    """Create a topic and give its id."""
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ],
    )
    answer = await broker.cluster.create_topics(CreateTopicsRequest(topics=[topic]))
    assert answer.topics[0].error_code == 0
    return answer.topics[0].topic_id


async def delete_topic(broker: Broker, name: str) -> int:
    """Delete a topic and give the error code."""
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name, topic_id=bytes(16))], timeout_ms=1000)
    answer = await broker.cluster.delete_topics(request, knows_deletion_disabled=True)
    return answer.responses[0].error_code


async def change_configs(broker: Broker, resource_type: int, resource_name: str, **configs: str) -> None:
    """Set some settings of a topic (2) or broker (4); a name's dots are written as underscores."""
    entries = [
        IncrementalAlterConfigsEntry(name=name.replace("_", "."), config_operation=0, value=value)
        for name, value in configs.items()
    ]
    resource = IncrementalAlterConfigsResource(
        resource_type=resource_type, resource_name=resource_name, configs=entries
    )
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    answer = await broker.cluster.incremental_alter_configs(request)
    assert answer.responses[0].error_code == 0, answer
