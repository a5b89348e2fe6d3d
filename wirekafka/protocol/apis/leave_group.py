"""Key 13, LeaveGroup: members go of their own will.

v0: the first.
v1: answer adds throttle_time_ms.
v2: the same form.
v3: drops member_id; adds members; answer adds members.
v4: flexible.
v5: adds members.reason.

Source: KIP-345 (many members), KIP-800 (reason).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, NULLABLE_STRING, STRING, array_of


class MemberIdentity(Message):
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, default=None)
    reason: str | None = wire(NULLABLE_STRING, "5+", default=None)


class LeaveGroupRequest(Message, versions="0-5", flexible="4+"):
    group_id: str = wire(STRING)
    member_id: str = wire(STRING, "0-2", default="")
    members: list[MemberIdentity] = wire(array_of(MemberIdentity), "3+", factory=list)


class MemberResponse(Message):
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING)
    error_code: int = wire(INT16)


class LeaveGroupResponse(Message, versions="0-5", flexible="4+"):
    throttle_time_ms: int = wire(INT32, "1+", default=0)
    error_code: int = wire(INT16)
    members: list[MemberResponse] = wire(array_of(MemberResponse), "3+", factory=list)


LEAVE_GROUP = Api(13, LeaveGroupRequest, LeaveGroupResponse)
