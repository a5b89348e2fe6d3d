"""CreateTopics, DeleteTopics and CreatePartitions over TCP, held against Kafka 4.4.

The rules are tested in tests/metadata; here it is that they are asked, in every form of the wire.
"""

from typing import Any

import pytest

from tests.handlers.support import NO_ID, UNKNOWN_ID, fresh, new_topic
from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from wirekafka.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing import running_broker

create_forms = pytest.mark.parametrize("version", [2, 4, 5, 7])
delete_forms = pytest.mark.parametrize("version", [1, 3, 4, 5, 6])
growth_forms = pytest.mark.parametrize("version", [0, 2, 3])


def topic(
    name: str, partitions: int = 1, replicas: int = 1, *, on: tuple[tuple[int, ...], ...] = (), **configs: str
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=i, broker_ids=list(b)) for i, b in enumerate(on)
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ],
    )


def create(raw: RawClient, version: int, *topics: CreatableTopic, validate_only: bool = False) -> list[Any]:
    request = CreateTopicsRequest(topics=list(topics), timeout_ms=1000, validate_only=validate_only)
    answered: list[Any] = raw.ask(request, version).topics
    return answered


def names(raw: RawClient) -> list[str]:
    return [one.name for one in raw.ask(MetadataRequest(topics=None), 9).topics]


@create_forms
def test_created_topic_is_described(raw: RawClient, version: int) -> None:
    name = fresh("made")

    [made] = create(raw, version, topic(name, 3, retention_ms="1000"))

    assert (made.name, made.error_code, made.error_message) == (name, 0, None)
    assert (made.topic_id != NO_ID) is (version >= 7)
    if version >= 5:
        assert (made.num_partitions, made.replication_factor, made.topic_config_error_code) == (3, 1, 0)
        settings = {one.name: (one.value, one.config_source) for one in made.configs}
        assert settings["retention.ms"] == ("1000", 1)
        assert settings["cleanup.policy"] == ("delete", 5)
    assert name in names(raw)


@create_forms
def test_validation_alone_makes_nothing(raw: RawClient, version: int) -> None:
    """KIP-4: but says what would have been."""
    name = fresh("checked")

    [checked] = create(raw, version, topic(name, 2), validate_only=True)

    assert (checked.error_code, name in names(raw)) == (0, False)


CREATION_REFUSALS = {
    "invalid name": (topic("a b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
    "no name": (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
    "no partitions": (topic("x", 0), ErrorCode.INVALID_PARTITIONS),
    "too many replicas": (topic("x", 1, 2), ErrorCode.INVALID_REPLICATION_FACTOR),
    "no replicas": (topic("x", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
    "unknown setting": (topic("x", nope="1"), ErrorCode.INVALID_CONFIG),
    "bad value": (topic("x", retention_ms="soon"), ErrorCode.INVALID_CONFIG),
    "unknown broker": (topic("x", -1, -1, on=((7,),)), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    "assignment and count": (topic("x", 1, -1, on=((1,),)), ErrorCode.INVALID_REQUEST),
}


@create_forms
@pytest.mark.parametrize("validate_only", [False, True])
@pytest.mark.parametrize(("wanted", "code"), CREATION_REFUSALS.values(), ids=CREATION_REFUSALS)
def test_refused_creation_says_why(
    raw: RawClient, version: int, validate_only: bool, wanted: CreatableTopic, code: ErrorCode
) -> None:
    [refused] = create(raw, version, wanted, validate_only=validate_only)

    assert (refused.name, refused.error_code, refused.topic_id) == (wanted.name, code, NO_ID)
    assert refused.error_message
    assert "x" not in names(raw)


@create_forms
def test_each_creation_has_its_own_answer(raw: RawClient, version: int) -> None:
    """A topic that stands twice is refused and not made."""
    there, new, twice = new_topic(raw)[0], fresh("new"), fresh("twice")

    answers = create(raw, version, topic(there), topic(new), topic(twice), topic(twice, 2))

    assert {one.name: one.error_code for one in answers} == {
        there: ErrorCode.TOPIC_ALREADY_EXISTS,
        new: 0,
        twice: ErrorCode.INVALID_REQUEST,
    }
    assert twice not in names(raw)


def delete(raw: RawClient, version: int, *topics: str | bytes) -> list[Any]:
    """Delete topics by name or, in v6, by id."""
    states = [
        DeleteTopicState(
            name=one if isinstance(one, str) else None, topic_id=one if isinstance(one, bytes) else NO_ID
        )
        for one in topics
    ]
    by_name = [one for one in topics if isinstance(one, str)]
    form = {"topics": states} if version >= 6 else {"topic_names": by_name}
    answered: list[Any] = raw.ask(DeleteTopicsRequest(timeout_ms=1000, **form), version).responses
    return answered


@delete_forms
def test_topics_are_deleted_by_name(raw: RawClient, version: int) -> None:
    name, topic_id = new_topic(raw)

    answers = {one.name: one for one in delete(raw, version, name, "nowhere")}

    assert answers[name].error_code == 0
    assert answers[name].topic_id == (topic_id if version >= 6 else NO_ID)
    assert answers["nowhere"].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert bool(answers["nowhere"].error_message) is (version >= 5)
    assert name not in names(raw)


def test_topics_are_deleted_by_id(raw: RawClient) -> None:
    """KIP-516: an unknown id has no name."""
    name, topic_id = new_topic(raw)

    answers = {one.topic_id: one for one in delete(raw, 6, topic_id, UNKNOWN_ID)}

    assert (answers[topic_id].name, answers[topic_id].error_code) == (name, 0)
    assert (answers[UNKNOWN_ID].name, answers[UNKNOWN_ID].error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)
    assert name not in names(raw)


@delete_forms
def test_topic_to_delete_twice_is_refused(raw: RawClient, version: int) -> None:
    name, _ = new_topic(raw)

    answers = delete(raw, version, name, name)

    assert {one.error_code for one in answers} == {ErrorCode.INVALID_REQUEST}
    assert name in names(raw)


@pytest.mark.parametrize(("version", "code"), [(1, 42), (2, 42), (3, 73), (6, 73)])
def test_deletion_may_be_turned_off(version: int, code: int) -> None:
    """TOPIC_DELETION_DISABLED for those who know it, INVALID_REQUEST for the others."""
    with (
        running_broker(settings={"delete.topic.enable": "false"}) as broker,
        RawClient(broker.bootstrap) as raw,
    ):
        name, _ = new_topic(raw)

        assert [one.error_code for one in delete(raw, version, name)] == [code]
        assert name in names(raw)


def grow(
    raw: RawClient,
    version: int,
    *topics: tuple[str, int],
    on: list[list[int]] | None = None,
    check: bool = False,
) -> dict[str, int]:
    assigned = None if on is None else [CreatePartitionsAssignment(broker_ids=ids) for ids in on]
    wanted = [CreatePartitionsTopic(name=name, count=count, assignments=assigned) for name, count in topics]
    request = CreatePartitionsRequest(topics=wanted, timeout_ms=1000, validate_only=check)
    return {one.name: one.error_code for one in raw.ask(request, version).results}


@growth_forms
def test_partitions_are_added(raw: RawClient, version: int) -> None:
    name, _ = new_topic(raw, partitions=2)

    checked = grow(raw, version, (name, 3), check=True)
    grown = grow(raw, version, (name, 3))
    assigned = grow(raw, version, (name, 5), on=[[1], [1]])

    assert (checked, grown, assigned) == ({name: 0}, {name: 0}, {name: 0})
    [described] = [one for one in raw.ask(MetadataRequest(topics=None), 9).topics if one.name == name]
    assert [partition.leader_id for partition in described.partitions] == [1] * 5


@growth_forms
@pytest.mark.parametrize("check", [False, True])
def test_refused_growth(raw: RawClient, version: int, check: bool) -> None:
    name, _ = new_topic(raw, partitions=2)

    codes = [grow(raw, version, (name, count), check=check)[name] for count in (2, 1, 0, -1)]

    assert codes == [ErrorCode.INVALID_PARTITIONS] * 4
    assert grow(raw, version, (name, 4), on=[[1]], check=check)[name] == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert grow(raw, version, (name, 3), on=[[7]], check=check)[name] == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert grow(raw, version, ("nowhere", 4), check=check)["nowhere"] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert grow(raw, version, (name, 4), (name, 5), check=check)[name] == ErrorCode.INVALID_REQUEST
