"""Key 42, DeleteGroups: delete groups that have no members, with their offsets.

v0: the first.
v1: the same form.
v2: flexible.
v3: answer adds results.error_message.

Source: KIP-229.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, NULLABLE_STRING, STRING, array_of


class DeleteGroupsRequest(Message, versions="0-3", flexible="2+"):
    groups_names: list[str] = wire(array_of(STRING))


class DeletableGroupResult(Message):
    group_id: str = wire(STRING)
    error_code: int = wire(INT16, default=0)
    error_message: str | None = wire(NULLABLE_STRING, "3+", default=None)


class DeleteGroupsResponse(Message, versions="0-3", flexible="2+"):
    throttle_time_ms: int = wire(INT32, default=0)
    results: list[DeletableGroupResult] = wire(array_of(DeletableGroupResult))


DELETE_GROUPS = Api(42, DeleteGroupsRequest, DeleteGroupsResponse)
