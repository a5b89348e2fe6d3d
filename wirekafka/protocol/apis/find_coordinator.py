"""Key 10, FindCoordinator: which broker coordinates a group or a transactional id.

v0: the first.
v1: adds key_type; answer adds throttle_time_ms, adds error_message.
v2: the same form.
v3: flexible.
v4: drops key; adds coordinator_keys; answer drops error_code, drops error_message, drops node_id, drops
    host, drops port, adds coordinators.
v5: the same form.
v6: the same form.

Source: KIP-699 (many keys), KIP-890, KIP-932 (share groups).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT8, INT16, INT32, NULLABLE_STRING, STRING, array_of


class FindCoordinatorRequest(Message, versions="0-6", flexible="3+"):
    key: str = wire(STRING, "0-3", default="")
    key_type: int = wire(INT8, "1+", default=0)
    coordinator_keys: list[str] = wire(array_of(STRING), "4+", factory=list)


class Coordinator(Message):
    key: str = wire(STRING)
    node_id: int = wire(INT32)
    host: str = wire(STRING)
    port: int = wire(INT32)
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING)


class FindCoordinatorResponse(Message, versions="0-6", flexible="3+"):
    throttle_time_ms: int = wire(INT32, "1+", default=0)
    error_code: int = wire(INT16, "0-3", default=0)
    error_message: str | None = wire(NULLABLE_STRING, "1-3", default="")
    node_id: int = wire(INT32, "0-3", default=0)
    host: str = wire(STRING, "0-3", default="")
    port: int = wire(INT32, "0-3", default=0)
    coordinators: list[Coordinator] = wire(array_of(Coordinator), "4+", factory=list)


FIND_COORDINATOR = Api(10, FindCoordinatorRequest, FindCoordinatorResponse)
