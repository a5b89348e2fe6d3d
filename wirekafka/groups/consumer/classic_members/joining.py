"""JoinGroup to a consumer group that has members: the joining one becomes, or stays, one of them.

Called by `groups.shard`; the step towards the target is that of `consumer.updating`.

Source: Kafka's GroupMetadataManager.classicGroupJoinToConsumerGroup; KIP-345, KIP-394.
"""

from dataclasses import replace

from wirekafka.groups.classic.attempt import JoinFacts, offered_protocols, rebalance_timeout_ms
from wirekafka.groups.classic.joining import request_refusal
from wirekafka.groups.classic.responses import join_error
from wirekafka.groups.consumer import admission, sessions, updating
from wirekafka.groups.consumer.classic_members import replacing, validation
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.reconciliation import Reported
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE, owned_topics, subscription_of
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupResponse
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata, ClassicProtocol
from wirekafka.protocol.stored.consumer_protocol import ConsumerProtocolSubscription


def join(turn: ConsumerTurn, group: ConsumerGroup, request: JoinGroupRequest, facts: JoinFacts) -> None:
    """Serve a JoinGroup, at once; a refusal is an answer with an error, and then nothing is decided."""
    refusal = request_refusal(turn.config, request)
    if refusal is not None:
        turn.reply(facts.ticket, join_error(refusal, request.member_id))
        return
    try:
        response = _join(turn, group, request, facts)
    except KafkaError as error:
        turn.decision.records.clear()
        response = join_error(error.code)
    turn.reply(facts.ticket, response)


def _join(
    turn: ConsumerTurn, group: ConsumerGroup, request: JoinGroupRequest, facts: JoinFacts
) -> JoinGroupResponse:
    member_id = request.member_id or facts.new_member_uuid
    validation.check_migration(turn.config, group)
    admission.check_room(turn, group, member_id, request.group_instance_id)
    validation.check_protocols(group, request)
    if facts.member_id_required and not request.member_id and request.group_instance_id is None:
        return join_error(ErrorCode.MEMBER_ID_REQUIRED, member_id)
    subscription = subscription_of(request.protocols)
    before = _find_member(turn, group, request, member_id)
    reported = Reported(owned_topics(subscription, turn.topics))
    after = _said(before, request, facts, subscription)
    if replacing.replaces_the_last(turn, group, after.instance_id):
        return _answer(replacing.replace_the_last(turn, group, before, after, reported))
    after = updating.update(turn, group, before, after, reported)
    sessions.expect_heartbeat(turn, group.group_id, after)
    sessions.expect_sync(turn, group, after)
    return _answer(after)


def _find_member(
    turn: ConsumerTurn, group: ConsumerGroup, request: JoinGroupRequest, member_id: str
) -> ConsumerMember:
    instance_id = request.group_instance_id
    if instance_id is None:
        return admission.member_to_join(group, member_id)
    if request.member_id:
        return admission.existing_static_member(group, instance_id, member_id)
    return admission.static_member_to_join(turn, group, member_id, instance_id, is_classic=True)


def _said(
    member: ConsumerMember,
    request: JoinGroupRequest,
    facts: JoinFacts,
    subscription: ConsumerProtocolSubscription,
) -> ConsumerMember:
    """Give the member as the request has it; classic members have no regular expressions."""
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=rebalance_timeout_ms(request),
        client=facts.client,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex="",
        classic=ClassicMemberMetadata(
            session_timeout_ms=request.session_timeout_ms,
            supported_protocols=[
                ClassicProtocol(name=name, metadata=metadata) for name, metadata in offered_protocols(request)
            ],
        ),
    )


def _answer(member: ConsumerMember) -> JoinGroupResponse:
    """Tell the member its generation. It is never the leader, whose work the coordinator does."""
    assert member.classic is not None
    return JoinGroupResponse(
        error_code=ErrorCode.NONE,
        generation_id=member.member_epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=validation.chosen_protocol(member.classic),
        leader="",
        member_id=member.member_id,
        members=[],
    )
