"""Stories of topic administration: what is done, and with which error it is refused.

Source: Apache Kafka 4.4, CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs,
IncrementalAlterConfigs, AlterConfigs, Metadata.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat_tests.clients.adapter import BrokerError, Capability, Client, Code, Record
from compat_tests.conftest import MakeTopic
from compat_tests.stories.waiting import code_of, eventually, partitions_of


def refusal_of(call: Callable[[], object]) -> int:
    """Give the error code with which the broker refuses a call; fail if it does not."""
    with pytest.raises(BrokerError) as refusal:
        call()
    return refusal.value.code


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_created_topic_is_described(client: Client, unique_name: Callable[[str], str]) -> None:
    """A created topic is described with as many partitions as were asked for, each with a leader."""
    admin, topic = client.admin(), unique_name("topic")

    admin.create_topic(topic, 3, {})

    assert eventually(lambda: partitions_of(admin, topic)) == {0, 1, 2}


@pytest.mark.needs(Capability.TOPIC_LISTING)
def test_topics_are_listed(client: Client, make_topic: MakeTopic) -> None:
    """The list of topics has every topic, also those another client made."""
    topics = {make_topic(), make_topic(partition_count=2)}

    assert eventually(lambda: topics <= client.admin().list_topics())


@pytest.mark.needs(Capability.TOPIC_LISTING)
def test_partitions_are_described(client: Client, make_topic: MakeTopic) -> None:
    """Metadata names every partition of a topic and its leader."""
    topic = make_topic(partition_count=5)

    assert eventually(lambda: client.admin().describe_topic(topic)) == {0, 1, 2, 3, 4}


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_existing_topic_is_not_created_again(client: Client, topic: str) -> None:
    """Creating a topic that exists is refused with TOPIC_ALREADY_EXISTS."""
    code = refusal_of(lambda: client.admin().create_topic(topic, 1, {}))

    assert code == Code.TOPIC_ALREADY_EXISTS


@pytest.mark.needs(Capability.TOPIC_ADMIN)
@pytest.mark.parametrize("name", ["white space", "slash/ed", "..", "x" * 250])
def test_invalid_name_is_refused(client: Client, name: str) -> None:
    """A name with characters outside [a-zA-Z0-9._-], `.`, `..` or more than 249 of them is INVALID_TOPIC."""
    code = refusal_of(lambda: client.admin().create_topic(name, 1, {}))

    assert code == Code.INVALID_TOPIC


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_zero_partitions_are_refused(client: Client, unique_name: Callable[[str], str]) -> None:
    """A topic of no partitions is refused with INVALID_PARTITIONS."""
    code = refusal_of(lambda: client.admin().create_topic(unique_name("none"), 0, {}))

    assert code == Code.INVALID_PARTITIONS


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_unknown_config_is_refused(client: Client, unique_name: Callable[[str], str]) -> None:
    """A config Kafka does not know, or a value it does not allow, is refused with INVALID_CONFIG."""
    admin = client.admin()
    unknown = refusal_of(lambda: admin.create_topic(unique_name("unknown"), 1, {"no.such.config": "1"}))
    wrong = refusal_of(lambda: admin.create_topic(unique_name("wrong"), 1, {"retention.ms": "soon"}))

    assert [unknown, wrong] == [Code.INVALID_CONFIG, Code.INVALID_CONFIG]


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_deleted_topic_is_gone(client: Client, topic: str) -> None:
    """A deleted topic is unknown, and its name can be used again for an empty topic."""
    client.produce(topic, [Record(b"old")], partition=0)
    admin = client.admin()
    admin.delete_topic(topic)
    eventually(lambda: topic not in admin.list_topics())
    admin.create_topic(topic, 1, {})
    eventually(lambda: partitions_of(admin, topic))

    assert client.produce(topic, [Record(b"new")], partition=0) == [(0, 0)]


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_unknown_topic_is_not_deleted(client: Client, unique_name: Callable[[str], str]) -> None:
    """Deleting a topic that is not there is refused with UNKNOWN_TOPIC_OR_PARTITION."""
    code = refusal_of(lambda: client.admin().delete_topic(unique_name("absent")))

    assert code == Code.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_topic_grows(client: Client, topic: str) -> None:
    """More partitions can be added, and take records from offset 0."""
    admin = client.admin()
    admin.create_partitions(topic, 3)
    eventually(lambda: admin.describe_topic(topic) == {0, 1, 2})

    assert client.produce(topic, [Record(b"a")], partition=2) == [(2, 0)]


@pytest.mark.needs(Capability.TOPIC_ADMIN)
@pytest.mark.parametrize("total_count", [1, 2])
def test_topic_does_not_shrink(client: Client, make_topic: MakeTopic, total_count: int) -> None:
    """A number of partitions that is not larger than the present one is refused with INVALID_PARTITIONS."""
    topic = make_topic(partition_count=2)
    code = refusal_of(lambda: client.admin().create_partitions(topic, total_count))

    assert code == Code.INVALID_PARTITIONS


@pytest.mark.needs(Capability.TOPIC_ADMIN)
def test_unknown_topic_does_not_grow(client: Client, unique_name: Callable[[str], str]) -> None:
    """Partitions cannot be added to a topic that is not there."""
    code = refusal_of(lambda: client.admin().create_partitions(unique_name("absent"), 2))

    assert code == Code.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.needs(Capability.DESCRIBE_CONFIGS)
def test_configs_are_described(client: Client, make_topic: MakeTopic) -> None:
    """A topic's configs are those it was created with, and Kafka's defaults for the rest."""
    topic = make_topic(retention_ms="1234567", cleanup_policy="compact")
    configs = client.admin().describe_configs(topic)

    assert (configs["retention.ms"], configs["cleanup.policy"]) == ("1234567", "compact")
    assert (configs["max.message.bytes"], configs["message.timestamp.type"]) == ("1048588", "CreateTime")


@pytest.mark.needs(Capability.ALTER_CONFIGS, Capability.DESCRIBE_CONFIGS)
def test_altered_configs_are_described(client: Client, topic: str) -> None:
    """What is altered is read back, and a config that is not named keeps Kafka's default."""
    admin = client.admin()
    admin.alter_configs(topic, {"retention.ms": "1234567", "cleanup.policy": "compact,delete"})
    eventually(lambda: admin.describe_configs(topic)["retention.ms"] == "1234567")
    configs = admin.describe_configs(topic)

    assert configs["cleanup.policy"] == "compact,delete"
    assert configs["max.message.bytes"] == "1048588"


@pytest.mark.needs(Capability.ALTER_CONFIGS)
def test_altered_limit_holds_for_what_is_produced_next(client: Client, topic: str) -> None:
    """A running topic goes by its new configs: a record that was small enough is too large."""
    client.produce(topic, [Record(b"x" * 1000)], partition=0)
    client.admin().alter_configs(topic, {"max.message.bytes": "500"})

    code = eventually(lambda: code_of(lambda: client.produce(topic, [Record(b"x" * 1000)], partition=0)))

    assert code == Code.MESSAGE_TOO_LARGE


@pytest.mark.needs(Capability.ALTER_CONFIGS, Capability.DESCRIBE_CONFIGS)
@pytest.mark.parametrize(("name", "value"), [("no.such.config", "1"), ("retention.ms", "soon")])
def test_bad_config_is_not_set(client: Client, topic: str, name: str, value: str) -> None:
    """An unknown config, or a value it may not have, is refused with INVALID_CONFIG and changes nothing."""
    admin = client.admin()
    code = refusal_of(lambda: admin.alter_configs(topic, {name: value}))

    assert code == Code.INVALID_CONFIG
    assert admin.describe_configs(topic)["retention.ms"] == "604800000"


@pytest.mark.needs(Capability.ALTER_CONFIGS)
def test_configs_of_an_unknown_topic_are_not_set(client: Client, unique_name: Callable[[str], str]) -> None:
    """Altering a topic that is not there is refused with UNKNOWN_TOPIC_OR_PARTITION."""
    code = refusal_of(lambda: client.admin().alter_configs(unique_name("absent"), {"retention.ms": "1"}))

    assert code == Code.UNKNOWN_TOPIC_OR_PARTITION
