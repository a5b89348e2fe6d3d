"""Tests of handlers/patience.py: whose heartbeats may be held, by what a client says of itself."""

from types import SimpleNamespace
from typing import cast

import pytest

from wirekafka.broker import Broker
from wirekafka.handlers import ClientConnection, Endpoint, RequestContext
from wirekafka.handlers.patience import bears_held_heartbeats


def bears(software_name: str, client_id: str | None, *, holds: bool = True) -> bool:
    coordination = SimpleNamespace(holds_heartbeats=holds)
    connection = ClientConnection(
        broker=cast(Broker, SimpleNamespace(coordination=coordination)),
        peer="127.0.0.1:1000",
        client_host="/127.0.0.1",
        endpoint=Endpoint("127.0.0.1", 9092),
        advertised={},
    )
    connection.acquaintance.software_name = software_name
    return bears_held_heartbeats(RequestContext(connection, 4, client_id))


@pytest.mark.parametrize(
    "software_name", ["apache-kafka-java", "librdkafka", "confluent-kafka-python", "kafka-python"]
)
def test_clients_that_beat_beside_their_work_bear_it(software_name: str) -> None:
    """Each was looked into, and tried."""
    assert bears(software_name, None)


@pytest.mark.parametrize("software_name", ["", "kafkajs", "kgo", "sarama"])
def test_every_other_client_is_answered_at_once(software_name: str) -> None:
    """kafkajs waits for a heartbeat between batches, franz-go before it commits a transaction."""
    assert not bears(software_name, "my-app")


def test_aiokafka_is_known_by_the_client_id_it_makes() -> None:
    """Its ApiVersions has no room for a software name."""
    assert bears("", "aiokafka-0.14.0")
    assert not bears("", None)


def test_where_no_heartbeat_is_held_no_client_is_asked_to_bear_it() -> None:
    """It would take a longer way for nothing."""
    assert not bears("librdkafka", None, holds=False)
