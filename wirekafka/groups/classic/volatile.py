"""`Volatile`: all of a group shard that does not survive a restart.

The groups as they stand between two records (who has joined, who waits), the requests that wait,
and when each member or rebalance runs out of time. `groups.shard` holds it; the files of this
folder change it while they decide.

Source: what Kafka's GroupMetadataManager keeps in ClassicGroup and CoordinatorTimer only.
"""

from dataclasses import dataclass, field

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Parked
from wirekafka.groups.deadlines import Deadlines
from wirekafka.machine import Ticket


@dataclass(frozen=True, slots=True)
class SessionDeadline:
    """A member, or a pending member, must be heard of."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class JoinDeadline:
    """The rebalance goes on without those who have not joined."""

    group_id: str


@dataclass(frozen=True, slots=True)
class SyncDeadline:
    """Members that have not asked for their assignment are dropped."""

    group_id: str


@dataclass(frozen=True, slots=True)
class RetentionDeadline:
    """Expired offsets and groups are looked for."""


@dataclass(frozen=True, slots=True)
class HeldDeadline:
    """The answer to a member's Heartbeat has been held long enough."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class RevocationDeadline:
    """A member of a consumer group must have given up what it was told to."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class MemberJoinDeadline:
    """A classic member of a consumer group must have joined again."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class MemberSyncDeadline:
    """A classic member of a consumer group must have asked for what it was given."""

    group_id: str
    member_id: str


Deadline = (
    SessionDeadline
    | JoinDeadline
    | SyncDeadline
    | RetentionDeadline
    | HeldDeadline
    | RevocationDeadline
    | MemberJoinDeadline
    | MemberSyncDeadline
)


@dataclass(slots=True)
class Volatile:
    """Lost at a restart, and made anew from the records and from what clients send."""

    groups: dict[str, ClassicGroup] = field(default_factory=dict)
    parked: dict[Ticket, Parked] = field(default_factory=dict)
    held_heartbeats: dict[HeldDeadline, Parked] = field(default_factory=dict)
    deadlines: Deadlines[Deadline] = field(default_factory=Deadlines)
    metadata_checks: dict[str, int] = field(default_factory=dict)
    """Consumer group to the epoch at which its topics were last found as they are, or noted as such."""
    new_topics_generation: int = -1
    """The generation of `Topics` at which a topic was last made, as far as was heard."""
