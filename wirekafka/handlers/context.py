"""Who asks, from where, in which version: what a handler knows besides the request."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from wirekafka.broker import Broker, GroupClient
from wirekafka.protocol.message import Versions


class CloseConnection(Exception):
    """What Kafka answers by closing the connection; the text is for the log."""


class Endpoint(NamedTuple):
    host: str
    port: int


async def _at_once() -> None:
    """Keep nobody waiting."""


@dataclass(slots=True)
class Acquaintance:
    """What becomes known of a connection while it lasts."""

    software_name: str = ""
    """What the client calls itself in ApiVersions (KIP-511); empty while it has not."""
    more_is_said: Callable[[], Awaitable[None]] = _at_once
    """Returns when more bytes have come, or the client has hung up; at once where nobody listens for that."""


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """One connection: the same for all its requests."""

    broker: Broker
    peer: str
    """Address and port of the client, for the log."""
    client_host: str
    """The client's address as Kafka prints it in group descriptions: "/127.0.0.1"."""
    endpoint: Endpoint
    """Where this client reaches the broker: what it is told in metadata."""
    advertised: Mapping[int, Versions]
    """The versions of every API that has a handler, by key."""
    acquaintance: Acquaintance = field(default_factory=Acquaintance)


@dataclass(slots=True)
class RequestContext:
    """One request's circumstances, made anew for each. Versions end here: below the handlers
    they are named facts.
    """

    connection: ClientConnection
    version: int
    client_id: str | None

    @property
    def broker(self) -> Broker:
        return self.connection.broker

    @property
    def endpoint(self) -> Endpoint:
        return self.connection.endpoint

    @property
    def group_client(self) -> GroupClient:
        """The client as group descriptions name it."""
        return GroupClient(self.client_id or "", self.connection.client_host)
