"""The one synchronous face behind which every client is used, and the values that cross it.

Implemented by the files beside this one, called by `compat_tests/stories`. A face is small on purpose:
it says what a story needs, never what a client could do besides.
Source: the intersection of kafka-python, aiokafka, confluent-kafka and kcat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, IntEnum
from typing import ClassVar, Literal, Protocol

Acks = Literal["0", "1", "all"]
Start = int | Literal["beginning", "end"]
Partition = tuple[str, int]
Place = tuple[int, int]
Header = tuple[str, bytes]

DEADLINE_SECONDS = 20.0
# A client's own limit, above the broker's default, so that it is the broker that refuses a record.
CLIENT_LIMIT_BYTES = 10_000_000


class Capability(Enum):
    """What a story may ask of a client; an adapter lists what its client lacks in `not_supported`."""

    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"
    RECORD_TIMESTAMP = "chosen record timestamps"
    HEADER_ORDER = "order of headers with repeated names"
    SEEK = "seek"
    POSITION = "position"
    PAUSE = "pause and resume"
    COMMIT = "commit and committed"
    RANGE = "range"
    ROUND_ROBIN = "roundrobin"
    STICKY = "sticky"
    COOPERATIVE_STICKY = "cooperative-sticky"
    SERVER_SIDE_ASSIGNOR = "consumer"
    TOPIC_LISTING = "list and describe topics"
    TOPIC_ADMIN = "create and delete topics"
    DESCRIBE_CONFIGS = "describe configs"
    ALTER_CONFIGS = "alter configs"
    GROUP_ADMIN = "list and describe groups"
    GROUP_FILTERS = "list groups by state and type"
    GROUP_DELETION = "delete groups"
    GROUP_CONFIGS = "alter group configs"
    OFFSET_LISTING = "list a group's offsets"
    OFFSET_ALTERATION = "alter a group's offsets"
    OFFSET_DELETION = "delete a group's offsets"
    STATIC_MEMBERSHIP = "static membership"
    STATIC_RELEASE = "leaving an instance id to the member that comes next, by KIP-848"
    STATIC_FENCING = "telling that an instance id has another holder"
    FULL_GROUP = "telling that a group is full"
    ABSENCE = "staying in a classic group while its broker is away"
    REBALANCE_LISTENER = "rebalance listener"
    REBALANCES_IN_POLL = "rebalances in poll"
    READS_ON = "reading on in a cooperative rebalance"
    EARLY_SUBSCRIPTION = "subscription to a topic that is not there yet"
    GROWTH = "taking up what is added to a subscription"
    SHORT_POLLS = "join a group by short polls"
    PATTERN = "subscription by pattern"
    SERVER_SIDE_PATTERN = "pattern that the broker alone reads"


class Code(IntEnum):
    """The protocol's error codes that stories expect."""

    UNKNOWN_TOPIC_OR_PARTITION = 3
    MESSAGE_TOO_LARGE = 10
    INVALID_TOPIC = 17
    UNKNOWN_MEMBER_ID = 25
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_CONFIG = 40
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    UNRELEASED_INSTANCE_ID = 111
    INVALID_REGULAR_EXPRESSION = 128


class NotSupported(Exception):
    """A story asked a client for what it lacks, without saying that it needs it (`needs`)."""

    def __init__(self, client: type[Client], capability: Capability) -> None:
        super().__init__(f"{client.name} {client.not_supported[capability]}: mark the story with needs(...)")


class BrokerError(Exception):
    """A client's report that the broker refused something, reduced to the protocol's error code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Record:
    """One record to be produced; `timestamp_ms` None leaves the time to the client."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """One record as a consumer saw it."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """How to open a consumer; `assignor` is a Kafka assignor name, or `consumer` for KIP-848.

    `server_assignor` is the assignor that a member by KIP-848 asks the broker for, `max_poll_interval_ms` how
    long a member may take between polls, or, with clients that go by something else, for a rebalance;
    without a `request_timeout_ms` a request may take as long as the client has it.
    """

    group: str | None = None
    reset: Literal["earliest", "latest"] = "earliest"
    assignor: str = "range"
    session_timeout_ms: int = 10_000
    auto_commit: bool = False
    fetch_wait_ms: int = 100
    instance_id: str | None = None
    server_assignor: str | None = None
    max_poll_interval_ms: int = 300_000
    metadata_max_age_ms: int = 300_000
    request_timeout_ms: int | None = None

    @property
    def heartbeat_interval_ms(self) -> int:
        """Give the heartbeat interval: short, since by heartbeats a member learns of a rebalance."""
        return min(self.session_timeout_ms // 4, 200)

    @property
    def request_timeout(self) -> dict[str, int]:
        """Give the request time-out as a setting of Python's clients; none where they keep their own."""
        return {} if self.request_timeout_ms is None else {"request_timeout_ms": self.request_timeout_ms}


@dataclass(frozen=True, slots=True)
class Rebalance:
    """What a rebalance gave a member or took from it, and when, by the wall clock."""

    kind: Literal["assigned", "revoked"]
    partitions: frozenset[Partition]
    at_ms: float

    @classmethod
    def now(cls, kind: Literal["assigned", "revoked"], partitions: Iterable[Partition]) -> Rebalance:
        """Note what happens at this moment."""
        return cls(kind, frozenset(partitions), datetime.now(UTC).timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group's state as the broker names it (`Stable`, `Empty`), and how many members it has."""

    state: str
    member_count: int


class Consumer(Protocol):
    """One consumer, alone or a member of a group."""

    def assign(self, topic: str, starts: Mapping[int, Start]) -> None:
        """Read these partitions; on return the start of each is fixed, also where it is `end`."""

    def subscribe(self, topics: Sequence[str]) -> None:
        """Join the group for these topics; the assignment comes with later polls."""

    def subscribe_pattern(self, pattern: str) -> None:
        """Join the group for the topics whose whole name matches, also those yet to come."""

    def assignment(self) -> set[Partition]:
        """Give the partitions this consumer holds now."""

    def rebalances(self) -> list[Rebalance]:
        """Give all that rebalances gave this member or took from it, as its listener was told."""

    def poll(self, timeout_seconds: float) -> list[Received]:
        """Give what has arrived, waiting at most that long for the first record."""

    def seek(self, partition: Partition, start: Start) -> None:
        """Go on reading from `start`."""

    def position(self, partition: Partition) -> int:
        """Give the offset of the next record to be read."""

    def pause(self, partitions: Sequence[Partition]) -> None:
        """Stop delivering from these partitions."""

    def resume(self, partitions: Sequence[Partition]) -> None:
        """Deliver from these partitions again."""

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Commit these offsets and wait for the answer."""

    def committed(self, partition: Partition) -> int | None:
        """Give the group's committed offset; None where there is none."""

    def beginning_offset(self, partition: Partition) -> int:
        """Give the first offset of the partition."""

    def end_offset(self, partition: Partition) -> int:
        """Give the offset after the last record."""

    def offset_for_time(self, partition: Partition, timestamp_ms: int) -> int | None:
        """Give the first offset with that timestamp or a later one; None (or the end) where there is none."""

    def close(self) -> None:
        """Commit if so set, leave the group, and drop the connections; harmless when repeated."""


class MortalConsumer(Consumer, Protocol):
    """A consumer in a process of its own, so that it can die."""

    def kill(self) -> None:
        """End the process at once: nothing is committed, the group is not told."""

    def freeze(self) -> None:
        """Stop the process where it stands, its connections open."""

    def thaw(self) -> None:
        """Let the process go on."""


class Admin(Protocol):
    """Administration through the client; refusals are raised as `BrokerError`."""

    def create_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Create a topic with one replica."""

    def delete_topic(self, name: str) -> None:
        """Delete a topic."""

    def list_topics(self) -> set[str]:
        """Give the names of all topics."""

    def describe_topic(self, name: str) -> set[int]:
        """Give the partitions that have a leader; raises UNKNOWN_TOPIC_OR_PARTITION."""

    def create_partitions(self, name: str, total_count: int) -> None:
        """Grow a topic to `total_count` partitions."""

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        """Give every config of a topic with its value."""

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        """Set these configs of a topic; of its others nothing is said: old clients put them back."""

    def list_groups(self) -> set[str]:
        """Give the ids of all groups."""

    def find_groups(self, *, state: str | None = None, kind: str | None = None) -> set[str]:
        """Give the ids of the groups in this state (`Stable`), of this type (`consumer`)."""

    def describe_group(self, group: str) -> GroupDescription:
        """Give a group's state and size."""

    def delete_group(self, group: str) -> None:
        """Delete a group; raises NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""

    def group_offsets(self, group: str) -> dict[Partition, int]:
        """Give all offsets a group has committed."""

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """Commit these offsets for a group; raises UNKNOWN_MEMBER_ID where it has members."""

    def delete_group_offsets(self, group: str, partition: Partition) -> None:
        """Forget what a group has committed for a partition; raises GROUP_SUBSCRIBED_TO_TOPIC."""

    def alter_group_configs(self, group: str, configs: Mapping[str, str]) -> None:
        """Set these configs of a group."""


class Client(Protocol):
    """One client library or program, pointed at one broker."""

    name: ClassVar[str]
    not_supported: ClassVar[Mapping[Capability, str]]

    def __init__(self, bootstrap: str) -> None: ...

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
        """Produce and wait for delivery; give each record's (partition, offset).

        In the order of `records` if `partition` is chosen; with acks 0 no broker tells and the list is empty.
        Raises BrokerError with the code of the first record that was refused.
        """

    def consumer(self, settings: ConsumerSettings) -> Consumer:
        """Open a consumer."""

    def mortal_consumer(self, settings: ConsumerSettings) -> MortalConsumer:
        """Open a consumer in a process of its own."""

    def admin(self) -> Admin:
        """Give the administration face; raises NotSupported where the client has none."""

    def close(self) -> None:
        """Close what the client itself holds open; consumers are closed by who opened them."""
