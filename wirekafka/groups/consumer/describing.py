"""ConsumerGroupDescribe: a consumer group as it is, with what members have and what they shall have.

Called by `groups.shard`; nothing here changes anything.

Source: Kafka's ConsumerGroup.asDescribedGroup and ConsumerGroupMember.asConsumerGroupDescribeMember;
KIP-1099 (member types).
"""

from collections.abc import Iterable, Mapping

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.consumer.assignment import in_order, together
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.membership import preferred_assignor
from wirekafka.groups.foreign import ForeignGroup
from wirekafka.groups.topics import Topics
from wirekafka.protocol.apis.consumer_group_describe import (
    DescribedAssignment,
    DescribedConsumerGroup,
    DescribedConsumerMember,
    DescribedTopicPartitions,
)
from wirekafka.protocol.error_codes import ErrorCode

CLASSIC_MEMBER = 0
CONSUMER_MEMBER = 1


def described(
    group_id: str,
    group: ConsumerGroup | ClassicGroup | ForeignGroup | None,
    topics: Topics,
    default_assignor: str,
) -> DescribedConsumerGroup:
    """Describe a group, or answer GROUP_ID_NOT_FOUND when there is no consumer group of the name."""
    if not isinstance(group, ConsumerGroup):
        return DescribedConsumerGroup(
            group_id=group_id,
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"Group {group_id} {'not found' if group is None else 'is not a consumer group'}.",
        )
    return DescribedConsumerGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        # As in Kafka, also where it is one that the broker does not offer any more, and another works.
        assignor_name=preferred_assignor(group.members.values()) or default_assignor,
        members=[_member(topics, group, member) for member in group.members.values()],
    )


def _member(topics: Topics, group: ConsumerGroup, member: ConsumerMember) -> DescribedConsumerMember:
    # What it has yet to give up, it still has.
    current = together(member.assigned, member.partitions_pending_revocation)
    return DescribedConsumerMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client.client_id,
        client_host=member.client.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(topics, current),
        target_assignment=_assignment(topics, group.targets.get(member.member_id, {})),
        member_type=CLASSIC_MEMBER if member.is_classic else CONSUMER_MEMBER,
    )


def _assignment(topics: Topics, partitions: Mapping[bytes, Iterable[int]]) -> DescribedAssignment:
    """Name the topics; one that is there no more is left out."""
    return DescribedAssignment(
        topic_partitions=[
            DescribedTopicPartitions(topic_id=topic_id, topic_name=facts.name, partitions=indexes)
            for topic_id, indexes in in_order(partitions)
            if (facts := topics.with_id(topic_id)) is not None
        ]
    )
