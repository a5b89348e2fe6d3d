"""ConsumerGroupHeartbeat and ConsumerGroupDescribe: groups of the consumer protocol.

ConsumerGroupHeartbeat: from v1 on a member brings its own id, and may subscribe to a regular expression.
ConsumerGroupDescribe: from v1 on members have a type.

Source: KIP-848, KIP-1082, KIP-1099; Kafka's KafkaApis.handleConsumerGroupHeartbeat and
handleConsumerGroupDescribe; the rules are in `groups`.
"""

import uuid
from typing import cast

from wirekafka.handlers.authorized import GROUP_OPERATIONS
from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.ids import uuid_text
from wirekafka.protocol.apis.consumer_group_describe import (
    CONSUMER_GROUP_DESCRIBE,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedConsumerGroup,
)
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    CONSUMER_GROUP_HEARTBEAT,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_MEMBER_ID_REQUIRED_SINCE = 1
_TOPIC_ID_BYTES = 16
_PARTITION_BYTES = 4


def _refuse_heartbeat(
    request: ConsumerGroupHeartbeatRequest, error: KafkaError
) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)


@handles(CONSUMER_GROUP_HEARTBEAT, refusal=_refuse_heartbeat)
async def consumer_group_heartbeat(
    request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerGroupHeartbeatResponse:
    _check_protocol(context)
    if said_bytes := _said_bytes(request):
        context.broker.coordination.check_fits(request.group_id, said_bytes)
    reply = await context.broker.coordination.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.consumer_heartbeat(
            request,
            ticket=ticket,
            now_ms=now_ms,
            client=context.group_client,
            new_member_uuid="" if request.member_id else uuid_text(uuid.uuid4().bytes),
            member_id_required=context.version >= _MEMBER_ID_REQUIRED_SINCE,
        ),
    )
    return cast(ConsumerGroupHeartbeatResponse, reply)


def _said_bytes(request: ConsumerGroupHeartbeatRequest) -> int:
    """How many bytes the longer of the request's lists takes at the least where it is stored."""
    names, topics = request.subscribed_topic_names or (), request.topic_partitions or ()
    named_bytes = len(names) + sum(map(len, names))
    owned_bytes = sum(_TOPIC_ID_BYTES + _PARTITION_BYTES * len(topic.partitions) for topic in topics)
    return max(named_bytes, owned_bytes)


def _refuse_describe(
    request: ConsumerGroupDescribeRequest, error: KafkaError
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[_not_described(group_id, error) for group_id in request.group_ids]
    )


@handles(CONSUMER_GROUP_DESCRIBE, refusal=_refuse_describe)
async def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    _check_protocol(context)
    groups = [_describe(group_id, context) for group_id in request.group_ids]
    if request.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS
    return ConsumerGroupDescribeResponse(groups=groups)


def _describe(group_id: str, context: RequestContext) -> DescribedConsumerGroup:
    if not group_id:
        return _not_described(group_id, KafkaError(ErrorCode.INVALID_GROUP_ID, "A group id is not empty."))
    try:
        return context.broker.coordination.look(group_id).describe_consumer_group(group_id)
    except KafkaError as error:
        return _not_described(group_id, error)


def _not_described(group_id: str, error: KafkaError) -> DescribedConsumerGroup:
    return DescribedConsumerGroup(group_id=group_id, error_code=error.code, error_message=error.message)


def _check_protocol(context: RequestContext) -> None:
    """A broker may be set to serve no consumer groups, as one before KIP-848."""
    if "consumer" not in context.broker.settings.get_list("group.coordinator.rebalance.protocols"):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "The consumer protocol is not among group.coordinator.rebalance.protocols.",
        )
