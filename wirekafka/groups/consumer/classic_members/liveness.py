"""Heartbeat and LeaveGroup of members that a consumer group has by the classic protocol.

Called by `groups.shard`.

Source: Kafka's GroupMetadataManager (classicGroupHeartbeatToConsumerGroup,
classicGroupLeaveToConsumerGroup) and ConsumerGroup.waitingOnUnreleasedPartition.
"""

from wirekafka.groups.consumer import admission, leaving, metadata, sessions
from wirekafka.groups.consumer.classic_members import validation
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def heartbeat(turn: ConsumerTurn, group: ConsumerGroup, request: HeartbeatRequest) -> ErrorCode:
    """Take a sign of life, and say whether the member is to go on, to rejoin, or to start anew."""
    try:
        member, _ = validation.find_member(
            group, request.member_id, request.group_instance_id, request.generation_id
        )
    except KafkaError as error:
        return error.code
    sessions.expect_heartbeat(turn, group.group_id, member)
    if not (_must_rejoin(group, member) or _is_left_to_classic_members(turn, group)):
        return ErrorCode.NONE
    sessions.expect_join(turn, group, member)
    return ErrorCode.REBALANCE_IN_PROGRESS


def _must_rejoin(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether there is a newer target, or something to be given up, or all that was waited for is free."""
    if member.member_epoch < group.assignment_epoch:
        return True
    if member.state is MemberState.UNRELEASED_PARTITIONS:
        return not _waits_for_others(group, member)
    return member.state is MemberState.UNREVOKED_PARTITIONS


def _is_left_to_classic_members(turn: ConsumerTurn, group: ConsumerGroup) -> bool:
    """Whether there is no target for the members and topics of now, and no heartbeat of others will bring it.

    With Kafka such a group stays as it is until somebody joins: where the migration policy keeps it from
    becoming a classic group, the partitions of a member that left are read by nobody.
    """
    if group.classic_member_count < len(group.members):
        return False
    return group.group_epoch > group.assignment_epoch or metadata.have_topics_changed(turn, group)


def _waits_for_others(group: ConsumerGroup, member: ConsumerMember) -> bool:
    return any(
        partition not in member.assigned.get(topic_id, {}) and group.has_owner(topic_id, partition)
        for topic_id, partitions in group.target_of(member.member_id).items()
        for partition in partitions
    )


def leave(
    turn: ConsumerTurn, group: ConsumerGroup, request: LeaveGroupRequest, *, one_member: bool
) -> LeaveGroupResponse:
    """Let the named members go, each with its own error code.

    With `one_member` (LeaveGroup v0-2) the request names one in its own `member_id`, and that
    member's code is that of the response.
    """
    identities = [MemberIdentity(member_id=request.member_id)] if one_member else request.members
    leaving_members: dict[str, ConsumerMember] = {}
    responses = []
    for identity in identities:
        response = MemberResponse(
            member_id=identity.member_id,
            group_instance_id=identity.group_instance_id,
            error_code=ErrorCode.NONE,
        )
        responses.append(response)
        try:
            member = _find(group, identity)
            leaving_members[member.member_id] = member
        except KafkaError as error:
            response.error_code = error.code
    leaving.fence(turn, group, list(leaving_members.values()))
    if one_member:
        return LeaveGroupResponse(error_code=responses[0].error_code)
    return LeaveGroupResponse(error_code=ErrorCode.NONE, members=responses)


def _find(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    """Find who is to leave; an operator may name a static member by its instance id alone."""
    if identity.group_instance_id is None:
        return admission.existing_member(group, identity.member_id)
    holder = group.static_member(identity.group_instance_id)
    if holder is not None and not identity.member_id:
        return holder
    return admission.existing_static_member(group, identity.group_instance_id, identity.member_id)
