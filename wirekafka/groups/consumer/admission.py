"""Who may send a request: the group and the member that it is from, found, or made for who joins.

Called by `heartbeat` and `leaving`, and for members of the classic protocol by `classic_members`. A static
member that takes another's place does so here, by records; a group that is joined may have to be made of a
classic one.

Source: Kafka's GroupMetadataManager (getOrMaybeCreateConsumerGroup,
getOrMaybeSubscribeDynamicConsumerGroupMember, getOrMaybeSubscribeStaticConsumerGroupMember, and its throwIf
methods).
"""

from dataclasses import replace

from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import JOINING_EPOCH, ConsumerMember
from wirekafka.groups.consumer.migration import upgrading
from wirekafka.groups.consumer.reconciliation import Reported
from wirekafka.groups.consumer.stored import (
    current_record,
    member_record,
    member_tombstones,
    target_record,
)
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.records import GroupMetadata
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

# --- the group ---


def existing_group(turn: ConsumerTurn, group_id: str) -> ConsumerGroup:
    """Find a consumer group; raises GROUP_ID_NOT_FOUND when there is none of the name."""
    group = turn.consumer_groups.get(group_id)
    if group is None:
        is_another = group_id in turn.volatile.classic_groups or group_id in turn.foreign_groups
        reason = "is not a consumer group" if is_another else "not found"
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.")
    return group


def group_to_join(turn: ConsumerTurn, group_id: str) -> ConsumerGroup:
    """Find the group, or make it; a classic group of the name gives way to it or becomes it.

    Raises GROUP_ID_NOT_FOUND when there is a classic group with members that may not be upgraded, or a group
    of a type that is not served.
    """
    if group_id in turn.foreign_groups:
        return existing_group(turn, group_id)
    group = turn.consumer_groups.get(group_id)
    if group is not None:
        return group
    classic = turn.volatile.classic_groups.get(group_id)
    if classic is None:
        return ConsumerGroup(group_id)
    if classic.is_empty:
        turn.decision.records.append(GroupMetadata(group_id, None))
        return ConsumerGroup(group_id)
    return upgrading.upgrade(turn, classic)


def check_room(turn: ConsumerTurn, group: ConsumerGroup, member_id: str, instance_id: str | None) -> None:
    """Raise GROUP_MAX_SIZE_REACHED for a member that is new to a full group."""
    limit = turn.config.group_consumer_max_size
    is_known = member_id in group.members or instance_id in group.static_members
    if not is_known and len(group.members) >= limit:
        raise KafkaError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"Group {group.group_id} has the {limit} members that it may have.",
        )


# --- the member ---


def existing_member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    """Find a member; raises UNKNOWN_MEMBER_ID."""
    member = group.members.get(member_id)
    if member is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group.group_id}."
        )
    return member


def existing_static_member(group: ConsumerGroup, instance_id: str, member_id: str) -> ConsumerMember:
    """Find a static member; raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another holds the id."""
    member = group.static_member(instance_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise KafkaError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member "
            f"{member.member_id}.",
        )
    return member


def member_to_join(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    """Find a dynamic member that joins, or joins again; else make it."""
    return group.members.get(member_id) or ConsumerMember(member_id)


def static_member_to_join(
    turn: ConsumerTurn, group: ConsumerGroup, member_id: str, instance_id: str, *, is_classic: bool
) -> ConsumerMember:
    """Find the place of a static member that joins: its own, that of who held its instance id, or a new one.

    Between two members of the consumer protocol, the first must have left: else UNRELEASED_INSTANCE_ID.
    """
    holder = group.static_member(instance_id)
    if holder is None:
        return member_to_join(group, member_id)
    if not is_classic and not holder.is_classic and not holder.has_left_for_a_while:
        raise KafkaError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group because the "
            f"instance id is owned by member {holder.member_id}.",
        )
    successor = replace(holder, member_id=member_id, member_epoch=JOINING_EPOCH, previous_member_epoch=0)
    records = turn.decision.records
    records.extend(member_tombstones(group.group_id, holder.member_id))
    records.append(member_record(group.group_id, successor))
    records.append(target_record(group.group_id, member_id, group.targets.get(holder.member_id, {})))
    records.append(current_record(group.group_id, successor))
    return successor


def check_epoch(member: ConsumerMember, epoch: int, reported: Reported) -> None:
    """Raise FENCED_MEMBER_EPOCH for an epoch that is not the member's.

    Its previous one will do when it has no more than it was given: the answer with the new one was lost.
    """
    if epoch in (JOINING_EPOCH, member.member_epoch):
        return
    is_previous = epoch == member.previous_member_epoch and epoch < member.member_epoch
    if is_previous and reported.is_within(member.assigned):
        return
    which = "greater" if epoch > member.member_epoch else "smaller"
    raise KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"Member {member.member_id} has a {which} member epoch ({epoch}) than the one known here "
        f"({member.member_epoch}); it must give up all its partitions and join again.",
    )
