"""Stories of members that go: with a farewell, killed, or frozen for longer than the session lasts.

Source: Apache Kafka 4.4; KIP-429 (cooperative rebalancing), KIP-848 (the new group protocol).
"""

from __future__ import annotations

import pytest

from compat_tests.clients.adapter import Capability, Client
from compat_tests.conftest import MakeTopic, OpenConsumer, OpenMortalConsumer
from compat_tests.stories.members import (
    ASSIGNORS,
    MANNERS_OF_STALLING,
    ONE_PER_PARTITION,
    PROTOCOLS,
    produce_one_per_partition,
    settle,
    sizes,
    sorted_values,
)
from compat_tests.stories.waiting import poll_until, read


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_leaving_member_hands_over(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """When a member leaves, the other takes all partitions at once."""
    topic = make_topic(partition_count=4)
    stays = open_consumer(group=group, assignor=assignor)
    leaves = open_consumer(group=group, assignor=assignor)
    stays.subscribe([topic])
    leaves.subscribe([topic])
    poll_until([stays, leaves], lambda: sizes([stays, leaves]) == [2, 2])
    leaves.close()
    poll_until([stays], lambda: sizes([stays]) == [4])
    produce_one_per_partition(client, topic)

    assert sorted_values(read(stays, 4)) == ONE_PER_PARTITION


@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_dead_member_is_replaced(
    client: Client,
    make_topic: MakeTopic,
    group: str,
    open_consumer: OpenConsumer,
    open_mortal_consumer: OpenMortalConsumer,
    short_session_ms: int,
    assignor: str,
) -> None:
    """When a member dies without leaving, the other takes over after the session time-out."""
    topic = make_topic(partition_count=4)
    stays = open_consumer(group=group, session_timeout_ms=short_session_ms, assignor=assignor)
    dies = open_mortal_consumer(group=group, session_timeout_ms=short_session_ms, assignor=assignor)
    stays.subscribe([topic])
    dies.subscribe([topic])
    poll_until([stays, dies], lambda: sizes([stays, dies]) == [2, 2])
    dies.kill()
    poll_until([stays], lambda: sizes([stays]) == [4])
    produce_one_per_partition(client, topic)

    assert sorted_values(read(stays, 4)) == ONE_PER_PARTITION


@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_frozen_member_is_replaced_and_comes_back(
    make_topic: MakeTopic,
    group: str,
    open_consumer: OpenConsumer,
    open_mortal_consumer: OpenMortalConsumer,
    short_session_ms: int,
    assignor: str,
) -> None:
    """A member whose process stands still loses its partitions, and joins anew when it goes on."""
    topic = make_topic(partition_count=4)
    stays = open_consumer(group=group, session_timeout_ms=short_session_ms, assignor=assignor)
    freezes = open_mortal_consumer(group=group, session_timeout_ms=short_session_ms, assignor=assignor)
    stays.subscribe([topic])
    freezes.subscribe([topic])
    settle([stays, freezes], [2, 2])
    freezes.freeze()
    try:
        poll_until([stays], lambda: sizes([stays]) == [4])
    finally:
        freezes.thaw()
    settle([stays, freezes], [2, 2])

    assert stays.assignment() | freezes.assignment() == {(topic, partition) for partition in range(4)}
    assert not stays.assignment() & freezes.assignment()


@pytest.mark.needs(Capability.REBALANCES_IN_POLL)
@pytest.mark.parametrize("assignor", MANNERS_OF_STALLING)
def test_member_that_does_not_poll_is_replaced(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A member that does not poll for max.poll.interval.ms leaves by itself, and is back when it polls."""
    topic = make_topic(partition_count=4)
    settings = {"group": group, "assignor": assignor, "session_timeout_ms": 1000}
    polls = open_consumer(**settings)
    stalls = open_consumer(**settings, max_poll_interval_ms=1000)
    polls.subscribe([topic])
    stalls.subscribe([topic])
    settle([polls, stalls], [2, 2])
    poll_until([polls], lambda: sizes([polls]) == [4])
    produce_one_per_partition(client, topic)
    received = read(polls, 4)
    settle([polls, stalls], [2, 2])

    assert sorted_values(received) == ONE_PER_PARTITION
    assert not polls.assignment() & stalls.assignment()


@pytest.mark.needs(Capability.REBALANCES_IN_POLL)
@pytest.mark.parametrize("assignor", MANNERS_OF_STALLING)
def test_rebalance_does_not_wait_for_ever(
    make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A member that does not give up its partitions within the rebalance time-out is left behind."""
    topic = make_topic(partition_count=4)
    stalls = open_consumer(group=group, assignor=assignor, session_timeout_ms=1000, max_poll_interval_ms=1000)
    stalls.subscribe([topic])
    settle([stalls], [4])
    joins = open_consumer(group=group, assignor=assignor)
    joins.subscribe([topic])
    poll_until([joins], lambda: sizes([joins]) == [4])
    settle([joins, stalls], [2, 2])

    assert not joins.assignment() & stalls.assignment()
