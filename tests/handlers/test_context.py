"""context: what a handler knows besides the request."""

from types import MappingProxyType
from typing import Any, cast

import pytest

from wirekafka.broker import GroupClient
from wirekafka.handlers.context import ClientConnection, Endpoint, RequestContext

BROKER = cast(Any, object())


def context(client_id: str | None) -> RequestContext:
    connection = ClientConnection(
        broker=BROKER,
        peer="127.0.0.1:5",
        client_host="/127.0.0.1",
        endpoint=Endpoint("h", 1),
        advertised=MappingProxyType({}),
    )
    return RequestContext(connection, 3, client_id)


def test_connection_is_seen_through() -> None:
    made = context("c")

    assert (made.broker, made.endpoint) == (BROKER, Endpoint("h", 1))


@pytest.mark.parametrize(("client_id", "named"), [("c", "c"), (None, ""), ("", "")])
def test_group_members_are_named_by_client_id_and_address(client_id: str | None, named: str) -> None:
    """Group descriptions have no null; Kafka writes the address with a slash."""
    assert context(client_id).group_client == GroupClient(named, "/127.0.0.1")
