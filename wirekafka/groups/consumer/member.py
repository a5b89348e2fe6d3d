"""`ConsumerMember`: one member of a consumer group as the log has it.

Made and replaced where it is decided what becomes of a member, and by `stored`, which applies that.

Source: Kafka's ConsumerGroupMember, ModernGroupMember and MemberState.
"""

from dataclasses import dataclass, field, replace
from enum import IntEnum

from wirekafka.groups.client import Client
from wirekafka.groups.consumer.assignment import OwnedPartitions
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata

JOINING_EPOCH = 0
"""A member's epoch in its first heartbeat."""
LEAVING_EPOCH = -1
"""A member's epoch in its last heartbeat."""
STATIC_LEAVING_EPOCH = -2
"""A static member's epoch in its last heartbeat, when it will be back under the same instance id."""


class MemberState(IntEnum):
    """How far a member is on its way to its target; the numbers are those of the log."""

    STABLE = 0
    """It has reached the epoch it was told of."""
    UNREVOKED_PARTITIONS = 1
    """It must give up partitions before it may go on."""
    UNRELEASED_PARTITIONS = 2
    """It waits for partitions that others have not given up yet."""
    UNKNOWN = 127
    """Written by a later version than this."""

    @classmethod
    def of_number(cls, number: int) -> "MemberState":
        """Read the log's number."""
        return {state.value: state for state in cls}.get(number, cls.UNKNOWN)


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """What a member said of itself, its epochs and what it owns."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client: Client = field(default_factory=lambda: Client("", ""))
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str | None = ""
    """Empty or None without a regular expression; Kafka writes the empty one, and reads both."""
    server_assignor_name: str | None = None
    classic: ClassicMemberMetadata | None = None
    """Set for a member that speaks the classic protocol."""
    state: MemberState = MemberState.STABLE
    member_epoch: int = 0
    previous_member_epoch: int = -1
    assigned: OwnedPartitions = field(default_factory=dict)
    partitions_pending_revocation: OwnedPartitions = field(default_factory=dict)

    @property
    def is_classic(self) -> bool:
        return self.classic is not None

    @property
    def has_left_for_a_while(self) -> bool:
        """Whether this static member went, and will be back."""
        return self.member_epoch == STATIC_LEAVING_EPOCH

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.member_epoch == epoch

    def assigned_at(self, topic_id: bytes, partition: int) -> int | None:
        """The epoch at which the member was given a partition that it owns or has yet to give up.

        None when it has no such partition.
        """
        epoch = self.assigned.get(topic_id, {}).get(partition)
        if epoch is not None:
            return epoch
        return self.partitions_pending_revocation.get(topic_id, {}).get(partition)

    def moved_to(
        self,
        state: MemberState,
        epoch: int,
        *,
        assigned: OwnedPartitions,
        pending_revocation: OwnedPartitions,
    ) -> "ConsumerMember":
        """Give the member in its next state; the epoch it had becomes the previous one."""
        return replace(
            self,
            state=state,
            member_epoch=epoch,
            previous_member_epoch=self.member_epoch,
            assigned=assigned,
            partitions_pending_revocation=pending_revocation,
        )
