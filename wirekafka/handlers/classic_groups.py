"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup: membership of classic groups.

JoinGroup: from v4 on a member is given its id before it may join (KIP-394), from v9 on a leader may
be told to skip the assignment (KIP-814). SyncGroup: from v5 on the protocol is checked (KIP-559).
LeaveGroup: from v3 on many members may leave at once (KIP-345).

Source: Kafka's KafkaApis.handleJoinGroupRequest and its kin; the rules are in `groups`.
"""

import uuid
from typing import cast

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.patience import bears_held_heartbeats
from wirekafka.handlers.registry import always, handles
from wirekafka.protocol.apis.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.apis.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupResponse
from wirekafka.protocol.apis.leave_group import LEAVE_GROUP, LeaveGroupRequest, LeaveGroupResponse
from wirekafka.protocol.apis.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupResponse
from wirekafka.protocol.error_codes import KafkaError

_MEMBER_ID_REQUIRED_SINCE = 4
_PROTOCOL_NAME_NULL_SINCE = 7
_SKIP_ASSIGNMENT_SINCE = 9
_PROTOCOL_CHECKED_SINCE = 5
_MANY_LEAVE_SINCE = 3


def _refuse_join(request: JoinGroupRequest, error: KafkaError) -> JoinGroupResponse:
    return _join_refusal(request, error, protocol_name="")


def _join_refusal(
    request: JoinGroupRequest, error: KafkaError, *, protocol_name: str | None
) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=error.code, protocol_name=protocol_name, leader="", member_id=request.member_id, members=[]
    )


@handles(JOIN_GROUP, refusal=_refuse_join, may_wait=always)
async def join_group(request: JoinGroupRequest, context: RequestContext) -> JoinGroupResponse:
    try:
        response = cast(JoinGroupResponse, await _ask_to_join(request, context))
    except KafkaError as error:
        response = _join_refusal(request, error, protocol_name=None)
    if response.protocol_name is None and context.version < _PROTOCOL_NAME_NULL_SINCE:
        response.protocol_name = ""
    return response


async def _ask_to_join(request: JoinGroupRequest, context: RequestContext) -> object:
    context.broker.coordination.check_fits(request.group_id, _said_bytes(request))
    return await context.broker.coordination.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.join(
            request,
            ticket=ticket,
            now_ms=now_ms,
            client=context.group_client,
            new_member_uuid="" if request.member_id else str(uuid.uuid4()),
            member_id_required=context.version >= _MEMBER_ID_REQUIRED_SINCE,
            skip_assignment_known=context.version >= _SKIP_ASSIGNMENT_SINCE,
        ),
    )


def _said_bytes(request: JoinGroupRequest) -> int:
    """How many bytes the request takes at the least where it is stored: by one of its protocols."""
    named_bytes = sum(1 + len(protocol.name) for protocol in request.protocols)
    return max([named_bytes, *(len(protocol.metadata) for protocol in request.protocols)])


def _refuse_sync(request: SyncGroupRequest, error: KafkaError) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error.code, assignment=b"")


@handles(SYNC_GROUP, refusal=_refuse_sync, may_wait=always)
async def sync_group(request: SyncGroupRequest, context: RequestContext) -> SyncGroupResponse:
    reply = await context.broker.coordination.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.sync(
            request,
            ticket=ticket,
            now_ms=now_ms,
            protocol_required=context.version >= _PROTOCOL_CHECKED_SINCE,
        ),
    )
    return cast(SyncGroupResponse, reply)


def _refuse_heartbeat(request: HeartbeatRequest, error: KafkaError) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=error.code)


@handles(HEARTBEAT, refusal=_refuse_heartbeat, may_wait=bears_held_heartbeats)
async def heartbeat(request: HeartbeatRequest, context: RequestContext) -> HeartbeatResponse:
    if not bears_held_heartbeats(context):
        return context.broker.coordination.tell(
            request.group_id, lambda shard, now_ms: shard.heartbeat(request, now_ms=now_ms)
        )
    reply = await context.broker.coordination.ask_until(
        request.group_id,
        lambda shard, ticket, now_ms: shard.hold_heartbeat(request, ticket=ticket, now_ms=now_ms),
        context.connection.acquaintance.more_is_said,
        lambda shard, now_ms: shard.release_heartbeat(request, now_ms=now_ms),
    )
    return cast(HeartbeatResponse, reply)


def _refuse_leave(request: LeaveGroupRequest, error: KafkaError) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=error.code)


@handles(LEAVE_GROUP, refusal=_refuse_leave)
async def leave_group(request: LeaveGroupRequest, context: RequestContext) -> LeaveGroupResponse:
    reply = await context.broker.coordination.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.leave(
            request, ticket=ticket, now_ms=now_ms, one_member=context.version < _MANY_LEAVE_SINCE
        ),
    )
    return cast(LeaveGroupResponse, reply)
