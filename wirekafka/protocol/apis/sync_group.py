"""Key 14, SyncGroup: the leader hands in the assignment, each member takes its own.

v0: the first.
v1: answer adds throttle_time_ms.
v2: the same form.
v3: adds group_instance_id.
v4: flexible.
v5: adds protocol_type; adds protocol_name; answer adds protocol_type, adds protocol_name.

Source: KIP-345 (static members), KIP-559 (protocol type).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BYTES, INT16, INT32, NULLABLE_STRING, STRING, array_of


class SyncGroupRequestAssignment(Message):
    member_id: str = wire(STRING)
    assignment: bytes = wire(BYTES)


class SyncGroupRequest(Message, versions="0-5", flexible="4+"):
    group_id: str = wire(STRING)
    generation_id: int = wire(INT32)
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, "3+", default=None)
    protocol_type: str | None = wire(NULLABLE_STRING, "5+", default=None)
    protocol_name: str | None = wire(NULLABLE_STRING, "5+", default=None)
    assignments: list[SyncGroupRequestAssignment] = wire(array_of(SyncGroupRequestAssignment))


class SyncGroupResponse(Message, versions="0-5", flexible="4+"):
    throttle_time_ms: int = wire(INT32, "1+", default=0)
    error_code: int = wire(INT16)
    protocol_type: str | None = wire(NULLABLE_STRING, "5+", default=None)
    protocol_name: str | None = wire(NULLABLE_STRING, "5+", default=None)
    assignment: bytes = wire(BYTES)


SYNC_GROUP = Api(14, SyncGroupRequest, SyncGroupResponse)
