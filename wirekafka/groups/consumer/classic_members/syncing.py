"""SyncGroup of a member that a consumer group has by the classic protocol: it is told what it has.

Called by `groups.shard`.

Source: Kafka's GroupMetadataManager.classicGroupSyncToConsumerGroup.
"""

from wirekafka.groups.classic.responses import sync_error
from wirekafka.groups.consumer import sessions
from wirekafka.groups.consumer.classic_members import validation
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.consumer_protocol import assignment_bytes
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.sync_group import SyncGroupRequest, SyncGroupResponse
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def sync(
    turn: ConsumerTurn,
    group: ConsumerGroup,
    request: SyncGroupRequest,
    ticket: Ticket,
    *,
    protocol_required: bool,
) -> None:
    """Serve a SyncGroup, at once: there is nobody to wait for."""
    try:
        turn.reply(ticket, _answer(turn, group, request, protocol_required))
    except KafkaError as error:
        turn.reply(ticket, sync_error(error.code))


def _answer(
    turn: ConsumerTurn, group: ConsumerGroup, request: SyncGroupRequest, protocol_required: bool
) -> SyncGroupResponse:
    if protocol_required and None in (request.protocol_type, request.protocol_name):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "Protocol type and name must be given.")
    member, classic = validation.find_member(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    validation.check_chosen_protocol(classic, request.protocol_type, request.protocol_name)
    if _has_newer_target(group, member):
        sessions.expect_join(turn, group, member)
        raise KafkaError(
            ErrorCode.REBALANCE_IN_PROGRESS, f"Member {member.member_id} must join again to catch up."
        )
    sessions.synced(turn, group, member)
    sessions.expect_heartbeat(turn, group.group_id, member)
    return SyncGroupResponse(
        error_code=ErrorCode.NONE,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=assignment_bytes(member.assigned, turn.topics, classic.supported_protocols[0].metadata),
    )


def _has_newer_target(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether to join again, which a member that has partitions to give up will do anyway, after that."""
    return (
        group.assignment_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS
    )
