"""The records of consumer groups: what each does to a group, and how to make them.

`groups.applying` applies; the files of this folder that decide make records, and never change a group.
`tombstones` and `member_tombstones` are in the order in which Kafka will have them.

Source: the `replay` methods of Kafka's GroupMetadataManager for these records, and its
GroupCoordinatorRecordHelpers.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from wirekafka.groups.client import Client
from wirekafka.groups.consumer.assignment import (
    Assignment,
    OwnedPartitions,
    from_topics,
    in_order,
    owned_from_topics,
)
from wirekafka.groups.consumer.group import ConsumerGroup, ResolvedRegularExpression
from wirekafka.groups.consumer.member import LEAVING_EPOCH, ConsumerMember, MemberState
from wirekafka.groups.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from wirekafka.protocol.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataValue,
    CurrentTopicPartitions,
    TargetTopicPartitions,
)

NO_ASSIGNMENT_EPOCH = -1
"""The assignment epoch of a group between the tombstones that delete it."""


def apply(groups: dict[str, ConsumerGroup], record: ConsumerGroupRecord) -> None:
    """Change the groups by one record; what deletes something that is not there does nothing.

    A compacted log may have any of these without those that went before it.
    """
    group = groups.get(record.group_id)
    if group is None:
        if record.value is None:
            return
        group = groups[record.group_id] = ConsumerGroup(record.group_id)
    match record:
        case ConsumerGroupMetadata(value=ConsumerGroupMetadataValue() as epoch):
            group.group_epoch, group.metadata_hash = epoch.epoch, epoch.metadata_hash
        case ConsumerGroupMetadata():
            del groups[record.group_id]
        case ConsumerGroupPartitionMetadata():
            group.has_partition_metadata = record.value is not None
        case ConsumerGroupTargetAssignmentMetadata(value=value):
            group.assignment_epoch = NO_ASSIGNMENT_EPOCH if value is None else value.assignment_epoch
            group.assignment_timestamp = 0 if value is None else value.assignment_timestamp
        case ConsumerGroupTargetAssignmentMember(
            member_id=member_id, value=ConsumerGroupTargetAssignmentMemberValue() as target
        ):
            group.targets[member_id] = from_topics(target.topic_partitions)
        case ConsumerGroupTargetAssignmentMember():
            group.targets.pop(record.member_id, None)
        case ConsumerGroupRegularExpression(
            regular_expression=regex, value=ConsumerGroupRegularExpressionValue() as found
        ):
            group.resolved_regexes[regex] = ResolvedRegularExpression(
                frozenset(found.topics), found.version, found.timestamp
            )
        case ConsumerGroupRegularExpression():
            group.resolved_regexes.pop(record.regular_expression, None)
        case ConsumerGroupMemberMetadata() | ConsumerGroupCurrentMemberAssignment():
            _apply_member(group, record)
        case _:
            assert_never(record)


def _apply_member(
    group: ConsumerGroup, record: ConsumerGroupMemberMetadata | ConsumerGroupCurrentMemberAssignment
) -> None:
    old = group.members.get(record.member_id)
    if old is None:
        if record.value is None:
            return
        old = ConsumerMember(record.member_id)
    match record:
        case ConsumerGroupMemberMetadata(value=ConsumerGroupMemberMetadataValue() as said):
            group.put_member(_described(old, said))
        case ConsumerGroupMemberMetadata():
            group.remove_member(record.member_id)
        case ConsumerGroupCurrentMemberAssignment(
            value=ConsumerGroupCurrentMemberAssignmentValue() as current
        ):
            group.put_member(_assigned(old, current))
        case ConsumerGroupCurrentMemberAssignment():
            group.put_member(_without_assignment(old))
        case _:
            assert_never(record)


def _described(member: ConsumerMember, value: ConsumerGroupMemberMetadataValue) -> ConsumerMember:
    return replace(
        member,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client=Client(value.client_id, value.client_host),
        subscribed_topic_names=frozenset(value.subscribed_topic_names),
        subscribed_topic_regex=value.subscribed_topic_regex,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        server_assignor_name=value.server_assignor,
        classic=value.classic_member_metadata,
    )


def _without_assignment(member: ConsumerMember) -> ConsumerMember:
    return replace(
        member,
        member_epoch=LEAVING_EPOCH,
        previous_member_epoch=LEAVING_EPOCH,
        assigned={},
        partitions_pending_revocation={},
    )


def _assigned(member: ConsumerMember, value: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerMember:
    return replace(
        member,
        member_epoch=value.member_epoch,
        previous_member_epoch=value.previous_member_epoch,
        state=MemberState.of_number(value.state),
        assigned=owned_from_topics(value.assigned_partitions, value.member_epoch),
        partitions_pending_revocation=owned_from_topics(
            value.partitions_pending_revocation, value.member_epoch
        ),
    )


def member_record(group_id: str, member: ConsumerMember) -> ConsumerGroupRecord:
    """Store what a member says of itself."""
    value = ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client.client_id,
        client_host=member.client.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor_name,
        classic_member_metadata=member.classic,
    )
    return ConsumerGroupMemberMetadata(group_id, member.member_id, value)


def epoch_record(group_id: str, group_epoch: int, metadata_hash: int) -> ConsumerGroupRecord:
    """Store the group's epoch, and the hash of the topics that its members read."""
    value = ConsumerGroupMetadataValue(epoch=group_epoch, metadata_hash=metadata_hash)
    return ConsumerGroupMetadata(group_id, value)


def target_record(group_id: str, member_id: str, target: Assignment) -> ConsumerGroupRecord:
    """Store what a member is to have."""
    topics = [
        TargetTopicPartitions(topic_id=topic_id, partitions=partitions)
        for topic_id, partitions in in_order(target)
    ]
    value = ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topics)
    return ConsumerGroupTargetAssignmentMember(group_id, member_id, value)


def target_epoch_record(group_id: str, assignment_epoch: int, wall_ms: int) -> ConsumerGroupRecord:
    """Store the epoch of the target, and when it was computed; 0 lets the next one come at any time."""
    value = ConsumerGroupTargetAssignmentMetadataValue(
        assignment_epoch=assignment_epoch, assignment_timestamp=wall_ms
    )
    return ConsumerGroupTargetAssignmentMetadata(group_id, value)


def current_record(group_id: str, member: ConsumerMember) -> ConsumerGroupRecord:
    """Store a member's epochs, and what it has."""
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=member.state,
        assigned_partitions=_owned_topics(member.assigned),
        partitions_pending_revocation=_owned_topics(member.partitions_pending_revocation),
    )
    return ConsumerGroupCurrentMemberAssignment(group_id, member.member_id, value)


def _owned_topics(owned: OwnedPartitions) -> list[CurrentTopicPartitions]:
    return [
        CurrentTopicPartitions(
            topic_id=topic_id,
            partitions=partitions,
            assignment_epochs=[owned[topic_id][partition] for partition in partitions],
        )
        for topic_id, partitions in in_order(owned)
    ]


def regex_record(group_id: str, regex: str, found: ResolvedRegularExpression) -> ConsumerGroupRecord:
    """Store which topics a regular expression matches."""
    value = ConsumerGroupRegularExpressionValue(
        topics=sorted(found.topics), version=found.version, timestamp=found.timestamp
    )
    return ConsumerGroupRegularExpression(group_id, regex, value)


def regex_tombstone(group_id: str, regex: str) -> ConsumerGroupRecord:
    """Forget a regular expression that nobody subscribes to any more."""
    return ConsumerGroupRegularExpression(group_id, regex, None)


def partition_metadata_tombstone(group_id: str) -> ConsumerGroupRecord:
    """Delete the record in whose place there is the metadata hash."""
    return ConsumerGroupPartitionMetadata(group_id, None)


def member_tombstones(group_id: str, member_id: str) -> Iterator[ConsumerGroupRecord]:
    """Delete a member."""
    yield ConsumerGroupCurrentMemberAssignment(group_id, member_id, None)
    yield ConsumerGroupTargetAssignmentMember(group_id, member_id, None)
    yield ConsumerGroupMemberMetadata(group_id, member_id, None)


def tombstones(group: ConsumerGroup) -> Iterator[ConsumerGroupRecord]:
    """Delete a group with all that belongs to it, but for its offsets."""
    group_id = group.group_id
    for member_id in group.members:
        yield ConsumerGroupCurrentMemberAssignment(group_id, member_id, None)
    for member_id in dict.fromkeys([*group.members, *group.targets]):
        yield ConsumerGroupTargetAssignmentMember(group_id, member_id, None)
    yield ConsumerGroupTargetAssignmentMetadata(group_id, None)
    for member_id in group.members:
        yield ConsumerGroupMemberMetadata(group_id, member_id, None)
    for regex in group.resolved_regexes:
        yield ConsumerGroupRegularExpression(group_id, regex, None)
    yield ConsumerGroupPartitionMetadata(group_id, None)
    yield ConsumerGroupMetadata(group_id, None)
