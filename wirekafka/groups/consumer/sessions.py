"""The deadlines of a consumer group's members: by when each must do what, or is let go.

A member must be heard of again, and have given up partitions; one by the classic protocol must have joined
again, and synced after that. Called by `heartbeat` and `classic_members`; by `groups.falling_due` when one
has come, and by `groups.shard` after a restart. One that comes for a member that is gone does nothing; those
that were taken back for a decision that could not be written, `resume` sets again.

Source: Kafka's GroupMetadataManager (scheduleConsumerGroupSessionTimeout,
scheduleConsumerGroupRebalanceTimeout, scheduleConsumerGroupJoinTimeoutIfAbsent,
scheduleConsumerGroupSyncTimeout, onLoaded).
"""

from wirekafka.groups.consumer import leaving
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.deadlines import (
    MemberJoinDeadline,
    MemberSyncDeadline,
    RevocationDeadline,
    SessionDeadline,
)

RETRY_MS = 500
"""How long after a decision that could not be written its deadline comes again."""


def expect_heartbeat(
    turn: ConsumerTurn, group_id: str, member: ConsumerMember, within_ms: int | None = None
) -> None:
    """Give the member its session time-out: its own if it is a classic one, else the group's."""
    delay_ms = turn.settings_of(group_id).session_timeout_ms
    if member.classic is not None:
        delay_ms = member.classic.session_timeout_ms
    turn.schedule(SessionDeadline(group_id, member.member_id), delay_ms if within_ms is None else within_ms)


def expect_join(turn: ConsumerTurn, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Give a member that was told to rejoin its rebalance time-out; being told again gives no more."""
    key = MemberJoinDeadline(group.group_id, member.member_id)
    if key not in turn.volatile.deadlines:
        turn.schedule(key, member.rebalance_timeout_ms)


def expect_sync(turn: ConsumerTurn, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Give a member that has joined its rebalance time-out to fetch its assignment."""
    turn.cancel(MemberJoinDeadline(group.group_id, member.member_id))
    turn.schedule(MemberSyncDeadline(group.group_id, member.member_id), member.rebalance_timeout_ms)


def synced(turn: ConsumerTurn, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Wait no more for the member's SyncGroup."""
    turn.cancel(MemberSyncDeadline(group.group_id, member.member_id))


def resume(turn: ConsumerTurn, group: ConsumerGroup, *, within_ms: int | None = None) -> None:
    """Set the deadlines that members lack, to their usual time or to `within_ms`.

    So it is after a restart, and when what was decided on a deadline, or took it back, was not written.
    """
    for member in group.members.values():
        session = SessionDeadline(group.group_id, member.member_id)
        if session not in turn.volatile.deadlines:
            expect_heartbeat(turn, group.group_id, member, within_ms)
        revocation = RevocationDeadline(group.group_id, member.member_id)
        if _has_to_revoke(member) and revocation not in turn.volatile.deadlines:
            turn.schedule(revocation, member.rebalance_timeout_ms if within_ms is None else within_ms)


def on_session_deadline(turn: ConsumerTurn, group: ConsumerGroup, member_id: str) -> None:
    """Let a member go that was not heard of in time."""
    member = group.members.get(member_id)
    if member is not None:
        leaving.fence(turn, group, [member])


def on_revocation_deadline(turn: ConsumerTurn, group: ConsumerGroup, member_id: str) -> None:
    """Let a member go that has not given up its partitions in time."""
    member = group.members.get(member_id)
    if member is not None and _has_to_revoke(member):
        leaving.fence(turn, group, [member])


def on_join_or_sync_deadline(turn: ConsumerTurn, group: ConsumerGroup, member_id: str) -> None:
    """Let a member go that has not joined or synced in time, if it still is one by the classic protocol."""
    member = group.members.get(member_id)
    if member is not None and member.is_classic:
        leaving.fence(turn, group, [member])


def _has_to_revoke(member: ConsumerMember) -> bool:
    is_asked = member.state is MemberState.UNREVOKED_PARTITIONS
    return is_asked and not member.is_classic and not member.has_left_for_a_while
