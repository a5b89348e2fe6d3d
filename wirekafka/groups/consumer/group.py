"""`ConsumerGroup`: epochs, members, targets and owners of one group, as the log has them.

Changed by `stored.apply` alone; read by every file of this folder, which decide by making records.

Source: Kafka's ModernGroup, ConsumerGroup and ResolvedRegularExpression.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.consumer.member import ConsumerMember


class ConsumerGroupState(Enum):
    """What a consumer group is doing; the values are Kafka's words for it."""

    EMPTY = "Empty"
    """It has no members."""
    ASSIGNING = "Assigning"
    """Its target is older than its epoch."""
    RECONCILING = "Reconciling"
    """Some members have not reached the target yet."""
    STABLE = "Stable"
    """All members have reached the target."""
    DEAD = "Dead"
    """It is not there."""


@dataclass(frozen=True, slots=True)
class ResolvedRegularExpression:
    """The topics that a regular expression was found to match."""

    topics: frozenset[str]
    version: int
    """The generation of `Topics` that was searched."""
    timestamp: int
    """Wall time in milliseconds."""


@dataclass(slots=True)
class ConsumerGroup:
    """One group; `put_member` and `remove_member` keep the indexes over the members."""

    group_id: str
    group_epoch: int = 1
    metadata_hash: int = 0
    assignment_epoch: int = 1
    assignment_timestamp: int = 0
    """Wall time in milliseconds at which the target was computed; 0 when never, or by an older Kafka."""
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    targets: dict[str, Assignment] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    """Instance id to member id."""
    resolved_regexes: dict[str, ResolvedRegularExpression] = field(default_factory=dict)
    partition_epochs: dict[bytes, dict[int, int]] = field(default_factory=dict)
    """Topic id to partition to the member epoch of who owns it, or has yet to give it up."""
    classic_member_count: int = 0
    """How many of the members speak the classic protocol."""
    has_partition_metadata: bool = False
    """Whether the log has a record of the kind that Kafka wrote before 4.1 and must be deleted now."""

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def subscribed_topic_names(self) -> frozenset[str]:
        """Every topic that a member names, or that a regular expression of the group matches."""
        names = subscribed_topic_names(self.members.values(), {})
        return names.union(*(found.topics for found in self.resolved_regexes.values()))

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """The member that holds an instance id."""
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def target_of(self, member_id: str, instance_id: str | None = None) -> Assignment:
        """The member's target; that of a static member by whoever holds its instance id."""
        if instance_id is not None:
            member_id = self.static_members.get(instance_id, "")
        return self.targets.get(member_id, {})

    def owner_epoch(self, topic_id: bytes, partition: int) -> int | None:
        """The epoch of the member that has a partition; None when nobody has it."""
        return self.partition_epochs.get(topic_id, {}).get(partition)

    def has_owner(self, topic_id: bytes, partition: int) -> bool:
        """Whether a partition is some member's, or has yet to be given up by it."""
        return self.owner_epoch(topic_id, partition) is not None

    def put_member(self, member: ConsumerMember) -> None:
        """Take in a member, or its next state."""
        old = self.members.get(member.member_id)
        if old is not None:
            self._forget(old)
        self.members[member.member_id] = member
        self.classic_member_count += member.is_classic
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        self._own(member)

    def remove_member(self, member_id: str) -> None:
        """Let a member go; it need not be there."""
        old = self.members.pop(member_id, None)
        if old is not None:
            self._forget(old)

    def _forget(self, member: ConsumerMember) -> None:
        self.classic_member_count -= member.is_classic
        self._disown(member)
        # A successor under the same instance id may have been taken in before.
        if member.instance_id and self.static_members.get(member.instance_id) == member.member_id:
            del self.static_members[member.instance_id]

    def _own(self, member: ConsumerMember) -> None:
        for owned in (member.assigned, member.partitions_pending_revocation):
            for topic_id, partitions in owned.items():
                epochs = self.partition_epochs.setdefault(topic_id, {})
                for partition in partitions:
                    # In a compacted log, who was there later may come first.
                    epochs[partition] = max(epochs.get(partition, member.member_epoch), member.member_epoch)

    def _disown(self, member: ConsumerMember) -> None:
        for owned in (member.assigned, member.partitions_pending_revocation):
            for topic_id, partitions in owned.items():
                epochs = self.partition_epochs.get(topic_id, {})
                for partition in partitions:
                    if epochs.get(partition) == member.member_epoch:
                        del epochs[partition]
                if not epochs:
                    self.partition_epochs.pop(topic_id, None)


def subscribed_topic_names(
    members: Iterable[ConsumerMember], resolved: Mapping[str, ResolvedRegularExpression]
) -> frozenset[str]:
    """Unite what members name with what their regular expressions were found to match."""
    names: set[str] = set()
    regexes: set[str] = set()
    for member in members:
        names |= member.subscribed_topic_names
        if member.subscribed_topic_regex:
            regexes.add(member.subscribed_topic_regex)
    return frozenset(names).union(*(resolved[regex].topics for regex in regexes if regex in resolved))
