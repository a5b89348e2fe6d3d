"""Stories of static members: who comes back under its name has its partitions, and nobody else is disturbed.

Source: Apache Kafka 4.4; KIP-345 (static membership), KIP-848.
"""

from __future__ import annotations

import pytest

from compat_tests.clients.adapter import Capability, Client, Code, Consumer
from compat_tests.conftest import MakeTopic, OpenConsumer
from compat_tests.stories.members import (
    ONE_PER_PARTITION,
    PROTOCOLS,
    produce_one_per_partition,
    settle,
    sizes,
    sorted_values,
)
from compat_tests.stories.waiting import code_of, eventually, poll_until, read, refusal_while_polling

pytestmark = pytest.mark.needs(Capability.STATIC_MEMBERSHIP)


@pytest.mark.needs(Capability.REBALANCE_LISTENER)
@pytest.mark.parametrize(
    "assignor",
    [
        PROTOCOLS[0],
        pytest.param(
            "consumer",
            marks=pytest.mark.needs(Capability.SERVER_SIDE_ASSIGNOR, Capability.STATIC_RELEASE),
            id="consumer",
        ),
    ],
)
def test_static_member_restarts_without_a_rebalance(
    make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A static member that is back within the session time-out has its partitions; others notice nothing."""
    topic = make_topic(partition_count=4)
    settings = {"group": group, "assignor": assignor}
    stays = open_consumer(**settings, instance_id="stays")
    restarts = open_consumer(**settings, instance_id="restarts")
    for member in (stays, restarts):
        member.subscribe([topic])
    settle([stays, restarts], [2, 2])
    held, heard = restarts.assignment(), len(stays.rebalances())
    restarts.close()
    back = open_consumer(**settings, instance_id="restarts")
    back.subscribe([topic])
    poll_until([stays, back], lambda: sizes([back]) == [2])

    assert back.assignment() == held
    assert len(stays.rebalances()) == heard


@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_static_member_that_stays_away_is_replaced(
    client: Client,
    make_topic: MakeTopic,
    group: str,
    open_consumer: OpenConsumer,
    short_session_ms: int,
    assignor: str,
) -> None:
    """A static member that is not back within the session time-out loses its partitions."""
    topic = make_topic(partition_count=4)
    settings = {"group": group, "assignor": assignor, "session_timeout_ms": short_session_ms}
    stays = open_consumer(**settings, instance_id="stays")
    goes = open_consumer(**settings, instance_id="goes")
    for member in (stays, goes):
        member.subscribe([topic])
    settle([stays, goes], [2, 2])
    goes.close()
    poll_until([stays], lambda: sizes([stays]) == [4])
    produce_one_per_partition(client, topic)

    assert sorted_values(read(stays, 4)) == ONE_PER_PARTITION


@pytest.mark.needs(Capability.COMMIT, Capability.STATIC_FENCING)
def test_first_of_two_with_one_instance_id_is_fenced(
    topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """Who joins with an instance id that is in use takes its place; the one before is fenced."""
    first = open_consumer(group=group, instance_id="only-one")
    first.subscribe([topic])
    settle([first], [1])
    second = open_consumer(group=group, instance_id="only-one")
    second.subscribe([topic])
    settle([second], [1])

    assert eventually(lambda: code_of(lambda: poll_and_commit(first, topic))) == Code.FENCED_INSTANCE_ID


@pytest.mark.needs(Capability.SERVER_SIDE_ASSIGNOR)
def test_second_of_two_with_one_instance_id_is_refused(
    topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """By KIP-848 nobody takes the place of a member that is there: UNRELEASED_INSTANCE_ID."""
    first = open_consumer(group=group, instance_id="only-one", assignor="consumer")
    first.subscribe([topic])
    settle([first], [1])
    second = open_consumer(group=group, instance_id="only-one", assignor="consumer")
    second.subscribe([topic])

    assert refusal_while_polling([second, first]) == Code.UNRELEASED_INSTANCE_ID


def poll_and_commit(consumer: Consumer, topic: str) -> None:
    """Do what a member does; some clients say in a poll that it was fenced, others in a commit."""
    consumer.poll(0.05)
    consumer.commit({(topic, 0): 0})
