"""DeleteTopics by name and by id."""

from collections.abc import Iterable

import pytest

from tests.metadata.support import Cluster, ClusterWith, MakeTopic
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.error_codes import ErrorCode

UNKNOWN = b"\x99" * 16


def delete(
    cluster: Cluster, *states: DeleteTopicState, names: Iterable[str] = (), **facts: bool
) -> list[tuple[str | None, bytes, int, str | None]]:
    request = DeleteTopicsRequest(topics=list(states), topic_names=list(names), timeout_ms=1)
    decision = cluster.machine.delete_topics(request, ticket=Ticket(7), **facts)
    return [
        (r.name, r.topic_id, r.error_code, r.error_message) for r in cluster.carry_out(decision).responses
    ]


def by_name(name: str) -> DeleteTopicState:
    return DeleteTopicState(name=name, topic_id=NO_TOPIC_ID)


def by_id(topic_id: bytes) -> DeleteTopicState:
    return DeleteTopicState(name=None, topic_id=topic_id)


@pytest.fixture
def topic_id(cluster: Cluster, topic: MakeTopic) -> bytes:
    (result,) = cluster.create(topic("t.1", retention_ms="5"))
    return bytes(result.topic_id)


@pytest.mark.parametrize("how", ["name", "id", "old name list"])
def test_topic_is_deleted_with_its_settings_and_answered_with_both_names(
    cluster: Cluster, topic_id: bytes, how: str
) -> None:
    """Versions up to 5 list names; 6 has names and ids (KIP-516)."""
    if how == "old name list":
        results = delete(cluster, names=["t.1"])
    else:
        results = delete(cluster, by_name("t.1") if how == "name" else by_id(topic_id))

    assert results == [("t.1", topic_id, ErrorCode.NONE, None)]
    assert not cluster.image.topics
    assert not cluster.image.topics_by_id
    assert not cluster.image.topic_configs("t.1")
    assert cluster.image.colliding_name("t_1") is None


REFUSALS = {
    "unknown name": ([by_name("u")], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "does not host topic 'u'"),
    "unknown id": ([by_id(UNKNOWN)], ErrorCode.UNKNOWN_TOPIC_ID, "does not host topic id mZmZ"),
    "name twice": ([by_name("t.1")] * 2, ErrorCode.INVALID_REQUEST, "Duplicate topic name."),
    "id twice": ([by_id(UNKNOWN)] * 2, ErrorCode.INVALID_REQUEST, "Duplicate topic id."),
    "neither": ([by_id(NO_TOPIC_ID)], ErrorCode.INVALID_REQUEST, "Neither topic name nor id"),
    "both": (
        [DeleteTopicState(name="t.1", topic_id=UNKNOWN)],
        ErrorCode.INVALID_REQUEST,
        "You may not specify both topic name and topic id.",
    ),
}


@pytest.mark.parametrize(("states", "code", "message"), REFUSALS.values(), ids=REFUSALS.keys())
def test_ill_named_topic_is_refused_once_and_nothing_deleted(
    cluster: Cluster, topic_id: bytes, states: list[DeleteTopicState], code: ErrorCode, message: str
) -> None:
    """Each fault has the code of Kafka's ControllerApis.deleteTopics."""
    ((_, _, error_code, error_message),) = delete(cluster, *states)

    assert error_code == code
    assert error_message is not None
    assert message in error_message
    assert list(cluster.image.topics) == ["t.1"]


def test_name_and_id_of_one_topic_are_refused(cluster: Cluster, topic_id: bytes) -> None:
    """A topic named in two ways is not deleted at all."""
    ((name, _, code, message),) = delete(cluster, by_name("t.1"), by_id(topic_id))

    assert (name, code) == ("t.1", ErrorCode.INVALID_REQUEST)
    assert message == "The provided topic name maps to an ID that was already supplied."
    assert list(cluster.image.topics) == ["t.1"]


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({}, ErrorCode.TOPIC_DELETION_DISABLED),
        ({"knows_deletion_disabled": False}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_deletion_can_be_switched_off(
    cluster_with: ClusterWith, topic: MakeTopic, facts: dict[str, bool], code: ErrorCode
) -> None:
    """delete.topic.enable=false: code 73, which clients before version 3 do not know."""
    cluster = cluster_with(delete_topic_enable="false")
    cluster.create(topic("t"))

    results = delete(cluster, by_name("t"), names=["t"], **facts)

    assert [result[2] for result in results] == [code, code]
    assert list(cluster.image.topics) == ["t"]


def test_name_can_be_used_again_with_a_new_id(cluster: Cluster, topic: MakeTopic, topic_id: bytes) -> None:
    """A deleted name is free; the old id stays unknown."""
    delete(cluster, by_name("t.1"))

    (again,) = cluster.create(topic("t_1"))

    assert again.error_code == ErrorCode.NONE
    assert delete(cluster, by_id(topic_id))[0][2] == ErrorCode.UNKNOWN_TOPIC_ID
