"""Key 15, DescribeGroups: members, protocol and state of groups.

v0: the first.
v1: answer adds throttle_time_ms.
v2: the same form.
v3: adds include_authorized_operations; answer adds groups.authorized_operations.
v4: answer adds groups.members.group_instance_id.
v5: flexible.
v6: answer adds groups.error_message.

Source: KIP-345 (static members), KIP-430 (authorized operations), KIP-1043 (error for unknown groups).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BOOLEAN, BYTES, INT16, INT32, NULLABLE_STRING, STRING, array_of


class DescribeGroupsRequest(Message, versions="0-6", flexible="5+"):
    groups: list[str] = wire(array_of(STRING))
    include_authorized_operations: bool = wire(BOOLEAN, "3+", default=False)


class DescribedGroupMember(Message):
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, "4+", default=None)
    client_id: str = wire(STRING)
    client_host: str = wire(STRING)
    member_metadata: bytes = wire(BYTES)
    member_assignment: bytes = wire(BYTES)


class DescribedGroup(Message):
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING, "6+", default=None)
    group_id: str = wire(STRING)
    group_state: str = wire(STRING)
    protocol_type: str = wire(STRING)
    protocol_data: str = wire(STRING)
    members: list[DescribedGroupMember] = wire(array_of(DescribedGroupMember))
    authorized_operations: int = wire(INT32, "3+", default=-(2**31))


class DescribeGroupsResponse(Message, versions="0-6", flexible="5+"):
    throttle_time_ms: int = wire(INT32, "1+", default=0)
    groups: list[DescribedGroup] = wire(array_of(DescribedGroup))


DESCRIBE_GROUPS = Api(15, DescribeGroupsRequest, DescribeGroupsResponse)
