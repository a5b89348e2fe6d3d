"""The target assignment: whether a new one is due, and the records of what is other in it.

Called by `updating`. The assignor runs at once, as part of the heartbeat that calls for it, as in Kafka
4.4: the setting that would hand it to a thread (group.consumer.assignor.offload.enable) is read by nothing.

Source: Kafka's GroupMetadataManager (maybeUpdateTargetAssignment, canComputeNextTargetAssignment) and
TargetAssignmentBuilder; KIP-1263 (the interval between targets).
"""

from collections.abc import Mapping
from typing import NamedTuple

from wirekafka.groups.config import GroupConfig
from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.consumer.assignors import ASSIGNORS, Assignor, AssignorMember
from wirekafka.groups.consumer.group import ConsumerGroup, subscribed_topic_names
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.membership import Membership, preferred_assignor
from wirekafka.groups.consumer.stored import target_epoch_record, target_record
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.java import in_map_order
from wirekafka.groups.topics import TopicFacts, Topics, existing


class Target(NamedTuple):
    """What one member is to have, and since which epoch."""

    epoch: int
    assignment: Assignment


def of_member(
    turn: ConsumerTurn, group: ConsumerGroup, member: ConsumerMember, membership: Membership, group_epoch: int
) -> Target:
    """Give the member's target, after computing a new one for all if that is due."""
    if group.assignment_epoch >= group_epoch or not _may_compute(turn, group):
        return Target(group.assignment_epoch, group.target_of(member.member_id, member.instance_id))
    computed = _assignor(turn.config, membership).assign(*_question(turn.topics, membership))
    for member_id in in_map_order(membership.members):
        assignment = computed.get(member_id, {})
        if membership.targets.get(member_id) != assignment:
            turn.decision.records.append(target_record(group.group_id, member_id, assignment))
    turn.decision.records.append(target_epoch_record(group.group_id, group_epoch, turn.wall_ms))
    return Target(group_epoch, computed.get(member.member_id, {}))


def _may_compute(turn: ConsumerTurn, group: ConsumerGroup) -> bool:
    interval_ms = turn.settings_of(group.group_id).assignment_interval_ms
    if group.assignment_timestamp == 0 or interval_ms == 0:
        return True
    return turn.wall_ms >= group.assignment_timestamp + interval_ms


def assignor_name(config: GroupConfig, membership: Membership) -> str:
    """Name the assignor that members prefer, of those the broker offers; else its first."""
    name = preferred_assignor(membership.members.values())
    offered = config.group_consumer_assignors
    return name if name in offered else offered[0]


def _assignor(config: GroupConfig, membership: Membership) -> Assignor:
    return ASSIGNORS[assignor_name(config, membership)]


def _question(
    topics: Topics, membership: Membership
) -> tuple[dict[str, AssignorMember], dict[bytes, TopicFacts]]:
    """Put members and topics as assignors know them, members in Kafka's order: some results depend on it."""
    asked: dict[bytes, TopicFacts] = {}
    members: dict[str, AssignorMember] = {}
    known: dict[frozenset[str], frozenset[bytes]] = {}
    for member_id in in_map_order(membership.members):
        member = membership.members[member_id]
        names = subscribed_topic_names([member], membership.resolved)
        if names not in known:
            found = {facts.topic_id: facts for facts in existing(topics, names)}
            asked.update(found)
            known[names] = frozenset(found)
        members[member_id] = AssignorMember(
            member_id=member_id,
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            subscribed=known[names],
            assigned=_existing_partitions(membership.targets.get(member_id, {}), asked),
        )
    return members, asked


def _existing_partitions(target: Assignment, topics: Mapping[bytes, TopicFacts]) -> Assignment:
    """Leave out what a log may say that a member is to have, and that its topic has not."""
    counts = {topic_id: topics[topic_id].partition_count for topic_id in target if topic_id in topics}
    if all(max(target[topic_id]) < count for topic_id, count in counts.items()):
        return target
    return {
        topic_id: frozenset(one for one in target[topic_id] if one < count)
        for topic_id, count in counts.items()
        if min(target[topic_id]) < count
    }
