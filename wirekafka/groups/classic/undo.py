"""What happens to a group whose record could not be written.

Called by `groups.shard`, after it answered those whom the failed decision answers.

Source: the appendFuture callbacks in Kafka's GroupMetadataManager.
"""

from wirekafka.groups.classic import rebalance
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.responses import join_error
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.deadlines import JoinDeadline, SessionDeadline
from wirekafka.protocol.error_codes import ErrorCode


def undo_record(
    turn: Turn, group: ClassicGroup, code: ErrorCode, *, is_written: bool, is_other_kind: bool = False
) -> None:
    """Take back what the group did in memory for the record it has just decided.

    `is_written` says whether the log holds any earlier record of it, and `is_other_kind` whether it still
    holds the consumer group that was to become this one. A group without a record goes, a
    replaced static member comes back, members without an assignment rebalance. A group that has
    become empty stays so: nobody is in it to be misled.
    """
    value, group.unwritten = group.unwritten, None
    assert value is not None
    if is_other_kind:
        members = list(group.members.values())
        _forget_group(turn, group, code)
        # They go on in the consumer group, and are to be heard of as before.
        for member in members:
            turn.expect_heartbeat(group, member)
    elif group.replacement is not None:
        turn.cancel(SessionDeadline(group.group_id, group.replacement.new_member_id))
        turn.expect_heartbeat(group, group.undo_replacement(group.replacement))
    elif group.is_completing and value.members:
        rebalance.prepare(turn, group)
    elif not is_written and group.generation_id == 0:
        _forget_group(turn, group, code)


def _forget_group(turn: Turn, group: ClassicGroup, code: ErrorCode) -> None:
    for member_id in [*group.members, *sorted(group.pending_members)]:
        turn.answer_join(group, member_id, join_error(code))
        turn.remove_member(group, member_id)
    turn.cancel(JoinDeadline(group.group_id))
    del turn.volatile.classic_groups[group.group_id]
