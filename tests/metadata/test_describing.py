"""DescribeConfigs: values, sources, synonyms and refusals."""

import pytest

from tests.metadata.support import BROKER, GROUP, LOGGER, METRICS, TOPIC, Cluster, ClusterWith, MakeTopic
from wirekafka.protocol.apis.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.cluster_metadata import ConfigRecord


def describe(
    cluster: Cluster,
    *resources: tuple[int, str, list[str] | None],
    synonyms: bool = True,
    documentation: bool = False,
) -> list[DescribeConfigsResult]:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            for kind, name, keys in resources
        ],
        include_synonyms=synonyms,
        include_documentation=documentation,
    )
    return cluster.machine.describe_configs(request).results


def configs_of(
    cluster: Cluster, kind: int, name: str, keys: list[str] | None = None, **flags: bool
) -> dict[str, DescribeConfigsResourceResult]:
    (result,) = describe(cluster, (kind, name, keys), **flags)
    assert (result.error_code, result.error_message) == (ErrorCode.NONE, "")
    assert (result.resource_type, result.resource_name) == (kind, name)
    return {config.name: config for config in result.configs}


def synonyms_of(config: DescribeConfigsResourceResult) -> list[tuple[str, str | None, int]]:
    return [(synonym.name, synonym.value, synonym.source) for synonym in config.synonyms]


def test_topic_has_all_its_settings(cluster: Cluster, topic: MakeTopic) -> None:
    """Null keys, and as in Kafka an empty list of them, ask for all; the internal one is not told."""
    cluster.create(topic("t"))

    assert len(configs_of(cluster, TOPIC, "t")) == len(configs_of(cluster, TOPIC, "t", [])) == 37


def test_only_the_settings_asked_for_are_told(cluster: Cluster, topic: MakeTopic) -> None:
    """A key that does not exist is passed over."""
    cluster.create(topic("t"))

    assert list(configs_of(cluster, TOPIC, "t", ["segment.ms", "nope"])) == ["segment.ms"]


def test_topics_own_setting_stands_before_the_brokers(cluster_with: ClusterWith, topic: MakeTopic) -> None:
    """KIP-226: dynamic topic (1), static broker (4), default (5), the strongest first."""
    cluster = cluster_with(log_segment_bytes="2000000")
    cluster.create(topic("t", segment_bytes="3000000"))

    config = configs_of(cluster, TOPIC, "t")["segment.bytes"]

    assert (config.value, config.config_source, config.config_type) == ("3000000", 1, 3)
    assert synonyms_of(config) == [
        ("segment.bytes", "3000000", 1),
        ("log.segment.bytes", "2000000", 4),
        ("log.segment.bytes", "1073741824", 5),
    ]


def test_topic_setting_without_own_value_has_the_brokers_source(
    cluster_with: ClusterWith, topic: MakeTopic
) -> None:
    """ServerTopicConfigSynonyms names the broker setting."""
    cluster = cluster_with(log_roll_ms="77")
    cluster.create(topic("t"))

    config = configs_of(cluster, TOPIC, "t")["segment.ms"]

    assert (config.value, config.config_source) == ("77", 4)
    assert synonyms_of(config) == [("log.roll.ms", "77", 4), ("log.roll.hours", "168", 5)]


def test_coarser_synonym_alone_is_not_told(cluster_with: ClusterWith, topic: MakeTopic) -> None:
    """Kafka's configSynonyms drops what stands before the setting's own name: hours alone vanish."""
    cluster = cluster_with(log_retention_hours="1")
    cluster.create(topic("t"))

    config = configs_of(cluster, TOPIC, "t")["retention.ms"]

    assert (config.value, config.config_source, synonyms_of(config)) == ("3600000", 5, [])


def test_internal_topic_setting_is_told_where_it_is_set(cluster: Cluster, topic: MakeTopic) -> None:
    """internal.segment.bytes is for tests."""
    cluster.create(topic("t", internal_segment_bytes="9"))

    assert configs_of(cluster, TOPIC, "t")["internal.segment.bytes"].value == "9"


@pytest.mark.parametrize(
    ("kind", "name", "code", "message"),
    [
        (TOPIC, "nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "does not host topic 'nope'"),
        (TOPIC, "a b", ErrorCode.INVALID_TOPIC_EXCEPTION, "one or more characters"),
        (BROKER, "2", ErrorCode.INVALID_REQUEST, "expected 1 or empty string, but received 2"),
        (BROKER, "x", ErrorCode.INVALID_REQUEST, "Broker id must be an integer, but it is: x"),
        (LOGGER, "", ErrorCode.INVALID_REQUEST, "Broker id must not be empty"),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST, "Unexpected broker id, expected 1 but received 2"),
        (METRICS, "", ErrorCode.INVALID_REQUEST, "subscription name must not be empty"),
        (GROUP, "", ErrorCode.INVALID_REQUEST, "Group name must not be empty"),
    ],
)
def test_resource_that_is_not_here_is_refused(
    cluster: Cluster, kind: int, name: str, code: ErrorCode, message: str
) -> None:
    """Kafka's ConfigHelper; other resources of the request are answered."""
    refused, fine = describe(cluster, (kind, name, None), (GROUP, "g", None))

    assert refused.error_code == code
    assert refused.error_message is not None
    assert message in refused.error_message
    assert (refused.resource_type, refused.resource_name, refused.configs) == (kind, name, [])
    assert fine.error_code == ErrorCode.NONE


@pytest.mark.parametrize("kind", [0, 3, 127])
def test_unknown_type_of_resource_refuses_the_whole_request(cluster: Cluster, kind: int) -> None:
    """Kafka's handleDescribeConfigsRequest throws before it looks at any resource."""
    results = describe(cluster, (BROKER, "1", None), (kind, "x", None))

    assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST] * 2
    assert results[0].error_message is not None
    assert f"Unexpected resource type {kind} for resource x" in results[0].error_message


def test_broker_tells_where_its_settings_come_from(cluster_with: ClusterWith) -> None:
    """Given at start (4), be it by profile, file or command line; else default (5)."""
    cluster = cluster_with(file_text="num.partitions=3\n", log_retention_minutes="5")

    configs = configs_of(cluster, BROKER, "1")

    assert synonyms_of(configs["num.partitions"]) == [("num.partitions", "3", 4), ("num.partitions", "1", 5)]
    assert configs["num.partitions"].read_only
    assert synonyms_of(configs["offsets.topic.replication.factor"])[0][1:] == ("1", 4)
    assert synonyms_of(configs["log.retention.minutes"]) == [
        ("log.retention.minutes", "5", 4),
        ("log.retention.hours", "168", 5),
    ]
    assert configs["num.io.threads"].config_source == 5
    assert not configs["num.io.threads"].read_only
    assert "server.max.startup.time.ms" not in configs


def test_secrets_are_never_told(cluster_with: ClusterWith) -> None:
    """A PASSWORD has neither value nor synonym value; a foreign setting may be one."""
    cluster = cluster_with(file_text="ssl.key.password=s3cret\nconfluent.key=s3cret\n")

    configs = configs_of(cluster, BROKER, "1")

    for name, config_type in (("ssl.key.password", 9), ("confluent.key", 0)):
        assert configs[name].is_sensitive
        assert (configs[name].value, configs[name].config_type) == (None, config_type)
        assert synonyms_of(configs[name]) == [(name, None, 4)]


def test_listener_setting_names_the_setting_it_overrides(cluster_with: ClusterWith) -> None:
    """listener.name.<listener>.<setting> has the type of the setting and both as synonyms."""
    cluster = cluster_with(file_text="listener.name.plaintext.max.connections=5\n")

    config = configs_of(cluster, BROKER, "1")["listener.name.plaintext.max.connections"]

    assert (config.value, config.config_type, config.read_only) == ("5", 3, True)
    assert synonyms_of(config) == [
        ("listener.name.plaintext.max.connections", "5", 4),
        ("max.connections", "2147483647", 5),
    ]


def test_settings_common_to_all_brokers_are_none(cluster: Cluster) -> None:
    """An empty broker name asks for what was changed at run time for all brokers."""
    assert configs_of(cluster, BROKER, "") == {}


def test_there_are_no_loggers(cluster: Cluster) -> None:
    """wirekafka has no log4j loggers to set."""
    assert configs_of(cluster, LOGGER, "1") == {}


def test_documentation_and_synonyms_only_on_request(cluster: Cluster, topic: MakeTopic) -> None:
    """KIP-569 and KIP-226: flags of the request."""
    cluster.create(topic("t"))

    bare = configs_of(cluster, TOPIC, "t", ["segment.bytes"], synonyms=False)["segment.bytes"]
    full = configs_of(cluster, TOPIC, "t", ["segment.bytes"], documentation=True)["segment.bytes"]

    assert (bare.synonyms, bare.documentation, bare.config_source) == ([], None, 5)
    assert full.documentation == "The size at which a new segment is begun."
    assert full.synonyms


def test_group_has_the_brokers_values_until_it_has_its_own(cluster_with: ClusterWith) -> None:
    """KIP-848: group (8), then the broker's setting of the same meaning."""
    cluster = cluster_with(group_consumer_session_timeout_ms="50000")
    cluster.machine.apply(
        ConfigRecord(
            resource_type=GROUP, resource_name="g", name="share.isolation.level", value="read_committed"
        )
    )

    configs = configs_of(cluster, GROUP, "g")

    session = configs["consumer.session.timeout.ms"]
    assert (session.value, session.config_source) == ("50000", 4)
    assert [name for name, _, _ in synonyms_of(session)] == ["group.consumer.session.timeout.ms"] * 2
    assert synonyms_of(configs["share.isolation.level"]) == [
        ("share.isolation.level", "read_committed", 8),
        ("share.isolation.level", "read_uncommitted", 5),
    ]
    assert configs["streams.assignor.name"].value == "sticky"
    assert "streams.num.warmup.replicas" not in configs


def test_client_metrics_subscription_has_three_settings(cluster: Cluster) -> None:
    """KIP-714: client metrics (7) where set."""
    cluster.machine.apply(
        ConfigRecord(resource_type=METRICS, resource_name="s", name="interval.ms", value="500")
    )

    configs = configs_of(cluster, METRICS, "s")

    told = {name: (config.value, config.config_source) for name, config in configs.items()}
    assert told == {"interval.ms": ("500", 7), "match": ("", 5), "metrics": ("", 5)}


def test_setting_changed_at_run_time_is_told_by_every_source(
    cluster_with: ClusterWith, topic: MakeTopic
) -> None:
    """KIP-226: topic (1), this broker (2), all brokers (3), static (4), default (5), in that order."""
    cluster = cluster_with(log_segment_bytes="2000000")
    cluster.create(topic("t", segment_bytes="3000000"))
    cluster.set(BROKER, "", log_segment_bytes="4000000")
    cluster.set(BROKER, "1", log_segment_bytes="5000000")
    brokers = [
        ("log.segment.bytes", "5000000", 2),
        ("log.segment.bytes", "4000000", 3),
        ("log.segment.bytes", "2000000", 4),
        ("log.segment.bytes", "1073741824", 5),
    ]

    of_topic = configs_of(cluster, TOPIC, "t")["segment.bytes"]
    of_broker = configs_of(cluster, BROKER, "1")["log.segment.bytes"]

    assert (of_topic.value, of_topic.config_source) == ("3000000", 1)
    assert synonyms_of(of_topic) == [("segment.bytes", "3000000", 1), *brokers]
    assert (of_broker.value, of_broker.config_source) == ("5000000", 2)
    assert synonyms_of(of_broker) == brokers


def test_topic_without_own_setting_is_told_what_changed(cluster: Cluster, topic: MakeTopic) -> None:
    """The value that holds, and who gave it."""
    cluster.create(topic("t"))
    cluster.set(BROKER, "", log_retention_ms="5")

    config = configs_of(cluster, TOPIC, "t")["retention.ms"]

    assert (config.value, config.config_source) == ("5", 3)


def test_settings_of_all_brokers_are_those_made_for_all(cluster: Cluster) -> None:
    """The empty name: none of this broker's, and none of the others' sources."""
    cluster.set(BROKER, "", log_retention_ms=" 5", nobody_knows="x")
    cluster.set(BROKER, "1", log_retention_ms="6", log_roll_ms="7")

    told = configs_of(cluster, BROKER, "")

    assert {name: (config.value, config.read_only, config.is_sensitive) for name, config in told.items()} == {
        "log.retention.ms": (" 5", False, False),
        "nobody.knows": (None, True, True),
    }
    assert synonyms_of(told["log.retention.ms"]) == [("log.retention.ms", " 5", 3)]
    assert synonyms_of(told["nobody.knows"]) == [("nobody.knows", None, 3)]


def test_secret_made_at_run_time_is_not_told(cluster: Cluster) -> None:
    """Neither as the value nor as a synonym."""
    name = "listener.name.x.ssl.keystore.password"
    cluster.replace(BROKER, "1", {name: "s3cret"})

    config = configs_of(cluster, BROKER, "1")[name]

    assert (config.value, config.is_sensitive) == (None, True)
    assert synonyms_of(config) == [(name, None, 2)]


def test_internal_setting_of_a_topic_is_told_where_it_is_set(cluster: Cluster, topic: MakeTopic) -> None:
    """wirekafka.durability is no setting of Kafka's: clients see it when they made it."""
    cluster.create(topic("t"))
    name = "wirekafka.durability"
    assert name not in configs_of(cluster, TOPIC, "t")

    cluster.set(TOPIC, "t", wirekafka_durability="fsync")

    assert synonyms_of(configs_of(cluster, TOPIC, "t")[name]) == [(name, "fsync", 1), (name, "os", 5)]


def test_group_goes_by_what_changed(cluster: Cluster) -> None:
    """The broker's setting is a group's default, also when it changed at run time."""
    cluster.set(BROKER, "1", group_consumer_assignment_interval_ms="2000")

    config = configs_of(cluster, GROUP, "g")["consumer.assignment.interval.ms"]

    assert (config.value, config.config_source) == ("2000", 2)


def test_name_of_a_broker_with_very_many_digits_is_refused(cluster: Cluster) -> None:
    """Python would not even read it as a number."""
    (result,) = describe(cluster, (BROKER, "1" * 5000, None))

    assert result.error_code == ErrorCode.INVALID_REQUEST
