"""Tests of protocol/api.py."""

import dataclasses

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, Versions, wire
from wirekafka.protocol.wire import INT32


class PingRequest(Message, versions="2-5", flexible="4+"):
    number: int = wire(INT32)


class PingResponse(Message, versions="2-5", flexible="4+"):
    number: int = wire(INT32)


PING = Api(99, PingRequest, PingResponse)


def test_api_is_named_as_its_request() -> None:
    """Kafka's own name, as logs and tools print it."""
    assert PING.name == "Ping"


def test_api_has_the_versions_of_its_request() -> None:
    """The classes are the one source of what is spoken."""
    assert PING.versions == Versions(2, 5)


def test_api_is_flexible_as_its_request() -> None:
    """From there on requests have header v2 and responses header v1 (KIP-482)."""
    assert [PING.is_flexible(version) for version in (2, 3, 4, 5)] == [False, False, True, True]


def test_all_served_versions_are_advertised() -> None:
    """ApiVersions says what is true unless the Api has a reason."""
    assert PING.advertised == Versions(2, 5)


def test_an_api_may_advertise_older_versions_than_it_serves() -> None:
    """Produce says 0 for old librdkafka (KAFKA-18659)."""
    api = dataclasses.replace(PING, advertised_from=0)

    assert api.advertised == Versions(0, 5)
    assert api.versions == Versions(2, 5)
