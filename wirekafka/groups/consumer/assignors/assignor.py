"""What an assignor is given and what it gives.

Called by `groups.consumer.target`, through the table of this folder.

Source: Kafka's ConsumerGroupPartitionAssignor, GroupSpec and MemberSubscription; KIP-848.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.topics import TopicFacts


@dataclass(frozen=True, slots=True)
class AssignorMember:
    """A member of a group, as far as an assignment depends on it."""

    member_id: str
    instance_id: str | None
    rack_id: str | None
    subscribed: frozenset[bytes]
    """Ids of the topics it subscribes to and that exist."""
    assigned: Assignment
    """Its target until now."""


Members = Mapping[str, AssignorMember]
TopicsById = Mapping[bytes, TopicFacts]
Assignments = dict[str, Assignment]


class Assignor(Protocol):
    @property
    def name(self) -> str: ...

    def assign(self, members: Members, topics: TopicsById) -> Assignments:
        """Give every member its new target; `topics` has each topic that one of them subscribes to.

        Each partition of these topics goes to exactly one of the members that subscribe to its topic. Who
        gets one more than others may go by the order of `members`.
        """
        ...


def all_subscribe_alike(members: Members) -> bool:
    """Whether every member subscribes to the same topics, which is the common and the simple case."""
    return len({member.subscribed for member in members.values()}) <= 1
