"""One request through: its handler, and what becomes of an error.

Called by `server.connection`. Every exception is caught here, as nowhere else but in `broker.firebreak`: a
client gets an error code, the log gets the traceback.

Source: Kafka's KafkaApis.handle and RequestHandlerHelper.handleError.
"""

from collections.abc import Sequence, Sized

from wirekafka.handlers import HANDLERS, ClientConnection, CloseConnection, RequestContext
from wirekafka.observability import get_logger
from wirekafka.protocol.connection import ReceivedRequest, response_parts
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

logger = get_logger("server")

_OUR_FAULT = KafkaError(
    ErrorCode.UNKNOWN_SERVER_ERROR, "The broker failed at this request; its log has the traceback."
)


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
    try:
        response = await handler.function(request.message, context)
        return None if response is None else response_parts(request, response)
    except CloseConnection:
        raise
    except KafkaError as error:
        return response_parts(request, handler.refusal(request.message, error))
    except Exception:
        logger.exception(
            "%s v%d from %s (client id %r) failed",
            request.api.name, request.version, client.peer, request.client_id,
        )  # fmt: skip
        return response_parts(request, handler.refusal(request.message, _OUR_FAULT))
