"""One member of a classic group, and a request of its that waits.

Made by `classic.joining`, `classic.stored` and `consumer.migration`; kept in `classic.group.ClassicGroup`.

Source: Kafka's ClassicGroupMember.
"""

from collections.abc import Collection
from dataclasses import dataclass

from wirekafka.groups.client import Client
from wirekafka.machine import Ticket

Protocols = tuple[tuple[str, bytes], ...]
"""What a member can speak, in its order of preference: name and metadata."""


@dataclass(slots=True)
class Parked:
    """A JoinGroup, SyncGroup or Heartbeat that waits; without a ticket once its client hung up."""

    ticket: Ticket | None


@dataclass(slots=True)
class Member:
    """A member with what it asked for when it last joined."""

    member_id: str
    group_instance_id: str | None
    client: Client
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False
    """Never yet answered a JoinGroup: then waiting for one does not count as being alive."""

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def protocol_names(self) -> list[str]:
        return [name for name, _ in self.protocols]

    def metadata(self, protocol_name: str | None) -> bytes:
        """Give the metadata of one of the member's protocols; KeyError when it has no such."""
        return dict(self.protocols)[protocol_name or ""]

    def vote(self, candidates: Collection[str]) -> str:
        """Name the candidate that the member likes best; it must support one of them."""
        return next(name for name in self.protocol_names if name in candidates)
