"""Clients that are not Python: a driver process of their own language, spoken to in JSON lines.

Called by the adapters of Java, kafkajs and franz-go, which only say how their driver is built and started.
The protocol is told in DRIVERS.md beside this file; `driver_process` carries the lines.
Source: DRIVERS.md.
"""

from __future__ import annotations

import base64
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from compat_tests.clients.adapter import (
    CLIENT_LIMIT_BYTES,
    Acks,
    Admin,
    Capability,
    Consumer,
    ConsumerSettings,
    GroupDescription,
    MortalConsumer,
    Partition,
    Place,
    Rebalance,
    Received,
    Record,
    Start,
)
from compat_tests.clients.building import DriverMissing, missing_programs
from compat_tests.clients.driver_process import DriverProcess, shared_driver

Json = dict[str, Any]


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _record(record: Record) -> Json:
    return {
        "key": _encoded(record.key),
        "value": _encoded(record.value),
        "headers": [[name, _encoded(value)] for name, value in record.headers],
        "timestamp_ms": record.timestamp_ms,
    }


def _received(entry: Json) -> Received:
    return Received(
        topic=entry["topic"],
        partition=entry["partition"],
        offset=entry["offset"],
        key=_decoded(entry["key"]),
        value=_decoded(entry["value"]),
        headers=tuple((name, _decoded(value) or b"") for name, value in entry["headers"]),
        timestamp_ms=entry["timestamp_ms"],
    )


def _rebalance(entry: Json) -> Rebalance:
    moved = frozenset((topic, partition) for topic, partition in entry["partitions"])
    return Rebalance(entry["kind"], moved, entry["at_ms"])


def _place(partition: Partition) -> Json:
    return {"topic": partition[0], "partition": partition[1]}


class DriverConsumer:
    """The `Consumer` that lives in a driver, known there by a number."""

    def __init__(self, driver: DriverProcess, bootstrap: str, settings: ConsumerSettings) -> None:
        self._driver = driver
        self._closed = False
        self._number: int = driver.ask(
            "open_consumer",
            bootstrap=bootstrap,
            group=settings.group,
            reset=settings.reset,
            assignor=settings.assignor,
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            auto_commit=settings.auto_commit,
            fetch_wait_ms=settings.fetch_wait_ms,
            instance_id=settings.instance_id,
            server_assignor=settings.server_assignor,
            max_poll_interval_ms=settings.max_poll_interval_ms,
            metadata_max_age_ms=settings.metadata_max_age_ms,
            request_timeout_ms=settings.request_timeout_ms,
        )

    # The answer's type is that of the method called, which only the caller knows.
    def _ask(self, method: str, **fields: Any) -> Any:
        return self._driver.ask(method, consumer=self._number, **fields)

    def assign(self, topic: str, starts: Mapping[int, Start]) -> None:
        self._ask("assign", topic=topic, starts=[[partition, start] for partition, start in starts.items()])

    def subscribe(self, topics: Sequence[str]) -> None:
        self._ask("subscribe", topics=list(topics))

    def subscribe_pattern(self, pattern: str) -> None:
        self._ask("subscribe_pattern", pattern=pattern)

    def assignment(self) -> set[Partition]:
        return {(topic, partition) for topic, partition in self._ask("assignment")}

    def rebalances(self) -> list[Rebalance]:
        return [_rebalance(entry) for entry in self._ask("rebalances")]

    def poll(self, timeout_seconds: float) -> list[Received]:
        return [_received(entry) for entry in self._ask("poll", timeout_ms=int(timeout_seconds * 1000))]

    def seek(self, partition: Partition, start: Start) -> None:
        self._ask("seek", **_place(partition), start=start)

    def position(self, partition: Partition) -> int:
        return int(self._ask("position", **_place(partition)))

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._ask("pause", partitions=[list(partition) for partition in partitions])

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._ask("resume", partitions=[list(partition) for partition in partitions])

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        self._ask("commit", offsets=[[*partition, offset] for partition, offset in offsets.items()])

    def committed(self, partition: Partition) -> int | None:
        offset: int | None = self._ask("committed", **_place(partition))
        return offset

    def beginning_offset(self, partition: Partition) -> int:
        return int(self._ask("beginning_offset", **_place(partition)))

    def end_offset(self, partition: Partition) -> int:
        return int(self._ask("end_offset", **_place(partition)))

    def offset_for_time(self, partition: Partition, timestamp_ms: int) -> int | None:
        offset: int | None = self._ask("offset_for_time", **_place(partition), timestamp_ms=timestamp_ms)
        return offset

    def close(self) -> None:
        if not self._closed and self._driver.is_alive:
            self._ask("close_consumer")
        self._closed = True


class MortalDriverConsumer(DriverConsumer):
    """The `MortalConsumer`: it has a driver process for itself alone."""

    def __init__(self, command: Sequence[str], bootstrap: str, settings: ConsumerSettings) -> None:
        self._own = DriverProcess(command)
        super().__init__(self._own, bootstrap, settings)

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._own.close()

    def kill(self) -> None:
        self._own.kill()

    def freeze(self) -> None:
        self._own.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._own.send_signal(signal.SIGCONT)


class DriverAdmin:
    """The `Admin` in a driver, which keeps what it needs for a bootstrap until `close_client`."""

    def __init__(self, driver: DriverProcess, bootstrap: str) -> None:
        self._driver = driver
        self._bootstrap = bootstrap

    def _ask(self, method: str, **fields: Any) -> Any:
        return self._driver.ask(method, bootstrap=self._bootstrap, **fields)

    def create_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        self._ask("create_topic", name=name, partition_count=partition_count, configs=dict(configs))

    def delete_topic(self, name: str) -> None:
        self._ask("delete_topic", name=name)

    def list_topics(self) -> set[str]:
        return set(self._ask("list_topics"))

    def describe_topic(self, name: str) -> set[int]:
        return set(self._ask("describe_topic", name=name))

    def create_partitions(self, name: str, total_count: int) -> None:
        self._ask("create_partitions", name=name, total_count=total_count)

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        return dict(self._ask("describe_configs", topic=topic))

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        self._ask("alter_configs", topic=topic, configs=dict(configs))

    def list_groups(self) -> set[str]:
        return set(self._ask("list_groups"))

    def describe_group(self, group: str) -> GroupDescription:
        found = self._ask("describe_group", group=group)
        return GroupDescription(found["state"], found["member_count"])

    def find_groups(self, *, state: str | None = None, kind: str | None = None) -> set[str]:
        return set(self._ask("find_groups", state=state, kind=kind))

    def delete_group(self, group: str) -> None:
        self._ask("delete_group", group=group)

    def group_offsets(self, group: str) -> dict[Partition, int]:
        found = self._ask("group_offsets", group=group)
        return {(topic, partition): offset for topic, partition, offset in found}

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        wanted = [[*partition, offset] for partition, offset in offsets.items()]
        self._ask("alter_group_offsets", group=group, offsets=wanted)

    def delete_group_offsets(self, group: str, partition: Partition) -> None:
        self._ask("delete_group_offsets", group=group, partitions=[list(partition)])

    def alter_group_configs(self, group: str, configs: Mapping[str, str]) -> None:
        self._ask("alter_group_configs", group=group, configs=dict(configs))


class DriverClient(ABC):
    """What every adapter of a driver inherits; it adds `name`, `not_supported`, `programs` and `build`."""

    name: ClassVar[str]
    not_supported: ClassVar[Mapping[Capability, str]]
    programs: ClassVar[Sequence[str]]
    """What must be on the PATH to build and run the driver."""

    @classmethod
    @abstractmethod
    def build(cls) -> list[str]:
        """Give the command that runs the driver, building it unless it is built. Raises DriverMissing."""

    @classmethod
    def missing(cls) -> str | None:
        """Say in one line why this client cannot be used here; None when it can."""
        if (reason := missing_programs(cls.programs)) is not None:
            return reason
        try:
            cls.build()
        except DriverMissing as reason_given:
            return str(reason_given)
        return None

    @classmethod
    def version(cls) -> str:
        """Give the library's version and its runtime's, as the driver tells them."""
        return str(shared_driver(cls.build()).ask("version"))

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._command = self.build()
        self._driver = shared_driver(self._command)

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
        places = self._driver.ask(
            "produce",
            bootstrap=self._bootstrap,
            topic=topic,
            records=[_record(record) for record in records],
            codec=codec,
            acks=acks,
            idempotent=idempotent,
            partition=partition,
            max_request_bytes=CLIENT_LIMIT_BYTES,
        )
        return [] if acks == "0" else [(number, offset) for number, offset in places]

    def consumer(self, settings: ConsumerSettings) -> Consumer:
        return DriverConsumer(self._driver, self._bootstrap, settings)

    def mortal_consumer(self, settings: ConsumerSettings) -> MortalConsumer:
        return MortalDriverConsumer(self._command, self._bootstrap, settings)

    def admin(self) -> Admin:
        return DriverAdmin(self._driver, self._bootstrap)

    def close(self) -> None:
        if self._driver.is_alive:
            self._driver.ask("close_client", bootstrap=self._bootstrap)
