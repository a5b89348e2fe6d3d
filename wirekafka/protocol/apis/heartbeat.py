"""Key 12, Heartbeat: a classic member says that it is alive.

v0: the first.
v1: answer adds throttle_time_ms.
v2: the same form.
v3: adds group_instance_id.
v4: flexible.

Source: KIP-345 (static members).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, NULLABLE_STRING, STRING


class HeartbeatRequest(Message, versions="0-4", flexible="4+"):
    group_id: str = wire(STRING)
    generation_id: int = wire(INT32)
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, "3+", default=None)


class HeartbeatResponse(Message, versions="0-4", flexible="4+"):
    throttle_time_ms: int = wire(INT32, "1+", default=0)
    error_code: int = wire(INT16)


HEARTBEAT = Api(12, HeartbeatRequest, HeartbeatResponse)
