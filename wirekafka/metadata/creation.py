"""CreateTopics: which topics may be made as asked, and the records that make them.

Called by `MetadataMachine.create_topics` and `auto_create`; changes nothing.

Source: Kafka's ReplicationControlManager.createTopics and ControllerApis.createTopics.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from wirekafka.ids import TopicId
from wirekafka.metadata.image import TOPIC_RESOURCE
from wirekafka.metadata.records import MetadataRecord
from wirekafka.metadata.state import ClusterState
from wirekafka.metadata.topics import (
    CLUSTER_METADATA,
    MOST_PARTITIONS_PER_REQUEST,
    check_assignment,
    check_replication_factor,
    partition_record,
    validate_name,
)
from wirekafka.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.cluster_metadata import ConfigRecord, TopicRecord

DEFAULT_COUNT = -1
"""Stands in a request for "as many as the broker's settings say"."""


def plan_topics(
    request: CreateTopicsRequest, state: ClusterState, new_topic_id: Callable[[], TopicId]
) -> tuple[list[MetadataRecord], list[CreatableTopicResult]]:
    """Give the records of the topics that can be made, and a result for every topic asked for.

    A topic named twice has one result, at the end.
    """
    times = Counter(topic.name for topic in request.topics)
    wanted = [topic for topic in request.topics if times[topic.name] == 1]
    records: list[MetadataRecord] = []
    results = []
    try:
        _check_total(wanted, state)
    except KafkaError as error:
        return [], [_refused(name, error) for name in times]
    for topic in wanted:
        try:
            topic_records, result = plan_topic(topic, state, new_topic_id)
        except KafkaError as error:
            results.append(_refused(topic.name, error))
            continue
        records += topic_records
        results.append(result)
    twice = KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    results += [_refused(name, twice) for name, count in times.items() if count > 1]
    return records, results


def plan_topic(
    topic: CreatableTopic, state: ClusterState, new_topic_id: Callable[[], TopicId]
) -> tuple[list[MetadataRecord], CreatableTopicResult]:
    """Give the records of one topic and the result that describes it.

    Raises INVALID_TOPIC_EXCEPTION, TOPIC_ALREADY_EXISTS, INVALID_CONFIG, INVALID_PARTITIONS,
    INVALID_REPLICATION_FACTOR, INVALID_REPLICA_ASSIGNMENT or INVALID_REQUEST.
    """
    _check_name(topic.name, state)
    configs = _own_configs(topic)
    state.topic_settings.validate(configs)
    replicas = _assigned(topic, state.brokers) if topic.assignments else _placed(topic, state)
    topic_id = new_topic_id()
    records: list[MetadataRecord] = [TopicRecord(name=topic.name, topic_id=topic_id)]
    records += [
        ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name=topic.name, name=name, value=value)
        for name, value in configs.items()
    ]
    records += [partition_record(topic_id, number, brokers) for number, brokers in enumerate(replicas)]
    return records, CreatableTopicResult(
        name=topic.name,
        topic_id=topic_id,
        error_code=ErrorCode.NONE,
        error_message=None,
        num_partitions=len(replicas),
        replication_factor=len(replicas[0]),
        configs=state.topic_settings.describe(configs),
    )


def _check_total(topics: Sequence[CreatableTopic], state: ClusterState) -> None:
    default = state.settings.get_int("num.partitions")
    counts = (default if topic.num_partitions == DEFAULT_COUNT else topic.num_partitions for topic in topics)
    total = sum(len(topic.assignments) or max(count, 0) for topic, count in zip(topics, counts, strict=True))
    if total > MOST_PARTITIONS_PER_REQUEST:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"Excessively large number of partitions per request: {total} are more than"
            f" {MOST_PARTITIONS_PER_REQUEST}.",
        )


def _check_name(name: str, state: ClusterState) -> None:
    if name == CLUSTER_METADATA:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited.")
    if name in state.image.topics:
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    validate_name(name)
    colliding = state.image.colliding_name(name)
    if colliding is not None:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {colliding}"
        )


def _own_configs(topic: CreatableTopic) -> dict[str, str]:
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(nulls)}"
        )
    return {config.name: config.value for config in topic.configs if config.value is not None}


def _placed(topic: CreatableTopic, state: ClusterState) -> list[list[int]]:
    """Replicas of the partitions of a topic that only gives numbers."""
    replication_factor, partitions = topic.replication_factor, topic.num_partitions
    if replication_factor == 0 or replication_factor < DEFAULT_COUNT:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partitions == 0 or partitions < DEFAULT_COUNT:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
        )
    if replication_factor == DEFAULT_COUNT:
        replication_factor = state.settings.get_int("default.replication.factor")
    if partitions == DEFAULT_COUNT:
        partitions = state.settings.get_int("num.partitions")
    check_replication_factor(replication_factor)
    return [[state.node_id] for _ in range(partitions)]


def _assigned(topic: CreatableTopic, brokers: frozenset[int]) -> list[list[int]]:
    """Replicas of the partitions of a topic that gives them itself."""
    for what, count in (
        ("replication factor", topic.replication_factor),
        ("numPartitions", topic.num_partitions),
    ):
        if count != DEFAULT_COUNT:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"A manual partition assignment was specified, but {what} was not set to -1.",
            )
    by_partition: dict[int, list[int]] = {}
    for assignment in topic.assignments:
        _check_new_assignment(assignment, by_partition, brokers)
        by_partition[assignment.partition_index] = assignment.broker_ids
    if sorted(by_partition) != list(range(len(by_partition))):
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [by_partition[number] for number in range(len(by_partition))]


def _check_new_assignment(
    assignment: CreatableReplicaAssignment, before: dict[int, list[int]], brokers: frozenset[int]
) -> None:
    if assignment.partition_index in before:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Found multiple manual partition assignments for partition {assignment.partition_index}",
        )
    expected = len(next(iter(before.values()))) if before else None
    check_assignment(assignment.broker_ids, brokers, expected)


def _refused(name: str, error: KafkaError) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message)
