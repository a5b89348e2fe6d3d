"""Stories of the administration of groups: finding, describing, deleting, their offsets, their configs.

Source: Apache Kafka 4.4; KIP-518 and KIP-848 (filters), KIP-229 (DeleteGroups), KIP-496 (OffsetDelete).
"""

from __future__ import annotations

import time

import pytest

from compat_tests.clients.adapter import Capability, Client, Code, Record
from compat_tests.conftest import MakeTopic, OpenConsumer, OpenMortalConsumer
from compat_tests.stories.members import PROTOCOLS, settle, sizes
from compat_tests.stories.waiting import code_of, eventually, poll_until

BROKERS_SESSION_SECONDS = 2.0


@pytest.mark.needs(Capability.GROUP_ADMIN)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_group_is_listed_and_described(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A group is Stable with its members while they live, and Empty after they left."""
    consumer = open_consumer(group=group, assignor=assignor)
    consumer.subscribe([topic])
    poll_until([consumer], lambda: sizes([consumer]) == [1])
    admin = client.admin()
    listed = admin.list_groups()
    # By KIP-848 a group is Reconciling until its member has said that it has what it was given.
    poll_until([consumer], lambda: admin.describe_group(group).state == "Stable")
    alive = admin.describe_group(group)
    client.produce(topic, [Record(b"a")], partition=0)
    if Capability.COMMIT not in client.not_supported:
        consumer.commit({(topic, 0): 1})
    consumer.close()
    left = admin.describe_group(group)

    assert group in listed
    assert (alive.state, alive.member_count) == ("Stable", 1)
    assert (left.state, left.member_count) == ("Empty", 0)


@pytest.mark.needs(Capability.GROUP_FILTERS)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_groups_are_found_by_state_and_type(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A group is found under its state and its type, and under no others."""
    consumer = open_consumer(group=group, assignor=assignor)
    consumer.subscribe([topic])
    settle([consumer], [1])
    admin = client.admin()
    kind, other = ("consumer", "classic") if assignor == "consumer" else ("classic", "consumer")
    eventually(lambda: group in admin.find_groups(state="Stable"))

    assert group in admin.find_groups(kind=kind)
    assert group in admin.find_groups(state="Stable", kind=kind)
    assert group not in admin.find_groups(kind=other)
    assert group not in admin.find_groups(state="Empty")


@pytest.mark.needs(Capability.GROUP_DELETION)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_only_an_empty_group_is_deleted(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A group that has members is not deleted, an empty one is, and one that is gone is not found."""
    consumer = open_consumer(group=group, assignor=assignor)
    consumer.subscribe([topic])
    settle([consumer], [1])
    consumer.commit({(topic, 0): 0})
    admin = client.admin()
    with_members = code_of(lambda: admin.delete_group(group))
    consumer.close()
    empty = code_of(lambda: admin.delete_group(group))
    gone = code_of(lambda: admin.delete_group(group))

    assert (with_members, empty, gone) == (Code.NON_EMPTY_GROUP, 0, Code.GROUP_ID_NOT_FOUND)


@pytest.mark.needs(Capability.COMMIT, Capability.OFFSET_LISTING)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_offsets_of_a_group_are_listed(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """All that a group committed is listed while it has members and after they left."""
    topic = make_topic(partition_count=3)
    consumer = open_consumer(group=group, assignor=assignor)
    consumer.subscribe([topic])
    settle([consumer], [3])
    committed = {(topic, 0): 3, (topic, 2): 5}
    consumer.commit(committed)
    with_members = client.admin().group_offsets(group)
    consumer.close()

    assert with_members == committed
    assert client.admin().group_offsets(group) == committed


@pytest.mark.needs(Capability.OFFSET_ALTERATION)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_offsets_of_an_empty_group_are_altered(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """Offsets are altered for a group without members, which goes on from there; for others refused."""
    client.produce(topic, [Record(b"%d" % number) for number in range(5)], partition=0)
    admin = client.admin()
    admin.alter_group_offsets(group, {(topic, 0): 3})
    consumer = open_consumer(group=group, assignor=assignor)
    consumer.subscribe([topic])
    received = consumer.poll(0)
    poll_until([consumer], lambda: len(received) >= 2, received)
    with_members = code_of(lambda: admin.alter_group_offsets(group, {(topic, 0): 1}))

    assert [record.value for record in received] == [b"3", b"4"]
    assert with_members == Code.UNKNOWN_MEMBER_ID
    assert admin.group_offsets(group) == {(topic, 0): 3}


@pytest.mark.needs(Capability.OFFSET_DELETION)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_offsets_are_deleted(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A group's offset is deleted, but for a topic that its members subscribe to."""
    subscribed, other = make_topic(), make_topic()
    admin = client.admin()
    admin.alter_group_offsets(group, {(subscribed, 0): 0, (other, 0): 1})
    consumer = open_consumer(group=group, assignor=assignor)
    consumer.subscribe([subscribed])
    settle([consumer], [1])
    refused = code_of(lambda: admin.delete_group_offsets(group, (subscribed, 0)))
    admin.delete_group_offsets(group, (other, 0))

    assert refused == Code.GROUP_SUBSCRIBED_TO_TOPIC
    assert admin.group_offsets(group) == {(subscribed, 0): 0}


@pytest.mark.needs(Capability.SERVER_SIDE_ASSIGNOR, Capability.GROUP_CONFIGS)
def test_group_has_a_session_timeout_of_its_own(
    client: Client,
    make_topic: MakeTopic,
    group: str,
    open_consumer: OpenConsumer,
    open_mortal_consumer: OpenMortalConsumer,
) -> None:
    """By KIP-848 the broker says how long a session lasts, and may be told so for each group."""
    topic = make_topic(partition_count=2)
    client.admin().alter_group_configs(group, {"consumer.session.timeout.ms": "30000"})
    stays = open_consumer(group=group, assignor="consumer")
    dies = open_mortal_consumer(group=group, assignor="consumer")
    stays.subscribe([topic])
    dies.subscribe([topic])
    settle([stays, dies], [1, 1])
    dies.kill()
    deadline = time.monotonic() + 1.5 * BROKERS_SESSION_SECONDS
    poll_until([stays], lambda: time.monotonic() > deadline)
    still = sizes([stays])
    client.admin().alter_group_configs(group, {"consumer.session.timeout.ms": "1000"})

    assert still == [1]


@pytest.mark.needs(Capability.GROUP_CONFIGS)
@pytest.mark.parametrize(("name", "value"), [("no.such.config", "1"), ("consumer.session.timeout.ms", "1")])
def test_bad_group_config_is_not_set(client: Client, group: str, name: str, value: str) -> None:
    """An unknown config of a group, or a value out of the broker's bounds, is INVALID_CONFIG."""
    assert code_of(lambda: client.admin().alter_group_configs(group, {name: value})) == Code.INVALID_CONFIG
