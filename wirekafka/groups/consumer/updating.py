"""A member's update: from what it says now to its next assignment.

Called by `heartbeat` for members of the consumer protocol, and by `classic_members` for those of the
classic one, once the member is found. In this order: what it says of itself, the group's epoch, the
target, and the member's own step towards it.

Source: Kafka's GroupMetadataManager (the steps of consumerGroupHeartbeat, and maybeReconcile).
"""

from wirekafka.groups.consumer import metadata, reconciliation, regexes, target
from wirekafka.groups.consumer.group import ConsumerGroup, subscribed_topic_names
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.consumer.membership import Membership
from wirekafka.groups.consumer.reconciliation import Goal, Reported
from wirekafka.groups.consumer.regexes import Outcome, Resolved
from wirekafka.groups.consumer.stored import current_record, member_record
from wirekafka.groups.consumer.target import Target
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.deadlines import RevocationDeadline
from wirekafka.groups.topics import Topics, existing


def update(
    turn: ConsumerTurn,
    group: ConsumerGroup,
    before: ConsumerMember,
    after: ConsumerMember,
    reported: Reported,
) -> ConsumerMember:
    """Decide all that follows from a member being now as `after`, and give its next state.

    `before` is the member as the group has it, or as it is new. Raises INVALID_REGULAR_EXPRESSION, and
    FENCED_MEMBER_EPOCH for a member in a state that a later version wrote.
    """
    if after != before:
        turn.decision.records.append(member_record(group.group_id, after))
    names_changed = after.subscribed_topic_names != before.subscribed_topic_names
    outcome = regexes.refresh(turn, group, before, after)
    goal_epoch, assignment = _target(turn, group, before, after, outcome)
    subscription_changed = names_changed or outcome.has_changed
    if after.is_reconciled_to(goal_epoch) and not subscription_changed:
        return after
    goal = Goal(
        goal_epoch,
        assignment,
        _topic_ids(turn.topics, after, outcome.resolved),
        group.has_owner,
    )
    moved = reconciliation.reconcile(after, goal, reported, subscription_changed=subscription_changed)
    if moved != after:
        turn.decision.records.append(current_record(group.group_id, moved))
        _expect_revocation(turn, group, moved)
    return moved


def _target(
    turn: ConsumerTurn, group: ConsumerGroup, before: ConsumerMember, after: ConsumerMember, outcome: Outcome
) -> Target:
    """Bring the group's epoch and target up to date, and give the member's."""
    names_changed = after.subscribed_topic_names != before.subscribed_topic_names
    bump = turn.calls_for_target or outcome.calls_for_target or names_changed
    may_bump = bump or after.server_assignor_name != before.server_assignor_name
    is_check_due = metadata.is_check_due(turn, group)
    if not may_bump and not is_check_due and group.assignment_epoch >= group.group_epoch:
        return Target(group.assignment_epoch, group.target_of(after.member_id, after.instance_id))
    membership = Membership.with_member(group, after, outcome.resolved)
    bump = bump or (may_bump and _changes_assignor(turn, group, membership))
    group_epoch = group.group_epoch
    if bump or is_check_due:
        group_epoch = metadata.check(turn, group, membership, bump=bump)
    return target.of_member(turn, group, after, membership, group_epoch)


def _changes_assignor(turn: ConsumerTurn, group: ConsumerGroup, membership: Membership) -> bool:
    present = Membership.of(group)
    return target.assignor_name(turn.config, present) != target.assignor_name(turn.config, membership)


def _topic_ids(topics: Topics, member: ConsumerMember, resolved: Resolved) -> frozenset[bytes]:
    names = subscribed_topic_names([member], resolved)
    return frozenset(facts.topic_id for facts in existing(topics, names))


def _expect_revocation(turn: ConsumerTurn, group: ConsumerGroup, member: ConsumerMember) -> None:
    # Members of the classic protocol are to join and sync in time instead.
    if member.is_classic:
        return
    key = RevocationDeadline(group.group_id, member.member_id)
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        turn.schedule(key, member.rebalance_timeout_ms)
    else:
        turn.cancel(key)
