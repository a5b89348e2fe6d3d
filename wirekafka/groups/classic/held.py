"""Held heartbeats: where there is no news, the answer to a Heartbeat waits for some.

A member learns of a rebalance by the answer to a Heartbeat, and asks every three seconds: so long may a
rebalance take that is the work of milliseconds. A Heartbeat whose answer waits is a question already asked
when the news comes. `classic.turn` answers it when the group begins to rebalance or the member goes;
`groups.shard` when it was held for long enough, or its client has more to say on that connection.

Which clients go on with their work meanwhile is known to `handlers.patience`. Static members do not send
LeaveGroup when they close, nor does Kafka Streams, and their clients then wait for what is in flight: neither
is kept waiting here.

Called by `groups.shard`; calls `classic.liveness`.

Source: ours; no KIP has it. The wait of Fetch for records is its model.
"""

from wirekafka.groups.classic import liveness
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.turn import Turn
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.error_codes import ErrorCode

_STREAMS_PROTOCOL = "stream"
_PART_OF_SESSION = 3
"""So that a member whose answer is held is heard of again long before its session ends."""


def heartbeat(turn: Turn, request: HeartbeatRequest, ticket: Ticket) -> None:
    """Serve a Heartbeat: at once when it has something to tell, else after a while.

    One of the same member that is held already is answered.
    """
    turn.answer_heartbeat(request.group_id, request.member_id, ErrorCode.NONE)
    code = liveness.heartbeat(turn, request)
    hold_ms = 0
    if code is ErrorCode.NONE:
        group = turn.volatile.classic_groups[request.group_id]
        hold_ms = _hold_ms(turn, group, group.members[request.member_id])
    if hold_ms:
        turn.hold_heartbeat(request.group_id, request.member_id, ticket, hold_ms)
    else:
        turn.reply(ticket, HeartbeatResponse(error_code=code))


def _hold_ms(turn: Turn, group: ClassicGroup, member: Member) -> int:
    if not group.is_stable or member.is_static or group.protocol_name == _STREAMS_PROTOCOL:
        return 0
    return min(turn.config.heartbeat_hold_max_ms, member.session_timeout_ms // _PART_OF_SESSION)
