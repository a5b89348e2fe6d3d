"""Stories of kafka-configs and kafka-client-metrics.

Source: ConfigCommand and ClientMetricsCommand of Apache Kafka 4.4.
"""

from __future__ import annotations

import pytest

from compat_tests.conftest import MakeTopic
from compat_tests.tools.conftest import RunTool

TOOL = "kafka-configs"
pytestmark = pytest.mark.tool(TOOL)


def test_topic_override_is_described(tool: RunTool, make_topic: MakeTopic) -> None:
    """--describe --topic prints what the topic sets itself, and where it would come from otherwise."""
    topic = make_topic(retention_ms="1000000")
    described = tool(TOOL, "--describe", "--topic", topic)

    assert (described.status, described.err) == (0, "")
    assert described.lines[0] == f"Dynamic configs for topic {topic} are:"
    assert "  retention.ms=1000000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:" in described.out


def test_topic_is_described_in_full(tool: RunTool, topic: str) -> None:
    """--describe --topic --all prints the defaults of 4.4 too."""
    described = tool(TOOL, "--describe", "--topic", topic, "--all")

    assert (described.status, described.err) == (0, "")
    assert (
        _values(described.lines).items()
        >= {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "max.message.bytes": "1048588",
            "message.timestamp.type": "CreateTime",
            "retention.bytes": "-1",
            "retention.ms": "604800000",
            "segment.bytes": "1073741824",
        }.items()
    )


def test_broker_is_described_in_full(tool: RunTool) -> None:
    """--describe --broker --all prints settings with where each comes from."""
    described = tool(TOOL, "--describe", "--broker", "1", "--all")
    values = _values(described.lines)

    assert (described.status, described.err) == (0, "")
    assert values["node.id"] == "1"
    assert values["log.retention.hours"] == "168"
    assert values["message.max.bytes"] == "1048588"
    assert "synonyms={STATIC_BROKER_CONFIG:listeners=PLAINTEXT://127.0.0.1:" in described.out


@pytest.mark.asks("IncrementalAlterConfigs")
def test_topic_config_is_altered(tool: RunTool, topic: str) -> None:
    """--alter --add-config sets a topic's config, which --describe then prints."""
    altered = tool(TOOL, "--alter", "--topic", topic, "--add-config", "retention.ms=1234567")
    described = tool(TOOL, "--describe", "--topic", topic)

    assert (altered.status, altered.lines) == (0, [f"Completed updating config for topic {topic}."])
    assert "retention.ms=1234567" in described.out


@pytest.mark.asks("IncrementalAlterConfigs")
def test_topic_config_is_deleted(tool: RunTool, make_topic: MakeTopic) -> None:
    """--alter --delete-config puts a topic's config back, and leaves the others."""
    topic = make_topic(retention_ms="1000000", segment_ms="2000000")
    altered = tool(TOOL, "--alter", "--topic", topic, "--delete-config", "retention.ms")
    described = tool(TOOL, "--describe", "--topic", topic)

    assert (altered.status, altered.lines) == (0, [f"Completed updating config for topic {topic}."])
    assert "segment.ms=2000000" in described.out
    assert "retention.ms=" not in described.out


@pytest.mark.asks("IncrementalAlterConfigs")
def test_list_config_is_altered_as_a_whole(tool: RunTool, topic: str) -> None:
    """--add-config takes a list in brackets."""
    altered = tool(TOOL, "--alter", "--topic", topic, "--add-config", "cleanup.policy=[compact,delete]")
    described = tool(TOOL, "--describe", "--topic", topic)

    assert altered.status == 0
    assert "cleanup.policy=compact,delete" in described.out


@pytest.mark.asks("IncrementalAlterConfigs")
def test_bad_topic_config_is_not_set(tool: RunTool, topic: str) -> None:
    """A value that a config may not have ends the tool with Kafka's error."""
    altered = tool(TOOL, "--alter", "--topic", topic, "--add-config", "retention.ms=soon")

    assert altered.status == 1
    assert "InvalidConfigurationException" in altered.out + altered.err


@pytest.mark.asks("IncrementalAlterConfigs")
def test_brokers_config_is_altered_while_it_runs(tool: RunTool) -> None:
    """--alter --broker and --broker-defaults set configs, which --describe prints with their source."""
    who = {
        "--broker": ("1", "DYNAMIC_BROKER_CONFIG"),
        "--broker-defaults": ("", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
    }
    for option, (name, source) in who.items():
        broker = [option, name] if name else [option]
        altered = tool(TOOL, "--alter", *broker, "--add-config", "log.cleaner.backoff.ms=12345")
        described = tool(TOOL, "--describe", *broker)
        deleted = tool(TOOL, "--alter", *broker, "--delete-config", "log.cleaner.backoff.ms")

        assert (altered.status, altered.err) == (0, "")
        assert f"log.cleaner.backoff.ms=12345 sensitive=false synonyms={{{source}:" in described.out
        assert deleted.status == 0


@pytest.mark.asks("IncrementalAlterConfigs")
def test_read_only_config_of_a_broker_is_not_set(tool: RunTool) -> None:
    """What a broker reads at its start alone is refused."""
    altered = tool(TOOL, "--alter", "--broker", "1", "--add-config", "num.partitions=3")

    assert altered.status == 1
    assert "Cannot update these configs dynamically" in altered.out + altered.err


@pytest.mark.asks("IncrementalAlterConfigs")
def test_groups_config_is_altered(tool: RunTool) -> None:
    """--alter --group sets a config of a group that need not be there."""
    altered = tool(TOOL, "--alter", "--group", "g", "--add-config", "consumer.session.timeout.ms=46000")
    described = tool(TOOL, "--describe", "--group", "g")

    assert altered.status == 0
    assert "consumer.session.timeout.ms=46000" in described.out


@pytest.mark.asks("IncrementalAlterConfigs", "ConsumerGroupHeartbeat")
def test_groups_config_is_described_in_full(tool: RunTool, group: str) -> None:
    """--describe --group --all prints a group's settings with the broker's behind them."""
    altered = tool(TOOL, "--alter", "--group", group, "--add-config", "consumer.heartbeat.interval.ms=6000")
    described = tool(TOOL, "--describe", "--group", group, "--all")
    values = _values(described.lines)

    assert (altered.status, described.status, described.err) == (0, 0, "")
    assert values["consumer.heartbeat.interval.ms"] == "6000"
    assert values["consumer.session.timeout.ms"] == "45000"
    assert "synonyms={DYNAMIC_GROUP_CONFIG:consumer.heartbeat.interval.ms=6000" in described.out


@pytest.mark.asks("IncrementalAlterConfigs")
@pytest.mark.parametrize(
    "setting",
    ["consumer.heartbeat.interval.ms=1", "consumer.session.timeout.ms=1", "consumer.nothing=1"],
)
def test_bad_group_config_is_not_set(tool: RunTool, group: str, setting: str) -> None:
    """A group's setting must be one that there is, and within the bounds that the broker sets."""
    altered = tool(TOOL, "--alter", "--group", group, "--add-config", setting)

    assert altered.status == 1
    assert "InvalidConfigurationException" in altered.out + altered.err


@pytest.mark.asks("DescribeClientQuotas")
def test_no_quota_is_set(tool: RunTool) -> None:
    """--describe --entity-type users finds no quota."""
    described = tool(TOOL, "--describe", "--entity-type", "users")

    assert (described.status, described.err, described.lines) == (0, "", [])


@pytest.mark.tool("kafka-client-metrics")
@pytest.mark.asks("ListConfigResources")
def test_no_client_metrics_are_asked_for(tool: RunTool) -> None:
    """--list finds no subscription."""
    listed = tool("kafka-client-metrics", "--list")

    assert (listed.status, listed.lines) == (0, [])


def _values(lines: list[str]) -> dict[str, str]:
    """Read lines of the form `NAME=VALUE sensitive=...`."""
    told = [line.strip().partition(" sensitive=")[0].partition("=") for line in lines[1:]]
    return {name: value for name, _, value in told}
