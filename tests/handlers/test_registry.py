"""registry: a function tied to its Api, and the table made of them."""

from wirekafka.handlers import ADVERTISED, HANDLERS
from wirekafka.handlers.registry import Handler, always, handles, never
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

WAIT_FOR_OTHERS = {"Fetch", "JoinGroup", "SyncGroup"}


def refuse(request: HeartbeatRequest, error: KafkaError) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=error.code)


def test_handler_knows_its_api_and_its_refusal() -> None:
    @handles(HEARTBEAT, refusal=refuse)
    async def heartbeat(request: HeartbeatRequest, context: object) -> HeartbeatResponse:
        return HeartbeatResponse(error_code=0)

    assert isinstance(heartbeat, Handler)
    assert (heartbeat.api, heartbeat.may_wait) == (HEARTBEAT, never)
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert heartbeat.refusal(request, KafkaError(ErrorCode.NOT_COORDINATOR)).error_code == 16


def test_every_handler_stands_under_its_own_key() -> None:
    """And what is advertised is its Api's range."""
    for key, handler in HANDLERS.items():
        assert handler.api is APIS[key]
        assert ADVERTISED[key] == handler.api.advertised


def test_only_those_that_wait_for_others_may_wait() -> None:
    """Earlier answers are sent before these are asked."""
    waiting = {handler.api.name for handler in HANDLERS.values() if handler.may_wait is always}
    at_once = {handler.api.name for handler in HANDLERS.values() if handler.may_wait is never}
    for_some = {handler.api.name for handler in HANDLERS.values()} - waiting - at_once

    assert (waiting, for_some) == (WAIT_FOR_OTHERS, {"Heartbeat"})
