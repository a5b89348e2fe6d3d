"""Online downgrade: a consumer group that only classic members are left in becomes a classic group.

Called by `leaving` when others leave, and by `classic_members` when a static member comes back by the classic
protocol. The members keep their targets as assignments, and the group's epoch becomes its generation; then a
rebalance lets them elect a leader who assigns.

Source: Kafka's GroupMetadataManager (validateOnlineDowngradeWithFencedMembers,
validateOnlineDowngradeWithReplacedMember, convertToClassicGroup) and ClassicGroup.fromConsumerGroup; KIP-848.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from wirekafka.groups.classic import rebalance as classic_rebalance
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.classic.stored import stored_value, value_without_leader
from wirekafka.groups.consumer import stored
from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE, assignment_bytes


def downgrades(
    turn: ConsumerTurn, group: ConsumerGroup, leaving: Collection[ConsumerMember], *, joins: bool = False
) -> bool:
    """Whether the group becomes a classic one when these leave, and, with `joins`, a classic member joins."""
    staying = _staying(group, leaving)
    size = len(staying) + joins
    return (
        size > 0
        and all(member.is_classic for member in staying)
        and _have_a_common_protocol(staying)
        and turn.config.group_consumer_migration_policy.allows_downgrade
        and size <= turn.config.group_max_size
    )


def downgrade(
    turn: ConsumerTurn,
    group: ConsumerGroup,
    leaving: Collection[ConsumerMember],
    *,
    joining: ConsumerMember | None = None,
    rebalance: bool = True,
) -> None:
    """Make a classic group of those who stay, and of `joining`, which takes the place of who leaves.

    What was recorded before of `joining` in this decision is deleted with the group. With `rebalance` the
    record names no leader, so that a broker that restarts before there is one has the members join again.
    """
    members = _staying(group, leaving)
    targets = dict(group.targets)
    if joining is not None:
        members.append(joining)
        targets[joining.member_id] = group.target_of(joining.member_id, joining.instance_id)
    turn.decision.records.extend(stored.tombstones(_with_successor(group, leaving, joining)))
    classic = _downgraded(turn, group, members, targets)
    assignments = {member.member_id: member.assignment for member in classic.members.values()}
    written = value_without_leader if rebalance else stored_value
    turn.record_group(classic, written(classic, assignments))
    turn.volatile.classic_groups[group.group_id] = classic
    _move_deadlines(turn, group, classic)
    if rebalance:
        classic_rebalance.prepare(turn, classic)


def _have_a_common_protocol(members: Iterable[ConsumerMember]) -> bool:
    """Whether they could vote. A join sees to it, but a log may have members that no join of ours let in."""
    offers = [
        {offered.name for offered in member.classic.supported_protocols}
        for member in members
        if member.classic is not None
    ]
    return not offers or bool(set.intersection(*offers))


def _staying(group: ConsumerGroup, leaving: Iterable[ConsumerMember]) -> list[ConsumerMember]:
    gone = {member.member_id for member in leaving}
    return [member for member in group.members.values() if member.member_id not in gone]


def _with_successor(
    group: ConsumerGroup, leaving: Collection[ConsumerMember], joining: ConsumerMember | None
) -> ConsumerGroup:
    """See the group as it is in the log by now: who joins has replaced the one that leaves."""
    if joining is None:
        return group
    gone = {member.member_id for member in leaving}
    return replace(
        group,
        members={member.member_id: member for member in [*_staying(group, leaving), joining]},
        targets={member_id: target for member_id, target in group.targets.items() if member_id not in gone},
    )


def _downgraded(
    turn: ConsumerTurn,
    group: ConsumerGroup,
    members: Iterable[ConsumerMember],
    targets: dict[str, Assignment],
) -> ClassicGroup:
    classic = ClassicGroup(
        group.group_id,
        state=ClassicGroupState.STABLE,
        state_since_ms=turn.wall_ms,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        generation_id=group.group_epoch,
    )
    for member in members:
        classic.add(_classic_member(member))
    classic.protocol_name = classic.select_protocol()
    classic.refresh_topics()
    for one in classic.members.values():
        one.assignment = assignment_bytes(
            targets.get(one.member_id, {}), turn.topics, one.metadata(classic.protocol_name)
        )
    return classic


def _classic_member(member: ConsumerMember) -> Member:
    assert member.classic is not None
    return Member(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client=member.client,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.classic.session_timeout_ms,
        # A log may have a member that names one twice; the votes count members by name.
        protocols=tuple(
            {offered.name: offered.metadata for offered in member.classic.supported_protocols}.items()
        ),
    )


def _move_deadlines(turn: ConsumerTurn, group: ConsumerGroup, classic: ClassicGroup) -> None:
    for member_id in group.members:
        turn.expect_no_more_of(group.group_id, member_id)
    for member in classic.members.values():
        turn.expect_heartbeat(classic, member)
