"""One request through: its handler, and what becomes of an error.

Called by `server.connection`. Every exception is caught here, as nowhere else but in `broker.firebreak`: a
client gets an error code, the log gets the traceback.

Source: Kafka's KafkaApis.handle and RequestHandlerHelper.handleError.
"""

from collections.abc import Awaitable, Sequence, Sized
from typing import Any

from wirekafka.handlers import (
    HANDLERS,
    NOT_AT_ONCE,
    ClientConnection,
    CloseConnection,
    Handler,
    Later,
    NotAtOnce,
    Repeated,
    RequestContext,
    Waiting,
)
from wirekafka.observability import get_logger
from wirekafka.protocol.connection import ReceivedRequest, response_parts
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.framing import FrameBuffer

logger = get_logger("server")

_OUR_FAULT = KafkaError(
    ErrorCode.UNKNOWN_SERVER_ERROR, "The broker failed at this request; its log has the traceback."
)


def answer_repeated(
    repeated: Repeated, frames: FrameBuffer, client: ClientConnection
) -> tuple[int, Sequence[Sized] | Waiting]:
    """Take the requests at hand that are as an earlier one; give their number, and their answers.

    One that fails and has changed nothing goes the usual way. Raises CloseConnection for what Kafka
    answers so.
    """
    try:
        return repeated.answers(frames)
    except CloseConnection:
        raise
    except Exception:
        logger.exception("repeated requests from %s failed", client.peer)
        return repeated.answers_after(_OUR_FAULT, frames)


def answer_now(
    request: ReceivedRequest, client: ClientConnection
) -> Sequence[Sized] | Later[Any] | NotAtOnce | None:
    """Give the frame that answers a request if nothing has to be waited for; else Later or NOT_AT_ONCE.

    What is to come later is asked for with `finish`, what has not begun with `answer`. Else gives and
    raises what these do.
    """
    handler = HANDLERS.get(request.api.key)
    if handler is None or handler.at_once is None:
        return NOT_AT_ONCE
    try:
        response = handler.at_once(
            request.message, RequestContext(client, request.version, request.client_id)
        )
        if response is None or response is NOT_AT_ONCE or isinstance(response, Later):
            return response
        return response_parts(request, response)
    except CloseConnection:
        raise
    except Exception as error:  # noqa: BLE001  # it is logged there
        return _failed(request, client, handler, error)


def may_wait(request: ReceivedRequest, client: ClientConnection) -> bool:
    """Whether the answer may take long, so that earlier answers should go out first."""
    handler = HANDLERS.get(request.api.key)
    if handler is None:
        return False
    return handler.may_wait(RequestContext(client, request.version, request.client_id))


async def answer(request: ReceivedRequest, client: ClientConnection) -> Sequence[Sized] | None:
    """Give the frame that answers a request, in parts; None for a request that gets no answer.

    Raises CloseConnection for what Kafka answers by closing.
    """
    handler = HANDLERS.get(request.api.key)
    if handler is None:
        raise CloseConnection(f"{request.api.name} is not served")
    context = RequestContext(client, request.version, request.client_id)
    return await _awaited(request, client, handler, handler.function(request.message, context))


async def finish(
    request: ReceivedRequest, client: ClientConnection, later: Later[Any]
) -> Sequence[Sized] | None:
    """Give the answer of what `answer_now` began. Gives and raises what `answer` does."""
    return await _awaited(request, client, HANDLERS[request.api.key], later.rest())


async def _awaited(
    request: ReceivedRequest, client: ClientConnection, handler: Handler[Any, Any], awaited: Awaitable[Any]
) -> Sequence[Sized] | None:
    try:
        response = await awaited
        return None if response is None else response_parts(request, response)
    except CloseConnection:
        raise
    except Exception as error:  # noqa: BLE001  # it is logged there
        return _failed(request, client, handler, error)


def _failed(
    request: ReceivedRequest, client: ClientConnection, handler: Handler[Any, Any], error: Exception
) -> Sequence[Sized]:
    """Answer with the error, or if it is our fault with that; then the log has it."""
    if isinstance(error, KafkaError):
        return response_parts(request, handler.refusal(request.message, error))
    logger.error(
        "%s v%d from %s (client id %r) failed",
        request.api.name, request.version, client.peer, request.client_id,
        exc_info=error,
    )  # fmt: skip
    return response_parts(request, handler.refusal(request.message, _OUR_FAULT))
