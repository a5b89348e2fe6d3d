"""CreateTopics: every refusal with its code and facts, and what a created topic is told."""

import pytest

from tests.metadata.support import Cluster, ClusterWith, MakeTopic
from wirekafka.protocol.apis.create_topics import CreatableReplicaAssignment, CreatableTopic
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.cluster_metadata import ConfigRecord, PartitionRecord, TopicRecord

ONE = ErrorCode


def assigned(*partitions: tuple[int, list[int]]) -> dict[str, object]:
    return {"assigned": tuple(partitions)}


REFUSALS = {
    "exists": ({"name": "there.is"}, ONE.TOPIC_ALREADY_EXISTS, "Topic 'there.is' already exists."),
    "collides": (
        {"name": "there_is"},
        ONE.INVALID_TOPIC_EXCEPTION,
        "Topic 'there_is' collides with existing topic: there.is",
    ),
    "empty name": ({"name": ""}, ONE.INVALID_TOPIC_EXCEPTION, "the empty string is not allowed"),
    "dot": ({"name": "."}, ONE.INVALID_TOPIC_EXCEPTION, "'.' is not allowed"),
    "metadata log": (
        {"name": "__cluster_metadata"},
        ONE.INVALID_REQUEST,
        "Creation of internal topic __cluster_metadata is prohibited.",
    ),
    "two replicas": (
        {"replication_factor": 2},
        ONE.INVALID_REPLICATION_FACTOR,
        "replication factor of 2 cannot be reached because only 1 broker(s) are registered",
    ),
    "no replicas": (
        {"replication_factor": 0},
        ONE.INVALID_REPLICATION_FACTOR,
        "Replication factor must be larger than 0, or -1 to use the default value.",
    ),
    "minus two replicas": ({"replication_factor": -2}, ONE.INVALID_REPLICATION_FACTOR, "larger than 0"),
    "no partitions": ({"partitions": 0}, ONE.INVALID_PARTITIONS, "non-positive value"),
    "minus two partitions": ({"partitions": -2}, ONE.INVALID_PARTITIONS, "non-positive value"),
    "assignment and partitions": (
        {"partitions": 2, **assigned((0, [1]))},
        ONE.INVALID_REQUEST,
        "manual partition assignment was specified, but numPartitions was not set to -1",
    ),
    "assignment and replicas": (
        {"replication_factor": 3, **assigned((0, [1]))},
        ONE.INVALID_REQUEST,
        "manual partition assignment was specified, but replication factor was not set to -1",
    ),
    "gap": (
        assigned((0, [1]), (2, [1])),
        ONE.INVALID_REPLICA_ASSIGNMENT,
        "partitions should be a consecutive 0-based integer sequence",
    ),
    "partition twice": (
        assigned((0, [1]), (0, [1])),
        ONE.INVALID_REPLICA_ASSIGNMENT,
        "Found multiple manual partition assignments for partition 0",
    ),
    "unknown broker": (
        assigned((0, [9])),
        ONE.INVALID_REPLICA_ASSIGNMENT,
        "includes broker 9, but no such broker is registered",
    ),
    "broker twice": (
        assigned((0, [1, 1])),
        ONE.INVALID_REPLICA_ASSIGNMENT,
        "includes the broker 1 more than once",
    ),
    "no brokers": (assigned((0, [])), ONE.INVALID_REPLICA_ASSIGNMENT, "empty replica list"),
    "unknown config": ({"no_such": "1"}, ONE.INVALID_CONFIG, "Unknown topic config name: no.such"),
    "null config": (
        {"retention_ms": None, "segment_ms": None},
        ONE.INVALID_CONFIG,
        "Null value not supported for topic configs: retention.ms,segment.ms",
    ),
    "ill-typed config": (
        {"retention_ms": "soon"},
        ONE.INVALID_CONFIG,
        "Invalid value soon for configuration retention.ms: must be a 64-bit integer.",
    ),
    "bad config": (
        {"cleanup_policy": "burn"},
        ONE.INVALID_CONFIG,
        "Invalid value burn for configuration cleanup.policy: must be a list of compact, delete",
    ),
    "too many partitions": (
        {"partitions": 10_001},
        ONE.POLICY_VIOLATION,
        "Excessively large number of partitions per request",
    ),
}


@pytest.mark.parametrize(("asked", "code", "message"), REFUSALS.values(), ids=REFUSALS.keys())
def test_topic_that_may_not_be_is_refused_with_code_and_reason(
    cluster: Cluster, topic: MakeTopic, asked: dict[str, object], code: ErrorCode, message: str
) -> None:
    """Each fault has Kafka's code, and a message with Kafka's facts (ReplicationControlManager)."""
    cluster.create(topic("there.is"))
    before = cluster.image.generation

    (result,) = cluster.create(topic(**{"name": "new", **asked}))

    assert result.error_code == code
    assert message in result.error_message
    assert result.num_partitions == -1
    assert cluster.image.generation == before


def test_created_topic_has_its_partitions_led_by_this_broker(cluster: Cluster, topic: MakeTopic) -> None:
    """Records are a topic, its settings, its partitions, in Kafka's order."""
    (result,) = cluster.create(topic("t", 2, retention_ms="5"))

    assert (result.error_code, result.error_message) == (ErrorCode.NONE, None)
    assert (result.num_partitions, result.replication_factor) == (2, 1)
    assert [type(record) for record in cluster.records] == [
        TopicRecord,
        ConfigRecord,
        PartitionRecord,
        PartitionRecord,
    ]
    assert cluster.image.topics["t"].topic_id == result.topic_id != bytes(16)
    assert {n: p.leader for n, p in cluster.image.topics["t"].partitions.items()} == {0: 1, 1: 1}


def test_counts_of_minus_one_are_the_brokers_defaults(cluster_with: ClusterWith, topic: MakeTopic) -> None:
    """KIP-464: -1 partitions and replicas stand for num.partitions and default.replication.factor."""
    cluster = cluster_with(num_partitions="3")

    (result,) = cluster.create(topic("t", -1, -1))

    assert (result.num_partitions, result.replication_factor) == (3, 1)


def test_default_replication_factor_too_large_is_refused(cluster_with: ClusterWith, topic: MakeTopic) -> None:
    """The default is checked like a number that was asked for."""
    cluster = cluster_with(default_replication_factor="2")

    (result,) = cluster.create(topic("t", 1, -1))

    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_manual_assignment_may_come_in_any_order(cluster: Cluster, topic: MakeTopic) -> None:
    """Partition ids must be consecutive, not sorted."""
    (result,) = cluster.create(topic("t", assigned=((1, [1]), (0, [1]))))

    assert result.error_code == ErrorCode.NONE
    assert result.num_partitions == 2


def test_manual_assignment_must_have_as_many_replicas_everywhere(cluster: Cluster) -> None:
    """A partition with another count than those before it is refused."""
    topic = CreatableTopic(
        name="t",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=0, broker_ids=[1]),
            CreatableReplicaAssignment(partition_index=1, broker_ids=[]),
        ],
        configs=[],
    )

    (result,) = cluster.create(topic)

    assert result.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_validate_only_creates_nothing_but_says_what_would_be(cluster: Cluster, topic: MakeTopic) -> None:
    """KIP-4: all checks, full answer, no records."""
    good, bad = cluster.create(topic("t", 2), topic("u", 0), validate_only=True)

    assert (good.error_code, good.num_partitions) == (ErrorCode.NONE, 2)
    assert bad.error_code == ErrorCode.INVALID_PARTITIONS
    assert not cluster.records


def test_topic_named_twice_is_refused_once(cluster: Cluster, topic: MakeTopic) -> None:
    """ControllerApis: one result per double name, behind the others, which are made."""
    fine, twice = cluster.create(topic("twice"), topic("fine"), topic("twice"))

    assert (fine.name, fine.error_code) == ("fine", ErrorCode.NONE)
    assert (twice.name, twice.error_code) == ("twice", ErrorCode.INVALID_REQUEST)
    assert twice.error_message == "Duplicate topic name."
    assert list(cluster.image.topics) == ["fine"]


def test_one_bad_topic_does_not_hold_up_the_others(cluster: Cluster, topic: MakeTopic) -> None:
    """Each topic of a request is decided by itself."""
    results = cluster.create(topic("a"), topic("b", 0), topic("c"))

    assert [result.error_code for result in results] == [0, ErrorCode.INVALID_PARTITIONS, 0]
    assert list(cluster.image.topics) == ["a", "c"]


def test_answer_tells_every_effective_setting_and_its_source(
    cluster_with: ClusterWith, topic: MakeTopic
) -> None:
    """KIP-525: own settings are dynamic topic (1), the broker's static (4), the rest default (5)."""
    cluster = cluster_with(log_retention_hours="2")

    (result,) = cluster.create(topic("t", segment_ms="9"))

    told = {config.name: (config.value, config.config_source) for config in result.configs}
    assert len(told) == 37
    assert told["segment.ms"] == ("9", 1)
    assert told["retention.ms"] == ("7200000", 4)
    assert told["flush.messages"] == ("9223372036854775807", 5)
    assert [config.name for config in result.configs] == sorted(told)
