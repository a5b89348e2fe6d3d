"""`@handles(API)`: ties a typed function to an Api, and to the shape of its refusal.

The table made of these in `handlers` is the dispatch; ApiVersions is read from it.
Source: the manner of Redpanda's handler list, from which dispatch and versions derive.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from wirekafka.handlers.context import RequestContext
from wirekafka.protocol.api import Api
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.message import Message

Req = TypeVar("Req", bound=Message)
Resp = TypeVar("Resp", bound=Message)


def always(context: RequestContext) -> bool:
    """Whether the answer may be long in coming: for any client."""
    return True


def never(context: RequestContext) -> bool:
    """Whether the answer may be long in coming: for no client."""
    return False


@dataclass(frozen=True, slots=True)
class Handler(Generic[Req, Resp]):
    api: Api[Req, Resp]
    function: Callable[[Req, RequestContext], Awaitable[Resp | None]]
    refusal: Callable[[Req, KafkaError], Resp]
    """The response that answers the whole request with one error."""
    may_wait: Callable[[RequestContext], bool]
    """Whether the answer to this client may be long in coming, so that earlier ones should go out first."""


def handles(
    api: Api[Req, Resp],
    *,
    refusal: Callable[[Req, KafkaError], Resp],
    may_wait: Callable[[RequestContext], bool] = never,
) -> Callable[[Callable[[Req, RequestContext], Awaitable[Resp | None]]], Handler[Req, Resp]]:
    """Make a function the handler of an API.

    A KafkaError it raises answers the whole request through `refusal`; errors of one topic or
    partition it puts into the response itself. `may_wait` says who may have to wait
    for the answer.
    """

    def decorate(function: Callable[[Req, RequestContext], Awaitable[Resp | None]]) -> Handler[Req, Resp]:
        return Handler(api, function, refusal, may_wait)

    return decorate
