"""Members that go: by their last heartbeat, for a while, or because their time is over.

Called by `heartbeat`, `sessions`, and for members of the classic protocol by `classic_members`.

Source: Kafka's GroupMetadataManager (consumerGroupLeave, consumerGroupFenceMembers,
consumerGroupStaticMemberGroupLeave).
"""

from collections.abc import Sequence
from dataclasses import replace

from wirekafka.groups.consumer import admission, metadata, regexes
from wirekafka.groups.consumer.assignment import with_epoch
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import STATIC_LEAVING_EPOCH, ConsumerMember
from wirekafka.groups.consumer.membership import Membership
from wirekafka.groups.consumer.migration import downgrading
from wirekafka.groups.consumer.stored import (
    current_record,
    epoch_record,
    member_tombstones,
    target_epoch_record,
)
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


def leave(turn: ConsumerTurn, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
    """Serve a last heartbeat.

    Raises GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, and FENCED_INSTANCE_ID for an instance id that is another's.
    """
    group = admission.existing_group(turn, request.group_id)
    if request.instance_id is None:
        member = admission.existing_member(group, request.member_id)
    else:
        member = admission.existing_static_member(group, request.instance_id, request.member_id)
    if request.instance_id is not None and request.member_epoch == STATIC_LEAVING_EPOCH:
        turn.decision.records.append(current_record(group.group_id, _gone_for_a_while(member)))
    else:
        fence(turn, group, [member])
    return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)


def _gone_for_a_while(member: ConsumerMember) -> ConsumerMember:
    """Keep what a static member has until it is back; it will have it since no known epoch."""
    return replace(
        member,
        member_epoch=STATIC_LEAVING_EPOCH,
        assigned=with_epoch(member.assigned, 0),
        partitions_pending_revocation={},
    )


def fence(turn: ConsumerTurn, group: ConsumerGroup, members: Sequence[ConsumerMember]) -> None:
    """Remove members, and count the group's epoch up, so that the others get what they had.

    Where only members of the classic protocol are left, the group may become a classic one instead.
    """
    if not members:
        return
    if downgrading.downgrades(turn, group, members):
        downgrading.downgrade(turn, group, members)
        return
    group_id = group.group_id
    for member in members:
        turn.decision.records.extend(member_tombstones(group_id, member.member_id))
        turn.expect_no_more_of(group_id, member.member_id)
    turn.decision.records.extend(regexes.forgotten(group, members))
    membership = Membership.without_members(group, members)
    group_epoch = group.group_epoch + 1
    turn.decision.records.append(
        epoch_record(group_id, group_epoch, metadata.hash_of(turn.topics, membership))
    )
    if not membership.members:
        # Who comes next finds no target that is too young to be replaced.
        turn.decision.records.append(target_epoch_record(group_id, group_epoch, 0))
