"""Stories of kafka-topics.

Source: TopicCommand of Apache Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat_tests.clients.adapter import Client
from compat_tests.conftest import MakeTopic
from compat_tests.tools.conftest import RunTool

pytestmark = pytest.mark.tool("kafka-topics")


def test_created_topic_is_described(tool: RunTool, unique_name: Callable[[str], str]) -> None:
    """--create with partitions and a config; --describe prints both, a line a partition."""
    name = unique_name("topic")
    created = tool(
        "kafka-topics", "--create", "--topic", name, "--partitions", "2", "--config", "retention.ms=1000000"
    )
    described = tool("kafka-topics", "--describe", "--topic", name)

    assert (created.status, created.err, created.lines) == (0, "", [f"Created topic {name}."])
    assert (described.status, described.err) == (0, "")
    head, *partitions = described.lines
    assert "PartitionCount: 2\tReplicationFactor: 1\t" in head
    assert "retention.ms=1000000" in head
    assert [line.split("\t")[1:6] for line in partitions] == [
        [f"Topic: {name}", f"Partition: {partition}", "Leader: 1", "Replicas: 1", "Isr: 1"]
        for partition in range(2)
    ]


@pytest.mark.asks("DescribeTopicPartitions")
def test_described_topic_shows_eligible_leaders(tool: RunTool, topic: str) -> None:
    """--describe prints the eligible leader replicas, none, where the broker keeps them."""
    described = tool("kafka-topics", "--describe", "--topic", topic)

    assert "Elr: \tLastKnownElr: " in described.lines[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--topic", "{topic}"], "Topic '{topic}' already exists.", id="existing"),
        pytest.param(
            ["--topic", "{topic}-2", "--config", "nonsense=1"],
            "Unknown topic config name: nonsense",
            id="unknown-config",
        ),
        pytest.param(
            ["--topic", "{topic}-3", "--replication-factor", "3"],
            "The target replication factor of 3 cannot be reached",
            id="too-many-replicas",
        ),
    ],
)
def test_create_is_refused(tool: RunTool, topic: str, arguments: list[str], message: str) -> None:
    """--create of what cannot be ends with status 1 and the reason."""
    refused = tool("kafka-topics", "--create", *[text.format(topic=topic) for text in arguments])

    assert refused.status == 1
    assert message.format(topic=topic) in refused.out


def test_partitions_grow_but_do_not_shrink(
    tool: RunTool, make_topic: MakeTopic, administrator: Client
) -> None:
    """--alter --partitions adds partitions, and refuses a number that is not larger."""
    topic = make_topic(partition_count=2)
    grown = tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "3")
    partitions = administrator.admin().describe_topic(topic)
    refused = tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "1")

    assert (grown.status, grown.err, grown.out) == (0, "", "")
    assert partitions == {0, 1, 2}
    assert refused.status == 1
    assert f"The topic {topic} currently has 3 partition(s); 1 would not be an increase." in refused.out


def test_deleted_topic_is_gone(tool: RunTool, topic: str) -> None:
    """--list names a topic until --delete has removed it; internal topics can be left out."""
    before = tool("kafka-topics", "--list", "--exclude-internal")
    deleted = tool("kafka-topics", "--delete", "--topic", topic)
    after = tool("kafka-topics", "--list")

    assert (before.status, before.err) == (0, "")
    assert topic in before.lines
    assert "__consumer_offsets" not in before.lines
    assert (deleted.status, deleted.err, deleted.out) == (0, "", "")
    assert topic not in after.lines
