"""Deadlines of a consumer group's members: to be heard of again, and to have given up partitions.

Called by `heartbeat` and `groups.shard`. A deadline that comes for a member that is gone by then does
nothing: not all are taken back, so that none is missing when a decision could not be written.

Source: Kafka's GroupMetadataManager (scheduleConsumerGroupSessionTimeout,
scheduleConsumerGroupRebalanceTimeout, onLoaded).
"""

from wirekafka.groups.classic.volatile import RevocationDeadline, SessionDeadline
from wirekafka.groups.consumer import leaving
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.consumer.turn import ConsumerTurn

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


def _has_to_revoke(member: ConsumerMember) -> bool:
    is_asked = member.state is MemberState.UNREVOKED_PARTITIONS
    return is_asked and not member.is_classic and not member.has_left_for_a_while
