"""Stories of members that subscribe to topics which are not there yet.

A client looks for its topics in each refresh of metadata; by KIP-848 the broker does.
Source: Apache Kafka 4.4, Metadata and ConsumerGroupHeartbeat.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from compat_tests.clients.adapter import Capability, Client, ConsumerSettings, Record
from compat_tests.conftest import OpenConsumer
from compat_tests.stories.members import PROTOCOLS, held_by_one_each, settle, sizes
from compat_tests.stories.waiting import poll_until, values

REFRESH_SECONDS = 1.0
LEEWAY_SECONDS = 2.0
"""For a busy machine, and for the rebalance after the refresh."""
POLL_SECONDS = 0.5
"""Time for a whole rebalance: kafka-python 3.0.12 does not finish one that a poll's end interrupts."""


@pytest.mark.needs(Capability.EARLY_SUBSCRIPTION)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_partitions_come_with_the_topic(
    client_class: type[Client],
    strict_bootstrap: str,
    strict_administrator: Client,
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
    strict_administrator.admin().create_topic(topic, 4, {})
    created = time.monotonic()
    poll_until([consumer], lambda: sizes([consumer]) == [4], poll_seconds=POLL_SECONDS)
    seconds = time.monotonic() - created
    strict_administrator.produce(topic, [Record(b"first")], partition=2)
    received = consumer.poll(POLL_SECONDS)
    poll_until([consumer], lambda: bool(received), received, poll_seconds=POLL_SECONDS)

    assert early == set()
    assert seconds < REFRESH_SECONDS + LEEWAY_SECONDS
    assert values(received) == [b"first"]


@pytest.mark.needs(Capability.EARLY_SUBSCRIPTION, Capability.GROWTH)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_members_share_a_topic_they_waited_for(
    client_class: type[Client],
    strict_bootstrap: str,
    strict_administrator: Client,
    close_at_end: Callable[..., object],
    unique_name: Callable[[str], str],
    assignor: str,
) -> None:
    """Two members share a new topic: within a refresh where the broker looks for it, else eventually."""
    topic, group, client = unique_name("topic"), unique_name("group"), client_class(strict_bootstrap)
    close_at_end(client)
    refresh_ms = int(REFRESH_SECONDS * 1000)
    settings = ConsumerSettings(group, assignor=assignor, metadata_max_age_ms=refresh_ms)
    members = [client.consumer(settings) for _ in range(2)]
    for member in members:
        close_at_end(member)
        member.subscribe([topic])
        member.poll(POLL_SECONDS)
    early = sizes(members)
    strict_administrator.admin().create_topic(topic, 4, {})
    created = time.monotonic()
    settle(members, [2, 2])
    seconds = time.monotonic() - created

    assert early == [0, 0]
    assert held_by_one_each(members)
    # Members that look for themselves look one after the other, and each calls for a rebalance.
    assert assignor != "consumer" or seconds < REFRESH_SECONDS + LEEWAY_SECONDS


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
