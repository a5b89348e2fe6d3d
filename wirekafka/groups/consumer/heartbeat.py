"""ConsumerGroupHeartbeat: joining, staying, changing and leaving are all one request.

Called by `groups.shard`; the steps are in `form`, `admission`, `updating`, `sessions` and `leaving`.

Source: Kafka's GroupMetadataManager.consumerGroupHeartbeat; KIP-848.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from wirekafka.groups.client import Client
from wirekafka.groups.consumer import admission, form, leaving, metadata, sessions, updating
from wirekafka.groups.consumer.assignment import in_order
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import JOINING_EPOCH, ConsumerMember
from wirekafka.groups.consumer.reconciliation import Reported
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatAssignment,
    HeartbeatTopicPartitions,
)
from wirekafka.protocol.error_codes import KafkaError


@dataclass(frozen=True, slots=True)
class HeartbeatFacts:
    """What is known of a heartbeat beside its request."""

    client: Client
    new_member_uuid: str
    """The text of a fresh UUID, the id of a member that brings none; empty when it brings one."""
    member_id_required: bool
    """Whether the version obliges the member to bring one."""


def heartbeat(
    turn: ConsumerTurn, request: ConsumerGroupHeartbeatRequest, facts: HeartbeatFacts
) -> ConsumerGroupHeartbeatResponse:
    """Serve a heartbeat; a refusal is an answer with an error, and then nothing is decided."""
    try:
        form.check(request, turn.config.group_consumer_assignors, member_id_required=facts.member_id_required)
        if request.member_epoch < JOINING_EPOCH:
            return leaving.leave(turn, request)
        return _take_part(turn, request, facts)
    except KafkaError as error:
        turn.decision.records.clear()
        metadata.forget_check_of_stranger(turn, request.group_id)
        return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)


def _take_part(
    turn: ConsumerTurn, request: ConsumerGroupHeartbeatRequest, facts: HeartbeatFacts
) -> ConsumerGroupHeartbeatResponse:
    member_id = request.member_id or facts.new_member_uuid
    reported = Reported(request.topic_partitions)
    if request.member_epoch == JOINING_EPOCH:
        group = admission.group_to_join(turn, request.group_id)
    else:
        group = admission.existing_group(turn, request.group_id)
    admission.check_room(turn, group, request.member_id, request.instance_id)
    before = _find_member(turn, group, request, member_id, reported)
    after = updating.update(turn, group, before, _said(before, request, facts), reported)
    sessions.expect_heartbeat(turn, group.group_id, after)
    response = ConsumerGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.member_epoch,
        heartbeat_interval_ms=turn.settings_of(group.group_id).heartbeat_interval_ms,
    )
    if _is_full(request) or after.assigned != before.assigned:
        response.assignment = _assignment_message(after.assigned)
    return response


def _find_member(
    turn: ConsumerTurn,
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    member_id: str,
    reported: Reported,
) -> ConsumerMember:
    if request.member_epoch == JOINING_EPOCH:
        if request.instance_id is None:
            return admission.member_to_join(group, member_id)
        return admission.static_member_to_join(turn, group, member_id, request.instance_id, is_classic=False)
    if request.instance_id is None:
        member = admission.existing_member(group, member_id)
    else:
        member = admission.existing_static_member(group, request.instance_id, member_id)
    admission.check_epoch(member, request.member_epoch, reported)
    return member


def _said(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, facts: HeartbeatFacts
) -> ConsumerMember:
    """Give the member as the request has it; what the request leaves out stays as it was."""
    if _says_nothing(request) and member.client == facts.client and not member.is_classic:
        return member
    names, timeout_ms = request.subscribed_topic_names, request.rebalance_timeout_ms
    return replace(
        member,
        client=facts.client,
        classic=None,
        instance_id=_or(request.instance_id, member.instance_id),
        rack_id=_or(request.rack_id, member.rack_id),
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        server_assignor_name=_or(request.server_assignor, member.server_assignor_name),
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
        subscribed_topic_regex=_or(request.subscribed_topic_regex, member.subscribed_topic_regex),
    )


def _says_nothing(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether nothing of the member is in the request but its names, as in most heartbeats."""
    return (
        request.subscribed_topic_names is None
        and request.subscribed_topic_regex is None
        and request.rebalance_timeout_ms == -1
        and request.server_assignor is None
        and request.rack_id is None
    )


def _or(said: str | None, known: str | None) -> str | None:
    return known if said is None else said


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the member said all that it can: then it does not know what it has."""
    if request.member_epoch == JOINING_EPOCH:
        return True
    subscribes = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.rebalance_timeout_ms != -1 and subscribes and request.topic_partitions is not None


def _assignment_message(assigned: Mapping[bytes, Iterable[int]]) -> HeartbeatAssignment:
    """Say what a member may read."""
    return HeartbeatAssignment(
        topic_partitions=[
            HeartbeatTopicPartitions(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in in_order(assigned)
        ]
    )
