"""Which settings of a broker may change while it runs."""

import pytest

from tests.metadata.support import (
    APPEND,
    BROKER,
    DELETE,
    LOGGER,
    SET,
    SUBTRACT,
    Cluster,
    ClusterWith,
    MakeTopic,
)
from wirekafka.protocol.error_codes import ErrorCode


@pytest.mark.parametrize("name", ["1", ""])
def test_setting_of_a_broker_holds_for_topics_at_once(cluster: Cluster, topic: MakeTopic, name: str) -> None:
    """By its id, or for all brokers; a topic's own setting goes before it."""
    cluster.create(topic("t"), topic("u", retention_ms="7"))

    assert cluster.set(BROKER, name, log_retention_ms="5") == ErrorCode.NONE
    assert cluster.machine.settings["log.retention.ms"] == 5
    assert cluster.machine.topic_config("t")["retention.ms"] == 5
    assert cluster.machine.topic_config("u")["retention.ms"] == 7


def test_setting_of_this_broker_goes_before_that_of_all(cluster: Cluster, topic: MakeTopic) -> None:
    """KIP-226; when it is deleted the other holds, then what the broker was started with."""
    cluster.create(topic("t"))
    cluster.set(BROKER, "", log_retention_ms="5")
    cluster.set(BROKER, "1", log_retention_ms="6")
    seen = [cluster.machine.topic_config("t")["retention.ms"]]
    for name in ("1", ""):
        cluster.change(BROKER, name, ("log.retention.ms", DELETE, None))
        seen.append(cluster.machine.topic_config("t")["retention.ms"])

    assert seen == [6, 5, 604_800_000]


@pytest.mark.parametrize(
    ("configs", "where"),
    [
        ({"num.partitions": "2"}, "1"),
        ({"log.dirs": "/x"}, ""),
        ({"ssl.keystore.password": "x"}, "1"),
        ({"log.retention.ms": "x"}, "1"),
        ({"log.retention.ms": "0"}, "1"),
        ({"compression.type": "nope"}, ""),
        ({"log.cleaner.min.compaction.lag.ms": "9", "log.cleaner.max.compaction.lag.ms": "8"}, "1"),
        ({"num.io.threads": "0"}, "1"),
        ({"num.io.threads": "3"}, "1"),
        ({"num.io.threads": "17"}, "1"),
        ({"log.cleaner.threads": "3"}, ""),
        ({"log.cleaner.threads": "0"}, ""),
        ({"log.cleaner.dedupe.buffer.size": "1048576"}, ""),
        ({"listeners": "PLAINTEXT://:1"}, "1"),
        ({"listeners": "PLAINTEXT://:1"}, ""),
        ({"listener.security.protocol.map": "A:PLAINTEXT"}, "1"),
        ({"cordoned.log.dirs": "/strange"}, "1"),
        ({"listener.name.x.ssl.client.auth": "required"}, ""),
        ({"listener.name.x.max.connections": "x"}, ""),
    ],
)
def test_setting_that_may_not_change_is_refused(
    cluster: Cluster, configs: dict[str, str | None], where: str
) -> None:
    """KAFKA-13609: an invalid request, whatever the fault; by either request."""
    operations = [(name, SET, value) for name, value in configs.items()]

    assert cluster.change(BROKER, where, *operations) == ErrorCode.INVALID_REQUEST
    assert cluster.replace(BROKER, where, configs) == ErrorCode.INVALID_REQUEST
    assert cluster.own(BROKER, where) == {}


@pytest.mark.parametrize(
    ("configs", "where"),
    [
        ({"num.io.threads": "4"}, "1"),
        ({"num.io.threads": "16"}, ""),
        ({"log.cleaner.threads": "2"}, ""),
        ({"listeners": "PLAINTEXT://127.0.0.1:9092"}, "1"),
        ({"cordoned.log.dirs": "./data"}, "1"),
        ({"listener.name.x.ssl.keystore.password": "secret"}, "1"),
        ({"listener.name.x.max.connections": "9"}, ""),
        ({"log.cleaner.backoff.ms": "7", "wirekafka.durability": "fsync"}, ""),
        ({"nobody.knows": "x"}, "1"),
        ({}, "1"),
    ],
)
def test_setting_that_may_change_is_made(
    cluster: Cluster, configs: dict[str, str | None], where: str
) -> None:
    """Also what does not change, and what Kafka has no name for."""
    operations = [(name, SET, value) for name, value in configs.items()]

    assert cluster.change(BROKER, where, *operations) == ErrorCode.NONE
    assert cluster.replace(BROKER, where, configs) == ErrorCode.NONE
    assert cluster.own(BROKER, where) == configs


@pytest.mark.parametrize(("name", "other"), [("1", ""), ("", "1")])
def test_settings_of_all_and_of_one_must_agree(cluster: Cluster, name: str, other: str) -> None:
    """Neither may contradict what holds together with the other."""
    assert cluster.set(BROKER, other, log_cleaner_max_compaction_lag_ms="5") == ErrorCode.NONE

    code = cluster.set(BROKER, name, log_cleaner_min_compaction_lag_ms="6")

    assert code == ErrorCode.INVALID_REQUEST


def test_next_step_begins_where_the_last_ended(cluster: Cluster) -> None:
    """Threads double again."""
    codes = [cluster.set(BROKER, "1", num_io_threads=count) for count in ("16", "32", "70")]

    assert codes == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.INVALID_REQUEST]


@pytest.mark.parametrize("name", ["2", "x", "-1", " ", " 1", "1_1", "1" * 5000])
def test_name_of_no_broker_is_refused(cluster: Cluster, name: str) -> None:
    """There is this one, and the empty name for all."""
    assert cluster.set(BROKER, name, log_retention_ms="5") == ErrorCode.INVALID_REQUEST
    assert cluster.set(LOGGER, name) == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("operation", "name", "code"),
    [
        (APPEND, "log.cleanup.policy", ErrorCode.NONE),
        (APPEND, "log.retention.ms", ErrorCode.INVALID_CONFIG),
        (SUBTRACT, "nobody.knows", ErrorCode.INVALID_CONFIG),
        (APPEND, "log.dirs", ErrorCode.INVALID_REQUEST),
        (5, "log.cleanup.policy", ErrorCode.INVALID_REQUEST),
    ],
)
def test_list_of_a_broker(cluster: Cluster, operation: int, name: str, code: ErrorCode) -> None:
    """prepareIncrementalConfigs: no list is INVALID_CONFIG, a list that is fixed INVALID_REQUEST."""
    assert cluster.change(BROKER, "1", (name, operation, "compact")) == code


def test_list_of_a_broker_grows_and_shrinks(cluster: Cluster) -> None:
    """It begins as Kafka's default."""
    seen = []
    for operation, value in ((APPEND, "compact"), (SUBTRACT, "delete")):
        cluster.change(BROKER, "1", ("log.cleanup.policy", operation, value))
        seen.append(cluster.machine.settings["log.cleanup.policy"])

    assert seen == [("delete", "compact"), ("compact",)]


def test_replacement_is_checked_without_what_it_deletes(cluster: Cluster) -> None:
    """The old bound goes with it."""
    cluster.set(BROKER, "1", log_cleaner_max_compaction_lag_ms="5")

    code = cluster.replace(BROKER, "1", {"log.cleaner.min.compaction.lag.ms": "6"})

    assert code == ErrorCode.NONE
    assert cluster.own(BROKER, "1") == {"log.cleaner.min.compaction.lag.ms": "6"}


def test_setting_that_holds_already_needs_no_step(cluster_with: ClusterWith) -> None:
    """Only the difference to what holds is judged."""
    cluster = cluster_with(num_io_threads="100")

    assert cluster.set(BROKER, "1", num_io_threads="100") == ErrorCode.NONE


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (SET, ErrorCode.INVALID_CONFIG),
        (DELETE, ErrorCode.INVALID_CONFIG),
        (APPEND, ErrorCode.INVALID_REQUEST),
        (9, ErrorCode.INVALID_REQUEST),
    ],
)
def test_no_logger_can_be_set(cluster: Cluster, operation: int, code: ErrorCode) -> None:
    """RuntimeLoggerManager: to wirekafka no logger exists."""
    assert cluster.change(LOGGER, "1", ("kafka.server", operation, "DEBUG")) == code


def test_no_change_of_a_logger_is_no_fault(cluster: Cluster) -> None:
    """There is nothing that could not be done."""
    assert cluster.change(LOGGER, "1") == ErrorCode.NONE
