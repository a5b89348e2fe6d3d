"""Heartbeat, LeaveGroup and the session time-out: members that stay and members that go.

Called by `groups.shard`, by `held` for a Heartbeat that may wait, and by `groups.falling_due`.

Source: Kafka's GroupMetadataManager (classicGroupHeartbeat, classicGroupLeave,
expireClassicGroupMemberHeartbeat).
"""

from wirekafka.groups.classic import rebalance
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.turn import Turn
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from wirekafka.protocol.error_codes import ErrorCode


def heartbeat(turn: Turn, request: HeartbeatRequest) -> ErrorCode:
    """Take a sign of life, and say whether the member is to go on, to rejoin, or to start anew."""
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    group = turn.volatile.classic_groups.get(request.group_id)
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    refusal = group.member_refusal(request.member_id, request.group_instance_id)
    if refusal is not None:
        return refusal
    if request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    turn.expect_heartbeat(group, group.members[request.member_id])
    return ErrorCode.REBALANCE_IN_PROGRESS if group.is_preparing else ErrorCode.NONE


def leave(turn: Turn, request: LeaveGroupRequest, *, one_member: bool) -> LeaveGroupResponse:
    """Let the named members go, each with its own error code.

    With `one_member` (LeaveGroup v0-2) the request names one in its own `member_id`, and that
    member's code is that of the response.
    """
    if not request.group_id:
        return LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    group = turn.volatile.classic_groups.get(request.group_id)
    members = [MemberIdentity(member_id=request.member_id)] if one_member else request.members
    codes = [_leave_one(turn, group, member) for member in members]
    if group is not None and ErrorCode.NONE in codes and not group.is_empty:
        rebalance.prepare_or_complete(turn, group)
    if one_member:
        return LeaveGroupResponse(error_code=codes[0])
    return LeaveGroupResponse(
        error_code=ErrorCode.NONE,
        members=[
            MemberResponse(
                member_id=member.member_id, group_instance_id=member.group_instance_id, error_code=code
            )
            for member, code in zip(members, codes, strict=True)
        ],
    )


def _leave_one(turn: Turn, group: ClassicGroup | None, identity: MemberIdentity) -> ErrorCode:
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    member_id = identity.member_id
    if not member_id:
        # An operator may remove a static member by its instance id alone.
        instance_id = identity.group_instance_id
        if instance_id is None or instance_id not in group.static_members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        member_id = group.static_members[instance_id]
    elif member_id not in group.pending_members:
        refusal = group.member_refusal(member_id, identity.group_instance_id)
        if refusal is not None:
            return refusal
    turn.remove_member(group, member_id)
    return ErrorCode.NONE


def on_session_deadline(turn: Turn, group: ClassicGroup, member_id: str) -> None:
    """Let a member, or a pending one, go that was not heard of in time.

    A member that waits for JoinGroup or SyncGroup is alive by that, unless it is new.
    """
    member = group.members.get(member_id)
    if member is not None and group.is_alive_by_waiting(member):
        return
    assert member is not None or member_id in group.pending_members
    turn.remove_member(group, member_id)
    if group.is_preparing:
        if group.all_joined:
            rebalance.complete(turn, group)
    elif member is not None:
        rebalance.prepare_or_complete(turn, group)
