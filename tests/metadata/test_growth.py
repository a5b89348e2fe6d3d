"""CreatePartitions: topics grow, and never shrink."""

import pytest

from tests.metadata.support import Cluster, MakeTopic
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from wirekafka.protocol.error_codes import ErrorCode


def to(count: int, name: str = "t", assigned: list[list[int]] | None = None) -> CreatePartitionsTopic:
    assignments = (
        None if assigned is None else [CreatePartitionsAssignment(broker_ids=ids) for ids in assigned]
    )
    return CreatePartitionsTopic(name=name, count=count, assignments=assignments)


def grow(
    cluster: Cluster, *topics: CreatePartitionsTopic, validate_only: bool = False
) -> list[tuple[str, int, str | None]]:
    request = CreatePartitionsRequest(topics=list(topics), timeout_ms=1, validate_only=validate_only)
    decision = cluster.machine.create_partitions(request, ticket=Ticket(7))
    return [(r.name, r.error_code, r.error_message) for r in cluster.carry_out(decision).results]


@pytest.fixture
def grown(cluster: Cluster, topic: MakeTopic) -> Cluster:
    cluster.create(topic("t", 2))
    return cluster


REFUSALS = {
    "same count": (to(2), ErrorCode.INVALID_PARTITIONS, "Topic already has 2 partition(s)."),
    "fewer": (
        to(1),
        ErrorCode.INVALID_PARTITIONS,
        "The topic t currently has 2 partition(s); 1 would not be an increase.",
    ),
    "unknown topic": (to(3, "u"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "does not host topic 'u'"),
    "too few assignments": (
        to(4, assigned=[[1]]),
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
    ),
    "unknown broker": (
        to(3, assigned=[[9]]),
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "includes broker 9, but no such broker is registered",
    ),
    "broker twice": (to(3, assigned=[[1, 1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "more than once"),
    "no broker": (to(3, assigned=[[]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "empty replica list"),
    "too many": (to(10_003), ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions"),
}


@pytest.mark.parametrize(("asked", "code", "message"), REFUSALS.values(), ids=REFUSALS.keys())
def test_topic_that_may_not_grow_so_is_refused(
    grown: Cluster, asked: CreatePartitionsTopic, code: ErrorCode, message: str
) -> None:
    """Each fault has Kafka's code and facts (ReplicationControlManager.createPartitions)."""
    ((_, error_code, error_message),) = grow(grown, asked)

    assert error_code == code
    assert error_message is not None
    assert message in error_message
    assert len(grown.image.topics["t"].partitions) == 2


@pytest.mark.parametrize("assigned", [None, [[1], [1]]])
def test_added_partitions_follow_the_present_ones(grown: Cluster, assigned: list[list[int]] | None) -> None:
    """KIP-195: the count is the new total; ids go on from the last."""
    results = grow(grown, to(4, assigned=assigned))

    assert results == [("t", ErrorCode.NONE, None)]
    assert list(grown.image.topics["t"].partitions) == [0, 1, 2, 3]
    assert grown.image.topics["t"].partitions[3].leader == 1


def test_validate_only_adds_nothing(grown: Cluster) -> None:
    """All checks, no records."""
    results = grow(grown, to(4), validate_only=True)

    assert results == [("t", ErrorCode.NONE, None)]
    assert len(grown.image.topics["t"].partitions) == 2


def test_topic_named_twice_is_refused_once(grown: Cluster, topic: MakeTopic) -> None:
    """ControllerApis.createPartitions: one result for a double name."""
    grown.create(topic("u"))

    results = grow(grown, to(3), to(2, "u"), to(4))

    assert results == [
        ("t", ErrorCode.INVALID_REQUEST, "Duplicate topic name."),
        ("u", ErrorCode.NONE, None),
    ]


def test_limit_is_for_the_whole_request(grown: Cluster, topic: MakeTopic) -> None:
    """10,000 new partitions a request, over all its topics."""
    grown.create(topic("u"))

    results = grow(grown, to(10_002), to(2, "u"))

    assert [code for _, code, _ in results] == [ErrorCode.NONE, ErrorCode.POLICY_VIOLATION]
