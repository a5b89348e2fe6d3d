"""`@handles(API)`: ties a typed function to an Api, and to the shape of its refusal.

The table made of these in `handlers` is the dispatch; ApiVersions is read from it. What nearly always can be
answered without waiting for anything has an ordinary function besides, `at_once`, which is asked first: it
saves the coroutine, and the answers gathered before it need not go out.

Source: the manner of Redpanda's handler list, from which dispatch and versions derive.
"""

import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from wirekafka.handlers.context import RequestContext
from wirekafka.protocol.api import Api
from wirekafka.protocol.connection import Built
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.message import Message

Req = TypeVar("Req", bound=Message)
Resp = TypeVar("Resp", bound=Message)


class NotAtOnce(enum.Enum):
    NOT_AT_ONCE = enum.auto()
    """Something has to be waited for, and nothing has been done yet."""


NOT_AT_ONCE: Final = NotAtOnce.NOT_AT_ONCE


@dataclass(frozen=True, slots=True)
class Later(Generic[Resp]):
    """What was begun at once, and something has to be waited for: `rest` gives the answer.

    It is called when earlier answers are out, and not at all when the client has gone by then.
    """

    rest: Callable[[], Awaitable[Resp | Built | None]]


AtOnce = Callable[[Req, RequestContext], Resp | Built | Later[Resp] | NotAtOnce | None]
"""Gives the answer without waiting, or what gives it later, or NOT_AT_ONCE: then the function is called."""


def always(context: RequestContext) -> bool:
    """Whether the answer may be long in coming: for any client."""
    return True


def never(context: RequestContext) -> bool:
    """Whether the answer may be long in coming: for no client."""
    return False


@dataclass(frozen=True, slots=True)
class Handler(Generic[Req, Resp]):
    api: Api[Req, Resp]
    function: Callable[[Req, RequestContext], Awaitable[Resp | Built | None]]
    refusal: Callable[[Req, KafkaError], Resp]
    """The response that answers the whole request with one error."""
    may_wait: Callable[[RequestContext], bool]
    """Whether the answer to this client may be long in coming, so that earlier ones should go out first."""
    at_once: AtOnce[Req, Resp] | None = None


def handles(
    api: Api[Req, Resp],
    *,
    refusal: Callable[[Req, KafkaError], Resp],
    may_wait: Callable[[RequestContext], bool] = never,
    at_once: AtOnce[Req, Resp] | None = None,
) -> Callable[[Callable[[Req, RequestContext], Awaitable[Resp | Built | None]]], Handler[Req, Resp]]:
    """Make a function the handler of an API.

    A KafkaError it raises answers the whole request through `refusal`; errors of one topic or
    partition it puts into the response itself. `may_wait` says who may have to wait
    for the answer; `at_once` is asked before, and raises what the function does.
    """

    def decorate(
        function: Callable[[Req, RequestContext], Awaitable[Resp | Built | None]],
    ) -> Handler[Req, Resp]:
        return Handler(api, function, refusal, may_wait, at_once)

    return decorate
