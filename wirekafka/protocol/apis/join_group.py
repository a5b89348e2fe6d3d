"""Key 11, JoinGroup: become or stay a member of a classic group.

v0: the first.
v1: adds rebalance_timeout_ms.
v2: answer adds throttle_time_ms.
v3: the same form.
v4: the same form.
v5: adds group_instance_id; answer adds members.group_instance_id.
v6: flexible.
v7: answer adds protocol_type, protocol_name may be null.
v8: adds reason.
v9: answer adds skip_assignment.

Source: KIP-345 (static members), KIP-394 (member id first), KIP-559 (protocol type),
KIP-800 (reason), KIP-814 (skip assignment).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BOOLEAN, BYTES, INT16, INT32, NULLABLE_STRING, STRING, array_of


class JoinGroupRequestProtocol(Message):
    name: str = wire(STRING)
    metadata: bytes = wire(BYTES)


class JoinGroupRequest(Message, versions="0-9", flexible="6+"):
    group_id: str = wire(STRING)
    session_timeout_ms: int = wire(INT32)
    rebalance_timeout_ms: int = wire(INT32, "1+", default=-1)
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, "5+", default=None)
    protocol_type: str = wire(STRING)
    protocols: list[JoinGroupRequestProtocol] = wire(array_of(JoinGroupRequestProtocol))
    reason: str | None = wire(NULLABLE_STRING, "8+", default=None)


class JoinGroupResponseMember(Message):
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, "5+", default=None)
    metadata: bytes = wire(BYTES)


class JoinGroupResponse(Message, versions="0-9", flexible="6+"):
    throttle_time_ms: int = wire(INT32, "2+", default=0)
    error_code: int = wire(INT16)
    generation_id: int = wire(INT32, default=-1)
    protocol_type: str | None = wire(NULLABLE_STRING, "7+", default=None)
    protocol_name: str | None = wire(NULLABLE_STRING, nullable="7+")
    leader: str = wire(STRING)
    skip_assignment: bool = wire(BOOLEAN, "9+", default=False)
    member_id: str = wire(STRING)
    members: list[JoinGroupResponseMember] = wire(array_of(JoinGroupResponseMember))


JOIN_GROUP = Api(11, JoinGroupRequest, JoinGroupResponse)
