"""AlterConfigs and IncrementalAlterConfigs of topics, and what holds for every type of resource."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metadata.support import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    LOGGER,
    METRICS,
    SET,
    SUBTRACT,
    TOPIC,
    Cluster,
    ClusterWith,
    MakeTopic,
    a_topic,
)
from wirekafka.metadata.altering.planning import LONGEST_VALUE_BYTES
from wirekafka.metadata.configs import BROKER_CONFIGS, GROUP_CONFIGS, TOPIC_CONFIGS, Settings
from wirekafka.protocol.error_codes import ErrorCode

Operations = list[tuple[str, int, str | None]]


@pytest.fixture
def cluster(cluster: Cluster, topic: MakeTopic) -> Cluster:
    """A cluster with topic t, which has two settings of its own."""
    cluster.create(topic("t", retention_ms="5", cleanup_policy="compact"))
    return cluster


def test_settings_are_set_and_deleted(cluster: Cluster) -> None:
    """KIP-339: what is not named stays."""
    code = cluster.change(
        TOPIC, "t", ("retention.ms", SET, "9"), ("cleanup.policy", DELETE, None), ("segment.ms", SET, "8")
    )

    assert code == ErrorCode.NONE
    assert cluster.own(TOPIC, "t") == {"retention.ms": "9", "segment.ms": "8"}
    assert cluster.machine.topic_config("t")["cleanup.policy"] == ("delete",)


@pytest.mark.parametrize(
    ("operation", "value", "after"),
    [
        (APPEND, "delete", "compact,delete"),
        (APPEND, "compact", "compact"),
        (SUBTRACT, "compact", ""),
        (SUBTRACT, "delete", "compact"),
    ],
)
def test_list_grows_and_shrinks(cluster: Cluster, operation: int, value: str, after: str) -> None:
    """An empty cleanup.policy is a policy too (KIP-1030)."""
    assert cluster.change(TOPIC, "t", ("cleanup.policy", operation, value)) == ErrorCode.NONE
    assert cluster.own(TOPIC, "t")["cleanup.policy"] == after


def test_list_without_own_value_begins_as_kafkas_default(cluster_with: ClusterWith, topic: MakeTopic) -> None:
    """Not as the broker's setting: KafkaConfigSchema.getDefault."""
    cluster = cluster_with(log_cleanup_policy="compact")
    cluster.create(topic("t"))

    cluster.change(TOPIC, "t", ("cleanup.policy", APPEND, "compact"))

    assert cluster.own(TOPIC, "t") == {"cleanup.policy": "delete,compact"}


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([("nope", SET, "1")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", SET, "x")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", SET, "")], ErrorCode.INVALID_CONFIG),
        ([("retention.ms", APPEND, "1")], ErrorCode.INVALID_CONFIG),
        ([("nope", SUBTRACT, "1")], ErrorCode.INVALID_CONFIG),
        ([("cleanup.policy", APPEND, "")], ErrorCode.INVALID_CONFIG),
        ([("cleanup.policy", APPEND, "nope")], ErrorCode.INVALID_CONFIG),
        ([("follower.replication.throttled.replicas", SET, "9" * 40_000)], ErrorCode.INVALID_CONFIG),
        (
            [("min.compaction.lag.ms", SET, "9"), ("max.compaction.lag.ms", SET, "8")],
            ErrorCode.INVALID_CONFIG,
        ),
        ([("retention.ms", SET, None)], ErrorCode.INVALID_REQUEST),
        ([("cleanup.policy", APPEND, None)], ErrorCode.INVALID_REQUEST),
        ([("retention.ms", SET, "1"), ("retention.ms", SET, "1")], ErrorCode.INVALID_REQUEST),
        ([("retention.ms", 9, "1")], ErrorCode.INVALID_REQUEST),
    ],
)
def test_change_that_may_not_be_changes_nothing(
    cluster: Cluster, operations: Operations, code: ErrorCode
) -> None:
    """A good setting beside a bad one is not made either."""
    before = cluster.own(TOPIC, "t")

    assert cluster.change(TOPIC, "t", ("segment.ms", SET, "7"), *operations) == code
    assert cluster.own(TOPIC, "t") == before


def test_longest_value_is_taken(cluster: Cluster) -> None:
    """Kafka's bound is of a signed 16-bit length."""
    name, entry = "follower.replication.throttled.replicas", "1:1,"
    fits = (entry * LONGEST_VALUE_BYTES)[:LONGEST_VALUE_BYTES]

    assert cluster.change(TOPIC, "t", (name, SET, fits)) == ErrorCode.NONE
    assert cluster.change(TOPIC, "t", (name, SET, f"{fits}:")) == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "unknown", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "not/valid", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "", ErrorCode.INVALID_REQUEST),
        (0, "t", ErrorCode.INVALID_REQUEST),
        (1, "t", ErrorCode.INVALID_REQUEST),
        (99, "t", ErrorCode.INVALID_REQUEST),
    ],
)
def test_resource_that_has_no_settings_is_refused(
    cluster: Cluster, kind: int, name: str, code: ErrorCode
) -> None:
    """By either request, even where nothing is asked of it."""
    assert cluster.set(kind, name, retention_ms="1") == code
    assert cluster.change(kind, name) == code
    assert cluster.replace(kind, name, {"retention.ms": "1"}) == code


def test_bad_setting_of_an_unknown_topic_is_a_bad_setting(cluster: Cluster) -> None:
    """Kafka looks at the settings first."""
    assert cluster.set(TOPIC, "unknown", retention_ms="x") == ErrorCode.INVALID_CONFIG


def test_logger_is_known_to_the_incremental_request_alone(cluster: Cluster) -> None:
    """KIP-412."""
    assert cluster.change(LOGGER, "1") == ErrorCode.NONE
    assert cluster.replace(LOGGER, "1", {}) == ErrorCode.INVALID_REQUEST


def test_each_resource_has_its_own_result(cluster: Cluster, topic: MakeTopic) -> None:
    """One refusal does not touch the others; what stands twice is refused twice."""
    cluster.create(topic("u"), topic("v"))

    codes = cluster.change_all(
        (TOPIC, "t", [("retention.ms", SET, "1")]),
        (TOPIC, "u", [("retention.ms", SET, "x")]),
        (TOPIC, "v", [("retention.ms", SET, "2")]),
        (TOPIC, "v", [("retention.ms", SET, "3")]),
        (GROUP, "v", [("consumer.session.timeout.ms", SET, "50000")]),
    )

    assert codes == [
        ErrorCode.NONE,
        ErrorCode.INVALID_CONFIG,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NONE,
    ]
    assert cluster.own(TOPIC, "t")["retention.ms"] == "1"
    assert (cluster.own(TOPIC, "u"), cluster.own(TOPIC, "v")) == ({}, {})
    assert cluster.own(GROUP, "v") == {"consumer.session.timeout.ms": "50000"}


@pytest.mark.parametrize("value", ["9", "x"])
def test_validation_alone_records_nothing(cluster: Cluster, value: str) -> None:
    """The answer is the same as if it were meant."""
    before = list(cluster.records)
    operation = ("retention.ms", SET, value)

    only_asked = cluster.change(TOPIC, "t", operation, validate_only=True)
    replaced = cluster.replace(TOPIC, "t", {"retention.ms": value}, validate_only=True)

    assert cluster.records == before
    assert only_asked == replaced == cluster.change(TOPIC, "t", operation)


def test_replacement_deletes_what_it_does_not_name(cluster: Cluster) -> None:
    """AlterConfigs, KIP-133."""
    assert cluster.replace(TOPIC, "t", {"retention.ms": "5", "segment.ms": "8"}) == ErrorCode.NONE
    assert cluster.own(TOPIC, "t") == {"retention.ms": "5", "segment.ms": "8"}
    assert cluster.replace(TOPIC, "t", {}) == ErrorCode.NONE
    assert cluster.own(TOPIC, "t") == {}


@pytest.mark.parametrize("configs", [{"retention.ms": None}, {"nope": "1"}, {"retention.ms": "x"}])
def test_replacement_that_may_not_be_deletes_nothing(
    cluster: Cluster, configs: dict[str, str | None]
) -> None:
    """What it would have deleted stays."""
    assert cluster.replace(TOPIC, "t", configs) != ErrorCode.NONE
    assert cluster.own(TOPIC, "t") == {"retention.ms": "5", "cleanup.policy": "compact"}


def test_what_is_so_already_is_recorded_for_brokers_alone(cluster: Cluster) -> None:
    """KAFKA-14136: a broker told the same again reads its files anew."""
    before = len(cluster.records)
    cluster.set(TOPIC, "t", retention_ms="5")
    cluster.change(TOPIC, "t", ("segment.ms", DELETE, None), ("nope", DELETE, None))

    assert len(cluster.records) == before
    for _ in range(2):
        cluster.set(BROKER, "", log_retention_ms="5")
    assert len(cluster.records) == before + 2


def test_internal_setting_may_be_made(cluster: Cluster) -> None:
    """wirekafka.durability is not listed, but it is known."""
    assert cluster.set(TOPIC, "t", wirekafka_durability="fsync") == ErrorCode.NONE
    assert cluster.machine.topic_config("t")["wirekafka.durability"] == "fsync"


def test_list_of_what_has_no_lists_is_refused(cluster: Cluster) -> None:
    """Kafka's schema knows topics and brokers; a subscription's list can only be set."""
    assert cluster.change(METRICS, "m", ("metrics", APPEND, "a")) == ErrorCode.INVALID_CONFIG
    assert cluster.change(METRICS, "m", ("metrics", SET, "a")) == ErrorCode.NONE


def test_length_of_a_value_is_that_of_its_bytes(cluster: Cluster) -> None:
    """A record could not hold more: appended to, a list outgrows what a request can carry."""
    name, half = "metric.reporters", "\N{EURO SIGN}" * (LONGEST_VALUE_BYTES // 4)

    codes = [cluster.change(BROKER, "", (name, APPEND, entry)) for entry in (half, f"{half}x")]

    assert codes == [ErrorCode.NONE, ErrorCode.INVALID_CONFIG]


NAMES = st.one_of(
    st.sampled_from([*TOPIC_CONFIGS, *BROKER_CONFIGS, *GROUP_CONFIGS, "match"]), st.text(max_size=9)
)
VALUES = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.integers().map(str),
    st.sampled_from(
        ["compact", "delete,compact", "true", "0.5", "1:1", "client_id=a", "gzip", "fsync", "1000"]
    ),
)
OPERATIONS = st.lists(st.tuples(NAMES, st.integers(-1, 4), VALUES), max_size=4)
RESOURCES = st.tuples(
    st.sampled_from([0, TOPIC, BROKER, LOGGER, METRICS, GROUP, 99]),
    st.sampled_from(["t", "u", "1", "", "a b", "2"]),
    OPERATIONS,
)


@given(st.lists(RESOURCES, max_size=6))
def test_whatever_is_asked_each_resource_is_answered_and_the_settings_hold(
    changes: list[tuple[int, str, Operations]],
) -> None:
    """No request breaks a rule; what was accepted can be read and lies over the settings of the start."""
    cluster = Cluster(Settings.load())
    cluster.create(a_topic("t"))

    for change in changes:
        code = cluster.change(*change[:2], *change[2])
        configs = {name: value for name, operation, value in change[2] if operation == SET}
        cluster.replace(*change[:2], configs, validate_only=True)

        assert code in {
            ErrorCode.NONE,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            ErrorCode.INVALID_CONFIG,
            ErrorCode.INVALID_REQUEST,
        }

    cluster.machine.topic_config("t")
    for resource in ("", "1"):
        for name in cluster.own(BROKER, resource):
            assert cluster.machine.settings.source(name).is_dynamic
