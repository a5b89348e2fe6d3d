"""What is to be done when a deadline of a group shard has come.

Called by `groups.shard`; one function for each kind of deadline, in the folder of the group's kind.

Source: the operations that Kafka's GroupMetadataManager hands to its CoordinatorTimer.
"""

from typing import assert_never

from wirekafka.groups.classic import liveness, rebalance
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.consumer import sessions
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.deadlines import (
    GroupDeadline,
    HeldDeadline,
    JoinDeadline,
    MemberJoinDeadline,
    MemberSyncDeadline,
    RevocationDeadline,
    SessionDeadline,
    SyncDeadline,
)
from wirekafka.protocol.error_codes import ErrorCode


def on_deadline(turn: ConsumerTurn, deadline: GroupDeadline) -> None:
    """Decide what follows; nothing does when the group is gone."""
    consumer_group = turn.consumer_groups.get(deadline.group_id)
    match deadline:
        case HeldDeadline():
            turn.answer_heartbeat(deadline.group_id, deadline.member_id, ErrorCode.NONE)
        case RevocationDeadline():
            if consumer_group is not None:
                sessions.on_revocation_deadline(turn, consumer_group, deadline.member_id)
        case MemberJoinDeadline() | MemberSyncDeadline():
            if consumer_group is not None:
                sessions.on_join_or_sync_deadline(turn, consumer_group, deadline.member_id)
        case SessionDeadline() if consumer_group is not None:
            sessions.on_session_deadline(turn, consumer_group, deadline.member_id)
        case SessionDeadline() | JoinDeadline() | SyncDeadline():
            group = turn.volatile.classic_groups.get(deadline.group_id)
            if group is not None:
                _on_classic_deadline(turn, group, deadline)
        case _:
            assert_never(deadline)


def _on_classic_deadline(
    turn: ConsumerTurn, group: ClassicGroup, deadline: SessionDeadline | JoinDeadline | SyncDeadline
) -> None:
    match deadline:
        case SessionDeadline():
            # One may be left of a consumer group that this group has taken the place of.
            if deadline.member_id in group.members or deadline.member_id in group.pending_members:
                liveness.on_session_deadline(turn, group, deadline.member_id)
        case JoinDeadline():
            rebalance.on_join_deadline(turn, group)
        case SyncDeadline():
            rebalance.on_sync_deadline(turn, group)
        case _:
            assert_never(deadline)
