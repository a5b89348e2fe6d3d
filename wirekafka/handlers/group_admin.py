"""FindCoordinator, ListGroups, DescribeGroups and DeleteGroups.

FindCoordinator: v0-3 ask for one key, v4 and later for many; share groups since v6. ListGroups: from
v4 on by state, from v5 on by type. DescribeGroups: from v6 on an unknown group is an error, before
it is a group that is Dead. DeleteGroups: from v3 on with a message for each group.

Source: KIP-229, KIP-518, KIP-699, KIP-848, KIP-1043; Kafka's KafkaApis.getCoordinator,
handleListGroupsRequest, handleDescribeGroupsRequest and handleDeleteGroupsRequest. Unlike Kafka, the
first answer has the coordinator: the offsets topic is made before it is given.
"""

from typing import cast

from wirekafka.broker import OFFSETS_TOPIC
from wirekafka.handlers.authorized import GROUP_OPERATIONS
from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.protocol.apis.delete_groups import (
    DELETE_GROUPS,
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from wirekafka.protocol.apis.describe_groups import (
    DESCRIBE_GROUPS,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from wirekafka.protocol.apis.find_coordinator import (
    FIND_COORDINATOR,
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from wirekafka.protocol.apis.list_groups import LIST_GROUPS, ListGroupsRequest, ListGroupsResponse
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
_MANY_KEYS_SINCE = 4
_UNKNOWN_GROUP_SINCE = 6
_NO_NODE = -1


def _refuse_find(request: FindCoordinatorRequest, error: KafkaError) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        error_code=error.code,
        error_message=error.message,
        node_id=_NO_NODE,
        port=_NO_NODE,
        coordinators=[_not_found(key, error) for key in request.coordinator_keys],
    )


@handles(FIND_COORDINATOR, refusal=_refuse_find)
async def find_coordinator(
    request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    await _coordinate(request.key_type, context)
    broker, endpoint = context.broker, context.endpoint
    if context.version < _MANY_KEYS_SINCE:
        return FindCoordinatorResponse(
            error_message="NONE", node_id=broker.node_id, host=endpoint.host, port=endpoint.port
        )
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key=key,
                node_id=broker.node_id,
                host=endpoint.host,
                port=endpoint.port,
                error_code=ErrorCode.NONE,
                error_message="",
            )
            for key in request.coordinator_keys
        ]
    )


async def _coordinate(key_type: int, context: RequestContext) -> None:
    """See that there is a coordinator of this type: this broker, once its topic is there."""
    if key_type == _TRANSACTION:
        context.broker.refuse_transactions()
    if key_type != _GROUP:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"There is no coordinator of type {key_type} here.")
    if OFFSETS_TOPIC in context.broker.image.topics:
        return
    try:
        await context.broker.cluster.auto_create_topic(OFFSETS_TOPIC)
    except KafkaError as error:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, error.message) from error


def _not_found(key: str, error: KafkaError) -> Coordinator:
    return Coordinator(
        key=key, node_id=_NO_NODE, host="", port=_NO_NODE, error_code=error.code, error_message=error.message
    )


def _refuse_list(request: ListGroupsRequest, error: KafkaError) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=error.code, groups=[])


@handles(LIST_GROUPS, refusal=_refuse_list)
async def list_groups(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    return ListGroupsResponse(
        error_code=ErrorCode.NONE,
        groups=[
            group
            for shard in context.broker.coordination.shards
            for group in shard.list_groups(request.states_filter, request.types_filter)
        ],
    )


def _refuse_describe(request: DescribeGroupsRequest, error: KafkaError) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(groups=[_not_described(group_id, error) for group_id in request.groups])


@handles(DESCRIBE_GROUPS, refusal=_refuse_describe)
async def describe_groups(request: DescribeGroupsRequest, context: RequestContext) -> DescribeGroupsResponse:
    groups = [_describe(group_id, context) for group_id in request.groups]
    if request.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS
    return DescribeGroupsResponse(groups=groups)


def _describe(group_id: str, context: RequestContext) -> DescribedGroup:
    try:
        shard = context.broker.coordination.look(group_id)
    except KafkaError as error:
        return _not_described(group_id, error)
    return shard.describe(group_id, group_id_not_found_known=context.version >= _UNKNOWN_GROUP_SINCE)


def _not_described(group_id: str, error: KafkaError) -> DescribedGroup:
    return DescribedGroup(
        error_code=error.code,
        error_message=error.message,
        group_id=group_id,
        group_state="",
        protocol_type="",
        protocol_data="",
        members=[],
    )


def _refuse_delete(request: DeleteGroupsRequest, error: KafkaError) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(results=[_not_deleted(group_id, error) for group_id in request.groups_names])


@handles(DELETE_GROUPS, refusal=_refuse_delete)
async def delete_groups(request: DeleteGroupsRequest, context: RequestContext) -> DeleteGroupsResponse:
    asked_once = dict.fromkeys(request.groups_names)
    return DeleteGroupsResponse(results=[await _delete(group_id, context) for group_id in asked_once])


async def _delete(group_id: str, context: RequestContext) -> DeletableGroupResult:
    try:
        reply = await context.broker.coordination.ask(
            group_id,
            lambda shard, ticket, now_ms: shard.delete_group(group_id, ticket=ticket, now_ms=now_ms),
        )
    except KafkaError as error:
        return _not_deleted(group_id, error)
    return cast(DeletableGroupResult, reply)


def _not_deleted(group_id: str, error: KafkaError) -> DeletableGroupResult:
    return DeletableGroupResult(group_id=group_id, error_code=error.code, error_message=error.message)
