"""The way of a rebalance: gather the members, announce a generation, await the assignment.

Called by who has changed a group, in this folder and in `consumer.migration`; by `groups.falling_due` when a
join or sync deadline has come, and by `groups.shard` after a restart.

Source: Kafka's GroupMetadataManager (prepareRebalance, completeClassicGroupJoin,
tryCompleteInitialRebalanceElseSchedule, expirePendingSync).
"""

from wirekafka.groups.classic.group import ClassicGroup, InitialDelay
from wirekafka.groups.classic.responses import join_answer, sync_error
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.classic.stored import stored_value
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.deadlines import JoinDeadline, SyncDeadline
from wirekafka.protocol.error_codes import ErrorCode


def prepare_or_complete(turn: Turn, group: ClassicGroup) -> None:
    """Begin a rebalance where the state allows it; else see whether the present one is complete."""
    if group.can_rebalance:
        prepare(turn, group)
    else:
        complete_if_all_joined(turn, group)


def prepare(turn: Turn, group: ClassicGroup) -> None:
    """Begin a rebalance. An empty group waits longer, so that its first members find each other."""
    if group.is_completing:
        _drop_assignments(turn, group)
    group.pending_sync.clear()
    turn.cancel(SyncDeadline(group.group_id))
    is_initial = group.is_empty
    group.move_to(ClassicGroupState.PREPARING_REBALANCE, turn.wall_ms)
    for member_id in group.members:
        turn.answer_heartbeat(group.group_id, member_id, ErrorCode.REBALANCE_IN_PROGRESS)
    if is_initial:
        _start_initial_delay(turn, group)
    elif group.all_joined:
        complete(turn, group)
    else:
        turn.schedule(JoinDeadline(group.group_id), group.rebalance_timeout_ms)


def _drop_assignments(turn: Turn, group: ClassicGroup) -> None:
    for member in group.members.values():
        member.assignment = b""
        if turn.answer_sync(group, member.member_id, sync_error(ErrorCode.REBALANCE_IN_PROGRESS)):
            turn.expect_heartbeat(group, member)


def _start_initial_delay(turn: Turn, group: ClassicGroup) -> None:
    delay_ms = turn.config.group_initial_rebalance_delay_ms
    group.initial_delay = InitialDelay(delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
    group.new_member_added = False
    turn.schedule(JoinDeadline(group.group_id), delay_ms)


def complete_if_all_joined(turn: Turn, group: ClassicGroup) -> None:
    """Complete the join phase when nobody is missing; an initial rebalance waits its time out."""
    if group.is_preparing and not group.is_initial_rebalance and group.all_joined:
        complete(turn, group)


def on_join_deadline(turn: Turn, group: ClassicGroup) -> None:
    """Complete the join phase; an initial one waits once more when members came and time is left."""
    delay = group.initial_delay
    if delay is None or not group.new_member_added or delay.remaining_ms == 0:
        complete(turn, group)
        return
    group.new_member_added = False
    next_delay_ms = min(turn.config.group_initial_rebalance_delay_ms, delay.remaining_ms)
    group.initial_delay = InitialDelay(next_delay_ms, max(delay.remaining_ms - delay.delay_ms, 0))
    turn.schedule(JoinDeadline(group.group_id), next_delay_ms)


def complete(turn: Turn, group: ClassicGroup) -> None:
    """End the join phase: drop dynamic members who did not come, and start the next generation.

    Static members may be away until their session times out. When nobody came at all, those are who
    is left, and the phase is prolonged.
    """
    turn.cancel(JoinDeadline(group.group_id))
    group.initial_delay = None
    absent = [m for m in group.members.values() if m.member_id not in group.awaiting_join]
    for member in absent:
        if not member.is_static:
            turn.remove_member(group, member.member_id)
    if not group.elect_joined_leader() and group.members:
        turn.schedule(JoinDeadline(group.group_id), max(group.rebalance_timeout_ms, 1))
        return
    group.start_generation(turn.wall_ms)
    if group.is_empty:
        turn.record_group(group, stored_value(group, {}))
    else:
        _announce_generation(turn, group)


def _announce_generation(turn: Turn, group: ClassicGroup) -> None:
    for member in group.followers_first():
        turn.answer_join(group, member.member_id, join_answer(group, member.member_id))
        turn.expect_heartbeat(group, member)
        member.is_new = False
        group.pending_sync.add(member.member_id)
    turn.schedule(SyncDeadline(group.group_id), group.rebalance_timeout_ms)


def on_sync_deadline(turn: Turn, group: ClassicGroup) -> None:
    """Drop the members that never asked for their assignment, and rebalance without them."""
    for member_id in sorted(group.pending_sync):
        turn.remove_member(group, member_id)
    prepare(turn, group)
