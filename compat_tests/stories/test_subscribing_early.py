"""Stories of members that subscribe to topics which are not there yet.

A client looks for its topics in each refresh of metadata; by KIP-848 the broker does.
Source: Apache Kafka 4.4, Metadata and ConsumerGroupHeartbeat.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from compat_tests.clients import installed_clients
from compat_tests.clients.adapter import Capability, Client, ConsumerSettings, Record
from compat_tests.conftest import OpenConsumer
from compat_tests.stories.members import PROTOCOLS, sizes
from compat_tests.stories.waiting import code_of, eventually, poll_until, values

REFRESH_SECONDS = 1.0
LEEWAY_SECONDS = 2.0
"""For a busy machine, and for the rebalance after the refresh."""
POLL_SECONDS = 0.5
"""Time for a whole rebalance: kafka-python 3.0.12 does not finish one that a poll's end interrupts."""


@pytest.fixture
def other_client(strict_bootstrap: str) -> Iterator[Client]:
    """Give a client that is not under test, to create what the other waits for."""
    able = [client for client in installed_clients() if Capability.TOPIC_ADMIN not in client.not_supported]
    client = able[0](strict_bootstrap)
    # A broker just started has its coordinator of groups a little later; that wait is none of this story's.
    eventually(lambda: code_of(lambda: client.admin().group_offsets("nobody")) == 0)
    yield client
    client.close()


@pytest.mark.needs(Capability.EARLY_SUBSCRIPTION)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_partitions_come_with_the_topic(
    client_class: type[Client],
    strict_bootstrap: str,
    other_client: Client,
    close_at_end: Callable[..., object],
    unique_name: Callable[[str], str],
    assignor: str,
) -> None:
    """A member has its partitions within a refresh of metadata after another client created the topic."""
    topic, client = unique_name("topic"), client_class(strict_bootstrap)
    close_at_end(client)
    refresh_ms = int(REFRESH_SECONDS * 1000)
    settings = ConsumerSettings(unique_name("group"), assignor=assignor, metadata_max_age_ms=refresh_ms)
    consumer = client.consumer(settings)
    close_at_end(consumer)
    consumer.subscribe([topic])
    consumer.poll(POLL_SECONDS)
    early = consumer.assignment()
    other_client.admin().create_topic(topic, 4, {})
    created = time.monotonic()
    poll_until([consumer], lambda: sizes([consumer]) == [4], poll_seconds=POLL_SECONDS)
    seconds = time.monotonic() - created
    other_client.produce(topic, [Record(b"first")], partition=2)
    received = consumer.poll(POLL_SECONDS)
    poll_until([consumer], lambda: bool(received), received, poll_seconds=POLL_SECONDS)

    assert early == set()
    assert seconds < REFRESH_SECONDS + LEEWAY_SECONDS
    assert values(received) == [b"first"]


@pytest.mark.needs(Capability.EARLY_SUBSCRIPTION)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_first_record_creates_the_topic(
    client: Client,
    administrator: Client,
    group: str,
    open_consumer: OpenConsumer,
    unique_name: Callable[[str], str],
    assignor: str,
) -> None:
    """Where the broker creates topics, what is produced first reaches a member that was there before."""
    topic = unique_name("topic")
    refresh_ms = int(REFRESH_SECONDS * 1000)
    consumer = open_consumer(group=group, assignor=assignor, metadata_max_age_ms=refresh_ms)
    consumer.subscribe([topic])
    consumer.poll(POLL_SECONDS)
    administrator.produce(topic, [Record(b"first")], partition=0)
    received = consumer.poll(POLL_SECONDS)
    poll_until([consumer], lambda: bool(received), received, poll_seconds=POLL_SECONDS)

    assert values(received) == [b"first"]
