"""Tests of server/dispatch.py."""

import dataclasses
import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.raw_client import RawClient, parse_response, request_frame
from tests.support.requests import PRODUCE_VERSION, batch_of, produce_request
from tests.support.samples import sample
from wirekafka.broker import Broker
from wirekafka.handlers import (
    HANDLERS,
    NOT_AT_ONCE,
    Acquaintance,
    ClientConnection,
    CloseConnection,
    Endpoint,
    Later,
    Repeated,
    RequestContext,
)
from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.metadata import METADATA, MetadataRequest
from wirekafka.protocol.apis.produce import PRODUCE
from wirekafka.protocol.connection import Built, ReceivedRequest
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.framing import FrameBuffer
from wirekafka.protocol.message import Message
from wirekafka.server.dispatch import answer, answer_now, answer_repeated, finish, may_wait
from wirekafka.testing import RunningBroker

CLIENT = ClientConnection(
    broker=cast(Broker, SimpleNamespace(coordination=SimpleNamespace(holds_heartbeats=True))),
    peer="127.0.0.1:1000",
    client_host="/127.0.0.1",
    endpoint=Endpoint("127.0.0.1", 9092),
    advertised={},
)
every_handler = pytest.mark.parametrize("key", HANDLERS, ids=lambda key: APIS[key].name)


def received(api: Api[Any, Any], version: int) -> ReceivedRequest:
    return ReceivedRequest(api, version, 5, "raw", sample(api.request, version))


def handler_that(monkeypatch: pytest.MonkeyPatch, key: int, error: BaseException) -> None:
    """Put a handler in the place of an API's that raises `error`."""

    async def fail(request: Any, context: RequestContext) -> Any:
        raise error

    monkeypatch.setitem(HANDLERS, key, dataclasses.replace(HANDLERS[key], function=fail, at_once=None))


def error_codes(message: Message, version: int) -> Iterator[int]:
    """Every error code that a message has in a version, at whatever depth."""
    for field in message.wire_fields:
        if version not in field.versions:
            continue
        value = getattr(message, field.name)
        if field.name == "error_code":
            yield value
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Message):
                yield from error_codes(part, version)


async def answered(request: ReceivedRequest) -> Any:
    return parsed(request, await answer(request, CLIENT))


def parsed(request: ReceivedRequest, parts: object) -> Any:
    frame = b"".join(map(bytes, cast(list[bytes], parts)))
    correlation_id, message = parse_response(request.api, request.response_version, frame[4:])
    assert correlation_id == request.correlation_id
    return message


def at_once(monkeypatch: pytest.MonkeyPatch, key: int, function: Callable[..., Any]) -> None:
    """Let an API be answered at once by `function`."""
    monkeypatch.setitem(HANDLERS, key, dataclasses.replace(HANDLERS[key], at_once=function))


@every_handler
async def test_a_handler_that_fails_is_answered_in_the_shape_of_its_api(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, key: int
) -> None:
    """Our bug costs the client one UNKNOWN_SERVER_ERROR wherever the answer has a place for it; the
    traceback is in the log with API, version and client."""
    handler_that(monkeypatch, key, ZeroDivisionError("a bug"))
    api = APIS[key]
    for version in (api.versions.oldest, api.versions.newest):
        codes = set(error_codes(await answered(received(api, version)), version))

        assert codes == {ErrorCode.UNKNOWN_SERVER_ERROR}, f"v{version}"
    assert f"{api.name} v{api.versions.newest} from 127.0.0.1:1000 (client id 'raw') failed" in caplog.text
    assert "ZeroDivisionError: a bug" in caplog.text


@every_handler
async def test_a_refusal_is_answered_with_its_code(monkeypatch: pytest.MonkeyPatch, key: int) -> None:
    """A KafkaError of the whole request reaches the client with its own code, and is no bug."""
    handler_that(monkeypatch, key, KafkaError(ErrorCode.POLICY_VIOLATION, "No."))
    api = APIS[key]

    version = api.versions.newest
    codes = set(error_codes(await answered(received(api, version)), version))

    assert codes == {ErrorCode.POLICY_VIOLATION}


async def test_a_refusal_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A client's error is the client's to know; a log full of them hides ours."""
    handler_that(monkeypatch, 12, KafkaError(ErrorCode.INVALID_GROUP_ID, "No."))

    with caplog.at_level(logging.WARNING):
        await answered(received(APIS[12], 4))

    assert caplog.records == []


async def test_an_answer_that_cannot_be_built_is_our_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler that gives a value without byte form is a bug like any other."""

    async def give_nonsense(request: HeartbeatRequest, context: RequestContext) -> Any:
        return HANDLERS[12].api.response(throttle_time_ms="soon", error_code=0)

    monkeypatch.setitem(HANDLERS, 12, dataclasses.replace(HANDLERS[12], function=give_nonsense, at_once=None))

    assert (await answered(received(APIS[12], 4))).error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_what_can_be_answered_at_once_needs_no_coroutine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same as the other way."""
    at_once(monkeypatch, 12, lambda request, context: HANDLERS[12].api.response(error_code=3))
    request = received(APIS[12], 4)

    assert parsed(request, answer_now(request, CLIENT)).error_code == 3


def test_an_answer_that_is_bytes_already_gets_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Length and correlation id, and from flexible versions on the tagged section of the header."""
    at_once(monkeypatch, 12, lambda request, context: Built([bytes(4), b"\0\3\0"]))
    request = received(APIS[12], 4)

    assert parsed(request, answer_now(request, CLIENT)).error_code == 3


def test_what_has_to_wait_is_not_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether its handler says so, or has no way to answer at once, or there is none."""
    monkeypatch.setitem(HANDLERS, 12, dataclasses.replace(HANDLERS[12], at_once=None))
    at_once(monkeypatch, 14, lambda request, context: NOT_AT_ONCE)
    monkeypatch.delitem(HANDLERS, 13)

    assert {answer_now(received(APIS[key], 4), CLIENT) for key in (12, 13, 14)} == {NOT_AT_ONCE}


def test_a_request_without_answer_gives_none_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """acks=0."""
    at_once(monkeypatch, 12, lambda request, context: None)

    assert answer_now(received(APIS[12], 4), CLIENT) is None


async def test_what_was_begun_at_once_is_answered_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or refused, as anything else."""

    async def refuse() -> Any:
        raise KafkaError(ErrorCode.POLICY_VIOLATION)

    async def agree() -> Any:
        return HANDLERS[12].api.response(error_code=3)

    def begin(request: Any, context: RequestContext) -> Any:
        return Later(refuse if context.version == 3 else agree)

    at_once(monkeypatch, 12, begin)
    codes = []
    for version in (3, 4):
        request = received(APIS[12], version)
        later = answer_now(request, CLIENT)
        assert isinstance(later, Later)
        codes.append(parsed(request, await finish(request, CLIENT, later)).error_code)

    assert codes == [ErrorCode.POLICY_VIOLATION, 3]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KafkaError(ErrorCode.POLICY_VIOLATION, "No."), ErrorCode.POLICY_VIOLATION),
        (ZeroDivisionError("a bug"), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_failure_at_once_is_answered_like_any_other(
    monkeypatch: pytest.MonkeyPatch, error: Exception, code: ErrorCode
) -> None:
    """Our own has its traceback in the log."""
    at_once(monkeypatch, 12, raising(error))
    request = received(APIS[12], 4)

    assert parsed(request, answer_now(request, CLIENT)).error_code == code


def test_a_handler_may_close_the_connection_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the connection's to do."""
    at_once(monkeypatch, 12, raising(CloseConnection("asked to")))

    with pytest.raises(CloseConnection, match="asked to"):
        answer_now(received(APIS[12], 4), CLIENT)


def raising(error: Exception) -> Callable[[Any, RequestContext], Any]:
    def fail(request: Any, context: RequestContext) -> Any:
        raise error

    return fail


async def test_a_request_without_answer_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """acks=0."""

    async def say_nothing(request: Any, context: RequestContext) -> None:
        return None

    monkeypatch.setitem(HANDLERS, 0, dataclasses.replace(HANDLERS[0], function=say_nothing, at_once=None))

    assert await answer(received(APIS[0], 13), CLIENT) is None


async def test_a_handler_may_close_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the connection's to do."""
    handler_that(monkeypatch, 12, CloseConnection("asked to"))

    with pytest.raises(CloseConnection, match="asked to"):
        await answer(received(APIS[12], 4), CLIENT)


async def test_an_api_without_handler_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not advertised is not served."""
    monkeypatch.delitem(HANDLERS, 12)

    with pytest.raises(CloseConnection, match="Heartbeat is not served"):
        await answer(received(APIS[12], 4), CLIENT)
    assert not may_wait(received(APIS[12], 4), CLIENT)


async def test_a_too_new_api_versions_request_is_answered_with_code_35_in_version_zero() -> None:
    """KIP-511; the handler gets None for a message nobody here can read."""
    message = await answered(ReceivedRequest(API_VERSIONS, 99, 5, None, None))

    assert message.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(key.api_key, key.min_version, key.max_version) for key in message.api_keys] == [(18, 0, 5)]


def test_long_polls_and_rebalances_may_wait_and_nothing_else() -> None:
    """These let earlier answers out first."""
    served = [APIS[key] for key in HANDLERS]
    waiting = {api.name for api in served if may_wait(received(api, api.versions.newest), CLIENT)}

    assert waiting == {"Fetch", "JoinGroup", "SyncGroup"}


def test_heartbeat_may_wait_for_a_client_that_bears_it() -> None:
    """Others are answered at once, together with what was answered before."""
    patient = dataclasses.replace(CLIENT, acquaintance=Acquaintance("librdkafka"))

    assert may_wait(received(APIS[12], 4), patient)


def test_repeated_requests_that_fail_go_the_usual_way(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """But for those that were being written; the log has the traceback."""
    errors: list[KafkaError] = []

    def fail(repeated: Repeated, frames: FrameBuffer) -> Any:
        raise ZeroDivisionError("a bug")

    def answers_after(repeated: Repeated, error: KafkaError, frames: FrameBuffer) -> tuple[int, list[bytes]]:
        errors.append(error)
        return 2, [b"two"]

    monkeypatch.setattr(Repeated, "answers", fail)
    monkeypatch.setattr(Repeated, "answers_after", answers_after)

    assert answer_repeated(Repeated(CLIENT), FrameBuffer(100), CLIENT) == (2, [b"two"])
    assert [error.code for error in errors] == [ErrorCode.UNKNOWN_SERVER_ERROR]
    assert "repeated requests from 127.0.0.1:1000 failed" in caplog.text
    assert "ZeroDivisionError: a bug" in caplog.text


def test_a_repeated_request_may_close_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the connection's to do."""
    monkeypatch.setattr(Repeated, "answers", raising(CloseConnection("asked to")))

    with pytest.raises(CloseConnection, match="asked to"):
        answer_repeated(Repeated(CLIENT), FrameBuffer(100), CLIENT)


def test_a_failing_handler_leaves_the_connection_as_it_is(
    monkeypatch: pytest.MonkeyPatch, raw: RawClient
) -> None:
    """The next request of the same connection is answered."""
    handler_that(monkeypatch, METADATA.key, ZeroDivisionError("a bug"))

    failed = raw.ask(MetadataRequest(topics=[]), 13)
    asked_again = raw.ask(ApiVersionsRequest(client_software_name="t", client_software_version="1"), 4)

    assert failed.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert asked_again.error_code == ErrorCode.NONE


def test_a_failing_produce_with_acks_zero_closes_the_connection(
    monkeypatch: pytest.MonkeyPatch, broker: RunningBroker
) -> None:
    """An answer that nobody waits for would be taken for the next one's."""
    handler_that(monkeypatch, PRODUCE.key, ZeroDivisionError("a bug"))
    with RawClient(broker.bootstrap) as raw:
        raw.send(request_frame(produce_request("t", batch_of(b"x"), acks=0), PRODUCE_VERSION))

        assert raw.hung_up()
