"""Key 16, ListGroups: the groups this broker coordinates.

v0: the first.
v1: answer adds throttle_time_ms.
v2: the same form.
v3: flexible.
v4: adds states_filter; answer adds groups.group_state.
v5: adds types_filter; answer adds groups.group_type.

Source: KIP-518 (state filter), KIP-848 (type filter).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, STRING, array_of


class ListGroupsRequest(Message, versions="0-5", flexible="3+"):
    states_filter: list[str] = wire(array_of(STRING), "4+", factory=list)
    types_filter: list[str] = wire(array_of(STRING), "5+", factory=list)


class ListedGroup(Message):
    group_id: str = wire(STRING)
    protocol_type: str = wire(STRING)
    group_state: str = wire(STRING, "4+", default="")
    group_type: str = wire(STRING, "5+", default="")


class ListGroupsResponse(Message, versions="0-5", flexible="3+"):
    throttle_time_ms: int = wire(INT32, "1+", default=0)
    error_code: int = wire(INT16)
    groups: list[ListedGroup] = wire(array_of(ListedGroup))


LIST_GROUPS = Api(16, ListGroupsRequest, ListGroupsResponse)
