"""A static member that comes back without its member id takes its old place under a new id.

Called by `classic.joining`.

Source: Kafka's GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin; KIP-345, KIP-814.
"""

from wirekafka.groups.classic import rebalance
from wirekafka.groups.classic.attempt import JoinAttempt
from wirekafka.groups.classic.group import Replacement
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.responses import join_answer, join_error, sync_error
from wirekafka.groups.classic.stored import stored_value
from wirekafka.groups.deadlines import SessionDeadline
from wirekafka.protocol.error_codes import ErrorCode


def replace(attempt: JoinAttempt, old_member_id: str, new_member_id: str) -> None:
    """Fence the old member id, and serve the JoinGroup as that of the new one.

    A stable group whose protocol stays as it was goes on without a rebalance.
    """
    turn, group = attempt.turn, attempt.group
    old, old_leader_id = group.members[old_member_id], group.leader_id
    turn.answer_join(group, old_member_id, join_error(ErrorCode.FENCED_INSTANCE_ID, old_member_id))
    turn.answer_sync(group, old_member_id, sync_error(ErrorCode.FENCED_INSTANCE_ID))
    turn.cancel(SessionDeadline(group.group_id, old_member_id))
    turn.note_sync(group, old_member_id)
    new = group.replace_static(old, new_member_id)
    attempt.park(new)
    turn.expect_heartbeat(group, new)
    if group.is_stable and group.select_protocol() == group.protocol_name:
        group.replacement = Replacement(old, new_member_id)
        _keep_generation(attempt, new, old_leader_id)
    elif group.can_rebalance:
        rebalance.prepare(turn, group)
    else:
        rebalance.complete_if_all_joined(turn, group)


def _keep_generation(attempt: JoinAttempt, member: Member, old_leader_id: str | None) -> None:
    """Write the new member id down, and give the member the generation that it finds.

    A leader of a version that knows no `skip_assignment` is told that the leader is still the old
    id: taking itself for a follower, it does not assign anew.
    """
    turn, group = attempt.turn, attempt.group
    assignments = {other.member_id: other.assignment for other in group.members.values()}
    turn.record_group(group, stored_value(group, assignments))
    if attempt.facts.skip_assignment_known:
        is_leader = member.member_id == group.leader_id
        answer = join_answer(group, member.member_id, skip_assignment=is_leader)
    else:
        answer = join_answer(group, member.member_id, leader_id=old_leader_id, with_members=False)
    turn.answer_join(group, member.member_id, answer)
