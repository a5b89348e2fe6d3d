"""Reconciliation: the next step of one member from what it has to its target.

A member first gives up what it shall not have, and only then goes to the target's epoch; a partition is given
to it when its former owner has let it go. Called by `updating` and `classic_members`; pure data in and out.

Source: Kafka's CurrentAssignmentBuilder; KIP-848 (the member's side of a rebalance).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from wirekafka.groups.consumer.assignment import (
    Assignment,
    OwnedPartitions,
    from_topics,
    overlap,
    together,
)
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.protocol.apis.consumer_group_heartbeat import HeartbeatTopicPartitions
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


@dataclass(frozen=True, slots=True)
class Reported:
    """The partitions that a member said it has; None when it did not say."""

    topics: Iterable[HeartbeatTopicPartitions] | None

    @property
    def is_nothing(self) -> bool:
        """Whether it said that it has none."""
        return self.topics is not None and not from_topics(self.topics)

    def may_have(self, partitions: OwnedPartitions) -> bool:
        """Whether it may still use one of these; who does not say may."""
        return self.topics is None or overlap(from_topics(self.topics), partitions)

    def is_within(self, partitions: OwnedPartitions) -> bool:
        """Whether it said what it has, and that is among these."""
        if self.topics is None:
            return False
        return all(
            frozenset(topic.partitions) <= partitions[topic.topic_id].keys()
            if topic.topic_id in partitions
            else False
            for topic in self.topics
        )


@dataclass(frozen=True, slots=True)
class Goal:
    """Where a member is to go, and what stands in its way."""

    epoch: int
    target: Assignment
    subscribed: frozenset[bytes]
    """The ids of the topics that the member reads; of others it shall have nothing."""
    has_owner: Callable[[bytes, int], bool]
    """Whether a partition is some member's, or has yet to be given up by it."""


def reconcile(
    member: ConsumerMember, goal: Goal, reported: Reported, *, subscription_changed: bool
) -> ConsumerMember:
    """Give the member's next state, which is the present one when it can go no further.

    Raises FENCED_MEMBER_EPOCH for a state that is not known here, unless the member has given up all.
    """
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch != goal.epoch:
                return _advance(member, member.member_epoch, goal, reported)
            return _drop_unsubscribed(member, goal, reported) if subscription_changed else member
        case MemberState.UNREVOKED_PARTITIONS:
            if not reported.may_have(member.partitions_pending_revocation):
                return _advance(member, member.member_epoch, goal, reported)
            return _drop_unsubscribed(member, goal, reported) if subscription_changed else member
        case MemberState.UNRELEASED_PARTITIONS:
            return _advance(member, member.member_epoch, goal, reported)
        case MemberState.UNKNOWN:
            if not reported.is_nothing:
                raise KafkaError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    f"Member {member.member_id} is in a state that this version does not know; "
                    "it must give up its partitions and join again.",
                )
            return _advance(member, goal.epoch, goal, reported)


def _drop_unsubscribed(member: ConsumerMember, goal: Goal, reported: Reported) -> ConsumerMember:
    """Let the member give up the topics that it no longer reads, whatever its target says."""
    kept = {topic: owned for topic, owned in member.assigned.items() if topic in goal.subscribed}
    if len(kept) == len(member.assigned):
        return member
    dropped = {topic: owned for topic, owned in member.assigned.items() if topic not in goal.subscribed}
    pending = together(member.partitions_pending_revocation, dropped)
    if reported.may_have(pending):
        return member.moved_to(
            MemberState.UNREVOKED_PARTITIONS, member.member_epoch, assigned=kept, pending_revocation=pending
        )
    return replace(member, previous_member_epoch=member.member_epoch, assigned=kept)


def _advance(member: ConsumerMember, epoch: int, goal: Goal, reported: Reported) -> ConsumerMember:
    """Go to the target, or as far as partitions to be given up, or to be waited for, allow."""
    target = {topic: wanted for topic, wanted in goal.target.items() if topic in goal.subscribed}
    kept, revoked = _split(member.assigned, target)
    if revoked and reported.may_have(revoked):
        return member.moved_to(
            MemberState.UNREVOKED_PARTITIONS, epoch, assigned=kept, pending_revocation=revoked
        )
    gained, is_waiting = _released(member, kept, target, goal)
    return member.moved_to(
        MemberState.UNRELEASED_PARTITIONS if is_waiting else MemberState.STABLE,
        goal.epoch,
        assigned=together(kept, gained),
        pending_revocation={},
    )


def _split(assigned: OwnedPartitions, target: Assignment) -> tuple[OwnedPartitions, OwnedPartitions]:
    """Part what a member has into what it keeps and what it gives up."""
    kept: dict[bytes, dict[int, int]] = {}
    revoked: dict[bytes, dict[int, int]] = {}
    for topic_id, partitions in assigned.items():
        wanted = target.get(topic_id, frozenset())
        for partition, since in partitions.items():
            side = kept if partition in wanted else revoked
            side.setdefault(topic_id, {})[partition] = since
    return kept, revoked


def _released(
    member: ConsumerMember, kept: OwnedPartitions, target: Assignment, goal: Goal
) -> tuple[OwnedPartitions, bool]:
    """Find what the member may be given now, and whether it has to wait for more."""
    gained: dict[bytes, dict[int, int]] = {}
    is_waiting = False
    for topic_id, wanted in target.items():
        own = member.partitions_pending_revocation.get(topic_id, {})
        for partition in sorted(wanted.difference(kept.get(topic_id, ()))):
            # What this member itself had to give up is its own to take back.
            if goal.has_owner(topic_id, partition) and partition not in own:
                is_waiting = True
            else:
                gained.setdefault(topic_id, {})[partition] = goal.epoch
    return gained, is_waiting
