"""CreatePartitions: which topics may grow as asked, and the records of the partitions added.

Called by `MetadataMachine.create_partitions`; changes nothing.

Source: Kafka's ReplicationControlManager.createPartitions and ControllerApis.createPartitions.
"""

from collections import Counter

from wirekafka.metadata.image import TopicImage
from wirekafka.metadata.records import MetadataRecord
from wirekafka.metadata.state import ClusterState
from wirekafka.metadata.topics import (
    MOST_PARTITIONS_PER_REQUEST,
    check_assignment,
    check_replication_factor,
    partition_record,
)
from wirekafka.protocol.apis.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def plan_growth(
    request: CreatePartitionsRequest, state: ClusterState
) -> tuple[list[MetadataRecord], list[CreatePartitionsTopicResult]]:
    """Give the records of the partitions that can be added, and a result for every topic named.

    A topic named twice has one result, before the others.
    """
    times = Counter(topic.name for topic in request.topics)
    twice = KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    records: list[MetadataRecord] = []
    results = [_result(name, twice) for name, count in times.items() if count > 1]
    for topic in request.topics:
        if times[topic.name] > 1:
            continue
        try:
            added = _plan_topic(topic, state, MOST_PARTITIONS_PER_REQUEST - len(records))
        except KafkaError as error:
            results.append(_result(topic.name, error))
            continue
        records += added
        results.append(_result(topic.name))
    return records, results


def _plan_topic(topic: CreatePartitionsTopic, state: ClusterState, most: int) -> list[MetadataRecord]:
    present = state.image.topics.get(topic.name)
    if present is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"This server does not host topic '{topic.name}'."
        )
    additional = _additional(topic, present)
    if additional > most:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"Excessively large number of partitions per request, allowed are {MOST_PARTITIONS_PER_REQUEST}.",
        )
    first = len(present.partitions)
    replication_factor = len(present.partitions[0].replicas)
    if topic.assignments is None:
        check_replication_factor(replication_factor)
        replicas = [[state.node_id] for _ in range(additional)]
    else:
        replicas = [assignment.broker_ids for assignment in topic.assignments]
        for brokers in replicas:
            check_assignment(brokers, state.brokers, replication_factor)
    return [partition_record(present.topic_id, first + n, brokers) for n, brokers in enumerate(replicas)]


def _additional(topic: CreatePartitionsTopic, present: TopicImage) -> int:
    count = len(present.partitions)
    if topic.count == count:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {count} partition(s).")
    if topic.count < count:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {topic.name} currently has {count} partition(s); {topic.count} would not be an"
            " increase.",
        )
    additional = topic.count - count
    if topic.assignments is not None and len(topic.assignments) != additional:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only {len(topic.assignments)}"
            " assignment(s) were specified.",
        )
    return additional


def _result(name: str, error: KafkaError | None = None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(
        name=name,
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
    )
