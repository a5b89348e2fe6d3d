"""SyncGroup: what it does in each state.

Called by `groups.shard`.

Source: Kafka's GroupMetadataManager.classicGroupSync and below; KIP-559 (protocol type and name).
"""

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.responses import sync_answer, sync_error
from wirekafka.groups.classic.stored import stored_value
from wirekafka.groups.classic.turn import Turn
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.sync_group import SyncGroupRequest
from wirekafka.protocol.error_codes import ErrorCode


def sync(turn: Turn, request: SyncGroupRequest, ticket: Ticket, *, protocol_required: bool) -> None:
    """Serve a SyncGroup: at once in a stable group, else when the leader has assigned.

    The leader's request carries the assignment; with it the group is written down, and everyone
    who waits is answered.
    """
    group = turn.volatile.classic_groups.get(request.group_id)
    refusal = _refusal(request, group, protocol_required)
    if refusal is not None:
        turn.reply(ticket, sync_error(refusal))
        return
    assert group is not None
    turn.note_sync(group, request.member_id)
    if group.is_stable:
        turn.reply(ticket, sync_answer(group, group.members[request.member_id].assignment))
        return
    turn.park_sync(group, request.member_id, ticket)
    if request.member_id == group.leader_id:
        _assign(turn, group, {one.member_id: one.assignment for one in request.assignments})


def _refusal(
    request: SyncGroupRequest, group: ClassicGroup | None, protocol_required: bool
) -> ErrorCode | None:
    if protocol_required and None in (request.protocol_type, request.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if group is None or group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID
    refusal = group.member_refusal(request.member_id, request.group_instance_id)
    if refusal is not None:
        return refusal
    if request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    if _differ(request.protocol_type, group.protocol_type):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if _differ(request.protocol_name, group.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.REBALANCE_IN_PROGRESS if group.is_preparing else None


def _differ(said: str | None, known: str | None) -> bool:
    return said is not None and known is not None and said != known


def _assign(turn: Turn, group: ClassicGroup, assignments: dict[str, bytes]) -> None:
    turn.record_group(group, stored_value(group, assignments))
    for member in group.followers_first():
        answer = sync_answer(group, assignments.get(member.member_id, b""))
        if turn.answer_sync(group, member.member_id, answer):
            # While it waited its session could not expire; now it counts again.
            turn.expect_heartbeat(group, member)
