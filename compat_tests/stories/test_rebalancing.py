"""Stories that compare rebalances: which partitions stop, and for how long.

With an eager assignor a rebalance stops the world: every member gives up all it has, and waits until the last
has joined again. With a cooperative one, and by KIP-848, a partition stops only where it moves.
Source: Apache Kafka 4.4; KIP-429 (cooperative rebalancing), KIP-848 (the new group protocol).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from compat_tests.advertised import CONSUMER_GROUP_HEARTBEAT
from compat_tests.clients.adapter import Capability, Client, Consumer, Partition, Received, Record
from compat_tests.conftest import MakeTopic, OpenConsumer
from compat_tests.stories.members import MANNERS, produce_one_per_partition, settle, sizes
from compat_tests.stories.waiting import poll_until, read, values

EAGER = Capability.ROUND_ROBIN.value
STALL_SECONDS = 1.0
REQUEST_TIMEOUT_SECONDS = 3.0
"""Longer than any answer is kept waiting that a member of a quiet group asks for."""


def stopped(consumer: Consumer, since: int) -> set[Partition]:
    """Give the partitions that a member gave up after the first `since` things it was told."""
    told = consumer.rebalances()[since:]
    return {partition for event in told if event.kind == "revoked" for partition in event.partitions}


def pauses_ms(members: list[Consumer]) -> dict[Partition, float]:
    """Give for how long each partition that was given up last was without an owner."""
    told = sorted(
        (event for member in members for event in member.rebalances()), key=lambda event: event.at_ms
    )
    stops: dict[Partition, float] = {}
    pauses: dict[Partition, float] = {}
    for event in told:
        for partition in event.partitions:
            if event.kind == "revoked":
                stops[partition] = event.at_ms
            elif partition in stops:
                pauses[partition] = event.at_ms - stops.pop(partition)
    return pauses


@pytest.mark.needs(Capability.REBALANCE_LISTENER)
@pytest.mark.parametrize("assignor", MANNERS)
def test_which_partitions_stop(
    make_topic: MakeTopic,
    group: str,
    open_consumer: OpenConsumer,
    record_property: Callable[[str, object], None],
    assignor: str,
) -> None:
    """When a member joins, all partitions stop with an eager assignor, else only those that it gets."""
    topic = make_topic(partition_count=4)
    first = open_consumer(group=group, assignor=assignor)
    first.subscribe([topic])
    settle([first], [4])
    before = len(first.rebalances())
    second = open_consumer(group=group, assignor=assignor)
    second.subscribe([topic])
    settle([first, second], [2, 2])
    record_property("pauses_ms", sorted(pauses_ms([first, second]).items()))
    everything = {(topic, partition) for partition in range(4)}

    assert stopped(first, before) == (everything if assignor == EAGER else second.assignment())


@pytest.mark.needs(Capability.REBALANCE_LISTENER, Capability.REBALANCES_IN_POLL)
@pytest.mark.parametrize(
    "assignor",
    [
        MANNERS[0],
        pytest.param(
            "cooperative-sticky",
            marks=pytest.mark.needs(Capability.COOPERATIVE_STICKY, Capability.READS_ON),
            id="cooperative-sticky",
        ),
        MANNERS[2],
    ],
)
@pytest.mark.needs(Capability.SHORT_POLLS)
def test_how_long_partitions_stop(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """While one member is slow to join again, an eager group stands still; others read on."""
    topic = make_topic(partition_count=4)
    settings = {"group": group, "assignor": assignor}
    quick, slow = open_consumer(**settings), open_consumer(**settings)
    for member in (quick, slow):
        member.subscribe([topic])
    settle([quick, slow], [2, 2])
    kept, before = quick.assignment(), len(quick.rebalances())
    joins = open_consumer(**settings)
    joins.subscribe([topic])
    beginning = time.monotonic() + STALL_SECONDS / 2
    # Only in an eager rebalance does a member hear at once that it begins.
    poll_until(
        [quick, joins],
        lambda: bool(stopped(quick, before)) if assignor == EAGER else time.monotonic() > beginning,
    )
    produce_one_per_partition(client, topic)
    received: list[Received] = []
    end = time.monotonic() + STALL_SECONDS
    poll_until([quick], lambda: bool(received) or (assignor == EAGER and time.monotonic() > end), received)
    read_meanwhile = {(record.topic, record.partition) for record in received}
    settle([quick, slow, joins], [2, 1, 1])

    assert read_meanwhile <= kept
    assert bool(read_meanwhile) == (assignor != EAGER)


@pytest.mark.needs(Capability.REBALANCE_LISTENER)
@pytest.mark.thorough
def test_impatient_member_stays(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer, broker_keys: frozenset[int]
) -> None:
    """A member that waits three seconds for an answer, and no longer, is not disturbed in a quiet group."""
    protocols = [EAGER]
    has_newer = Capability.SERVER_SIDE_ASSIGNOR not in client.not_supported
    if has_newer and CONSUMER_GROUP_HEARTBEAT in broker_keys:
        protocols.append(Capability.SERVER_SIDE_ASSIGNOR.value)
    timeout_ms = int(REQUEST_TIMEOUT_SECONDS * 1000)
    members = [
        open_consumer(group=f"{group}-{assignor}", assignor=assignor, request_timeout_ms=timeout_ms)
        for assignor in protocols
    ]
    for member in members:
        member.subscribe([topic])
    poll_until(members, lambda: sizes(members) == [1] * len(members))
    before = [member.rebalances() for member in members]
    end = time.monotonic() + 2 * REQUEST_TIMEOUT_SECONDS
    poll_until(members, lambda: time.monotonic() > end)
    client.produce(topic, [Record(b"at last")], partition=0)
    received = [values(read(member, 1)) for member in members]

    assert received == [[b"at last"]] * len(members)
    assert [member.rebalances() for member in members] == before
