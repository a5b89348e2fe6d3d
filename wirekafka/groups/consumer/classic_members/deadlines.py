"""By when a classic member must have joined again, and synced after that; else it is out.

Called by `joining`, `syncing` and `liveness`, and by `groups.shard` when one is due.

Source: Kafka's GroupMetadataManager (scheduleConsumerGroupJoinTimeoutIfAbsent,
scheduleConsumerGroupSyncTimeout).
"""

from wirekafka.groups.classic.volatile import MemberJoinDeadline, MemberSyncDeadline
from wirekafka.groups.consumer import leaving
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.turn import ConsumerTurn


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


def on_deadline(turn: ConsumerTurn, group: ConsumerGroup, member_id: str) -> None:
    """Let a member go that has not joined or synced in time, if it still is one by the classic protocol."""
    member = group.members.get(member_id)
    if member is not None and member.is_classic:
        leaving.fence(turn, group, [member])
