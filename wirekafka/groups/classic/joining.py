"""JoinGroup: what it does in each state.

Called by `groups.shard`; static members that come back are in `classic.static_members`.

Source: Kafka's GroupMetadataManager.classicGroupJoin and below; KIP-345, KIP-394.
"""

from collections.abc import Iterable

from wirekafka.groups.classic import rebalance, static_members
from wirekafka.groups.classic.attempt import JoinAttempt, JoinFacts
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.responses import join_answer, join_error
from wirekafka.groups.classic.stored import new_group_value
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.config import GroupConfig
from wirekafka.groups.deadlines import SessionDeadline
from wirekafka.groups.records import GroupRecord
from wirekafka.protocol.apis.join_group import JoinGroupRequest
from wirekafka.protocol.error_codes import ErrorCode

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""How long a new member may wait in JoinGroup before it is dropped; it should ask again."""


def join(
    turn: Turn, request: JoinGroupRequest, facts: JoinFacts, in_place_of: Iterable[GroupRecord] = ()
) -> None:
    """Serve a JoinGroup, at once or when its rebalance is complete.

    A group that is not there comes into being with its first member, and a record says so. A consumer
    group that has no members makes way for it: `in_place_of` are its tombstones, and the new group takes
    over what the old one has committed. A group of a type that is not served is INCONSISTENT_GROUP_PROTOCOL.
    """
    refusal = request_refusal(turn.config, request)
    if refusal is not None:
        turn.reply(facts.ticket, join_error(refusal, request.member_id))
        return
    if request.group_id in turn.foreign_groups:
        turn.reply(facts.ticket, join_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        return
    group = turn.volatile.classic_groups.get(request.group_id)
    if group is not None:
        _enter(JoinAttempt(turn, group, request, facts))
        return
    if request.member_id:
        turn.reply(facts.ticket, join_error(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id))
        return
    turn.decision.records.extend(in_place_of)
    group = ClassicGroup(request.group_id, state_since_ms=turn.wall_ms)
    turn.volatile.classic_groups[request.group_id] = group
    value = new_group_value(group)
    _enter(JoinAttempt(turn, group, request, facts))
    turn.record_group(group, value)


def request_refusal(config: GroupConfig, request: JoinGroupRequest) -> ErrorCode | None:
    """Judge a JoinGroup by itself, whatever its group is."""
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    low, high = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
    if not low <= request.session_timeout_ms <= high:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return None


def _enter(attempt: JoinAttempt) -> None:
    group, request = attempt.group, attempt.request
    if not _has_room(attempt):
        attempt.turn.remove_member(group, request.member_id)
        attempt.answer(join_error(ErrorCode.GROUP_MAX_SIZE_REACHED))
    elif not group.supports(request.protocol_type, [protocol.name for protocol in request.protocols]):
        attempt.answer(join_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id))
    elif request.member_id:
        _rejoin(attempt)
    else:
        _join_anew(attempt)


def _has_room(attempt: JoinAttempt) -> bool:
    """Whether the group may take the member in, which it may not at `group.max.size`.

    While a rebalance gathers members, those count who have joined it, so that of a group that is
    too large the last to come are turned away.
    """
    group, member_id = attempt.group, attempt.request.member_id
    limit = attempt.turn.config.group_max_size
    if group.is_empty:
        return True
    if group.is_preparing:
        return member_id in group.awaiting_join or len(group.awaiting_join) < limit
    return member_id in group.members or len(group.members) < limit


def _join_anew(attempt: JoinAttempt) -> None:
    group, instance_id = attempt.group, attempt.request.group_instance_id
    member_id = attempt.new_member_id()
    if instance_id is not None and instance_id in group.static_members:
        static_members.replace(attempt, group.static_members[instance_id], member_id)
    elif instance_id is None and attempt.facts.member_id_required:
        # KIP-394: so that a client that gives up and comes again does not leave ghosts behind.
        group.pending_members.add(member_id)
        deadline = SessionDeadline(group.group_id, member_id)
        attempt.turn.schedule(deadline, attempt.request.session_timeout_ms)
        attempt.answer(join_error(ErrorCode.MEMBER_ID_REQUIRED, member_id))
    else:
        _add(attempt, member_id)


def _add(attempt: JoinAttempt, member_id: str) -> None:
    turn, group, request = attempt.turn, attempt.group, attempt.request
    member = Member(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client=attempt.facts.client,
        rebalance_timeout_ms=attempt.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocols=attempt.protocols,
        is_new=True,
    )
    if group.is_initial_rebalance:
        group.new_member_added = True
    if not group.members:
        group.protocol_type = request.protocol_type
    group.add(member)
    turn.park_join(group, member_id, attempt.facts.ticket)
    turn.expect_heartbeat(group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance.prepare_or_complete(turn, group)


def _rejoin(attempt: JoinAttempt) -> None:
    group, request = attempt.group, attempt.request
    if request.member_id in group.pending_members:
        _rejoin_as_pending(attempt)
        return
    refusal = group.member_refusal(request.member_id, request.group_instance_id)
    if refusal is not None:
        attempt.answer(join_error(refusal, request.member_id))
        return
    member = group.members[request.member_id]
    if _may_keep_generation(attempt, member):
        # It may not have seen the answer to its last JoinGroup, and needs it to send SyncGroup.
        with_members = group.is_completing
        attempt.answer(join_answer(group, member.member_id, with_members=with_members))
        return
    attempt.park(member)
    rebalance.prepare_or_complete(attempt.turn, group)


def _rejoin_as_pending(attempt: JoinAttempt) -> None:
    if attempt.request.group_instance_id is None:
        _add(attempt, attempt.request.member_id)
    else:
        # Ids of pending members are given to dynamic members only; Kafka fails in the same way.
        attempt.answer(join_error(ErrorCode.UNKNOWN_SERVER_ERROR))


def _may_keep_generation(attempt: JoinAttempt, member: Member) -> bool:
    """Whether the present generation still fits; a leader of a stable group may ask for a new one."""
    group = attempt.group
    if group.is_preparing or member.protocols != attempt.protocols:
        return False
    return group.is_completing or member.member_id != group.leader_id
