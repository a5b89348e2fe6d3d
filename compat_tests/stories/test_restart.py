"""Stories of a broker that ends, by a polite signal or a rude one, and comes back on the same data.

Source: Apache Kafka 4.4. Records a producer was told are stored survive the death of the process.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from compat_tests.advertised import CONSUMER_GROUP_HEARTBEAT, advertised_keys
from compat_tests.broker import RestartableBroker
from compat_tests.clients import installed_clients
from compat_tests.clients.adapter import Capability, Client, Consumer, ConsumerSettings, Received, Record
from compat_tests.stories.members import PROTOCOLS, settle
from compat_tests.stories.waiting import eventually, partitions_of, poll_until, read, values

ENDINGS = [pytest.param(signal.SIGTERM, id="SIGTERM"), pytest.param(signal.SIGKILL, id="SIGKILL")]
# Where a kill shows what an orderly end would show.
ABRUPT_ENDINGS = [pytest.param(signal.SIGTERM, id="SIGTERM", marks=pytest.mark.thorough), ENDINGS[1]]
CONSTANT = [
    pytest.param(
        "roundrobin",
        marks=pytest.mark.needs(Capability.ROUND_ROBIN, Capability.ABSENCE),
        id="roundrobin",
    ),
    PROTOCOLS[1],
]
SESSION_MS = 60_000
"""Longer than Apache Kafka is away; no broker allows a longer one by KIP-848."""
HEARTBEAT_MS = 500
"""By KIP-848, of librdkafka also its patience: an answer that comes later has it join again."""
HEARTBEATS_SECONDS = 1.5
"""Time for a few heartbeats after the restart."""


@pytest.fixture
def client(client_class: type[Client], restartable_broker: RestartableBroker) -> Iterator[Client]:
    """Give the client under test, pointed at the broker that restarts."""
    client = client_class(restartable_broker.bootstrap)
    yield client
    client.close()


@pytest.fixture
def topic(unique_name: Callable[[str], str]) -> str:
    """Give the name of a topic that producing will create."""
    return unique_name("topic")


@pytest.mark.parametrize("ending", ENDINGS)
def test_acknowledged_records_survive(
    client: Client, topic: str, restartable_broker: RestartableBroker, ending: signal.Signals
) -> None:
    """Every acknowledged record is read after the restart, and offsets go on where they were."""
    sent = [Record(b"%d" % number * 50, key=b"%d" % number) for number in range(200)]
    client.produce(topic, sent, partition=0)
    restartable_broker.restart(ending)
    places = client.produce(topic, [Record(b"after")], partition=0)
    with closing(client.consumer(ConsumerSettings())) as consumer:
        consumer.assign(topic, {0: "beginning"})
        received = read(consumer, len(sent) + 1)

    assert places == [(0, len(sent))]
    assert values(received) == [*(record.value for record in sent), b"after"]


@pytest.fixture
def group_settings(
    client: Client, group: str, restartable_broker: RestartableBroker
) -> list[ConsumerSettings]:
    """Give a group for each protocol that client and broker have, so that one restart does for all."""
    classic = ConsumerSettings(group=group, assignor="roundrobin")
    newer = ConsumerSettings(group=f"{group}-newer", assignor="consumer")
    has_newer = Capability.SERVER_SIDE_ASSIGNOR not in client.not_supported
    if has_newer and CONSUMER_GROUP_HEARTBEAT in advertised_keys(restartable_broker.bootstrap):
        return [classic, newer]
    return [classic]


@pytest.mark.parametrize("ending", ENDINGS)
def test_group_resumes_after_restart(
    client: Client,
    topic: str,
    group_settings: list[ConsumerSettings],
    restartable_broker: RestartableBroker,
    ending: signal.Signals,
) -> None:
    """A group's commit survives the restart, and its next member goes on from there."""
    client.produce(topic, [Record(b"old")], partition=0)
    for settings in group_settings:
        with closing(client.consumer(replace(settings, auto_commit=True))) as consumer:
            consumer.subscribe([topic])
            read(consumer, 1)
    restartable_broker.restart(ending)
    client.produce(topic, [Record(b"new")], partition=0)
    received: list[list[bytes | None]] = []
    for settings in group_settings:
        with closing(client.consumer(replace(settings, auto_commit=True))) as consumer:
            consumer.subscribe([topic])
            received.append(values(read(consumer, 1)))

    assert received == [[b"new"]] * len(group_settings)


@pytest.mark.parametrize("ending", ABRUPT_ENDINGS)
def test_member_lives_through_a_restart(
    client: Client,
    topic: str,
    group_settings: list[ConsumerSettings],
    restartable_broker: RestartableBroker,
    ending: signal.Signals,
) -> None:
    """A member that was there before the restart reconnects and goes on reading."""
    client.produce(topic, [Record(b"before")], partition=0)
    received: list[list[Received]] = []
    with ExitStack() as stack:
        consumers = [stack.enter_context(closing(client.consumer(settings))) for settings in group_settings]
        for consumer in consumers:
            consumer.subscribe([topic])
            received.append(read(consumer, 1))
        restartable_broker.restart(ending)
        client.produce(topic, [Record(b"after")], partition=0)
        for consumer, heard in zip(consumers, received, strict=True):
            poll_until([consumer], _have_come([b"after"], heard), heard)

    assert [values(heard)[0] for heard in received] == [b"before"] * len(group_settings)


@pytest.mark.needs(Capability.STATIC_MEMBERSHIP, Capability.REBALANCE_LISTENER)
@pytest.mark.parametrize("assignor", CONSTANT)
@pytest.mark.parametrize("ending", ABRUPT_ENDINGS)
def test_static_members_notice_nothing_of_a_restart(
    client: Client,
    topic: str,
    group: str,
    restartable_broker: RestartableBroker,
    assignor: str,
    ending: signal.Signals,
) -> None:
    """Static members keep their partitions over a restart: their listeners hear nothing."""
    _prepare_for_a_long_session(restartable_broker.bootstrap, topic, group)
    settings = ConsumerSettings(group, assignor=assignor, session_timeout_ms=SESSION_MS)
    with ExitStack() as stack:
        members = [
            stack.enter_context(closing(client.consumer(replace(settings, instance_id=name))))
            for name in ("first", "second")
        ]
        for member in members:
            member.subscribe([topic])
        settle(members, [2, 2])
        # What a member asks only once, after it was given partitions, is no matter of this story.
        _read_everywhere(client, topic, members, b"before")
        held = [member.assignment() for member in members]
        before = [len(member.rebalances()) for member in members]
        restartable_broker.restart(ending)
        _read_everywhere(client, topic, members, b"after")
        beats = time.monotonic() + HEARTBEATS_SECONDS
        poll_until(members, lambda: time.monotonic() > beats)
        kept = [member.assignment() for member in members]
        heard = [member.rebalances()[count:] for member, count in zip(members, before, strict=True)]

    assert heard == [[], []]
    assert kept == held


def _prepare_for_a_long_session(bootstrap: str, topic: str, group: str) -> None:
    """Create the topic, with four partitions, and by KIP-848 have a session outlast a slow restart."""
    wanted = {Capability.TOPIC_ADMIN, Capability.GROUP_CONFIGS}
    able = [client for client in installed_clients() if not wanted & client.not_supported.keys()]
    with closing(able[0](bootstrap)) as client:
        client.admin().create_topic(topic, 4, {})
        configs = {"consumer.session.timeout.ms": SESSION_MS, "consumer.heartbeat.interval.ms": HEARTBEAT_MS}
        client.admin().alter_group_configs(group, {name: str(value) for name, value in configs.items()})


def _read_everywhere(client: Client, topic: str, members: list[Consumer], word: bytes) -> None:
    """Have a record with this word read from each of the four partitions."""
    wanted = [b"%s in %d" % (word, partition) for partition in range(4)]
    for partition, value in enumerate(wanted):
        client.produce(topic, [Record(value)], partition=partition)
    received: list[Received] = []
    poll_until(members, _have_come(wanted, received), received)


def _have_come(wanted: list[bytes], received: list[Received]) -> Callable[[], bool]:
    return lambda: set(wanted) <= set(values(received))


@pytest.mark.needs(Capability.TOPIC_ADMIN, Capability.DESCRIBE_CONFIGS)
@pytest.mark.parametrize("ending", ABRUPT_ENDINGS)
def test_topics_survive(
    client_class: type[Client],
    topic: str,
    restartable_broker: RestartableBroker,
    ending: signal.Signals,
) -> None:
    """Topics, their partitions and their configs are as they were."""
    with closing(client_class(restartable_broker.bootstrap)) as before:
        before.admin().create_topic(topic, 3, {"retention.ms": "7654321"})
    restartable_broker.restart(ending)
    with closing(client_class(restartable_broker.bootstrap)) as after:
        partitions = eventually(lambda: partitions_of(after.admin(), topic))
        configs = after.admin().describe_configs(topic)

    assert partitions == {0, 1, 2}
    assert configs["retention.ms"] == "7654321"


@pytest.mark.needs(Capability.ALTER_CONFIGS, Capability.DESCRIBE_CONFIGS)
@pytest.mark.parametrize("ending", ABRUPT_ENDINGS)
def test_altered_configs_survive(
    client_class: type[Client],
    topic: str,
    restartable_broker: RestartableBroker,
    ending: signal.Signals,
) -> None:
    """A topic's configs are as they were altered."""
    with closing(client_class(restartable_broker.bootstrap)) as before:
        before.produce(topic, [Record(b"first")], partition=0)
        before.admin().alter_configs(topic, {"retention.ms": "7654321", "segment.bytes": "2000000"})
    restartable_broker.restart(ending)
    with closing(client_class(restartable_broker.bootstrap)) as after:
        configs = after.admin().describe_configs(topic)

    assert (configs["retention.ms"], configs["segment.bytes"]) == ("7654321", "2000000")
