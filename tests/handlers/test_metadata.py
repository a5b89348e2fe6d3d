"""Metadata and DescribeCluster over TCP, held against Kafka 4.4."""

import contextlib
import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.handlers.support import (
    AS_BROKER_SENDS_NO_OPERATIONS,
    NO_ID,
    UNKNOWN_ID,
    fresh,
    make_coordinator,
    new_topic,
)
from tests.support.raw_client import RawClient
from tests.support.requests import create_topic
from wirekafka.broker import Broker
from wirekafka.broker.kept_answers import KeptAnswers
from wirekafka.broker.kept_pieces import KeptPieces
from wirekafka.handlers import HANDLERS, ClientConnection, Endpoint, RequestContext
from wirekafka.metadata.image import MetadataImage
from wirekafka.metadata.topics import partition_record
from wirekafka.protocol.apis.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest
from wirekafka.protocol.apis.describe_cluster import DescribeClusterRequest
from wirekafka.protocol.apis.metadata import METADATA, MetadataRequest, MetadataRequestTopic, MetadataResponse
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.connection import Built
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.cluster_metadata import TopicRecord
from wirekafka.testing import RunningBroker, running_broker

TOPIC_OPERATIONS = 0x0DF8
"""Read, write, create, delete, alter, describe, describe configs, alter configs: bits 3-8, 10, 11."""
CLUSTER_OPERATIONS = 0x1FA0
"""Create, alter, describe, cluster action, describe and alter configs, idempotent write."""
every_form = pytest.mark.parametrize("version", range(14))
since_v4 = pytest.mark.parametrize("version", range(4, 14))
by_id_forms = pytest.mark.parametrize("version", [12, 13])


def ask(raw: RawClient, version: int, *names: str, **more: Any) -> Any:
    return raw.ask(
        MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], **more), version
    )


def ask_by_id(raw: RawClient, version: int, *ids: bytes) -> Any:
    return raw.ask(
        MetadataRequest(topics=[MetadataRequestTopic(topic_id=one, name=None) for one in ids]), version
    )


@every_form
def test_broker_is_told_as_the_client_reached_it(raw: RawClient, broker: RunningBroker, version: int) -> None:
    answer = ask(raw, version, fresh("auto"))

    [told] = answer.brokers
    assert (told.node_id, told.host, told.port, told.rack) == (1, broker.host, broker.port, None)
    assert answer.controller_id == (-1 if version < 1 else 1)
    assert answer.cluster_id == (None if version < 2 else broker.cluster_id)


@every_form
def test_topic_is_told_with_its_leaders(raw: RawClient, version: int) -> None:
    name, topic_id = new_topic(raw, partitions=2)

    [topic] = ask(raw, version, name).topics

    assert (topic.error_code, topic.name, topic.is_internal) == (0, name, False)
    assert topic.topic_id == (NO_ID if version < 10 else topic_id)
    for index, partition in enumerate(sorted(topic.partitions, key=lambda one: one.partition_index)):
        assert (partition.error_code, partition.partition_index, partition.leader_id) == (0, index, 1)
        assert (partition.replica_nodes, partition.isr_nodes, partition.offline_replicas) == ([1], [1], [])
        assert partition.leader_epoch == (-1 if version < 7 else 0)


@every_form
def test_null_topics_are_all_of_them(raw: RawClient, version: int) -> None:
    """In v0, which has no null, none are."""
    name, _ = new_topic(raw)
    request = MetadataRequest(topics=[] if version == 0 else None)

    assert name in [topic.name for topic in raw.ask(request, version).topics]


@pytest.mark.parametrize("version", range(1, 14))
def test_no_topics_are_none(raw: RawClient, version: int) -> None:
    assert ask(raw, version).topics == []


@every_form
def test_topic_asked_twice_is_told_once(raw: RawClient, version: int) -> None:
    name, _ = new_topic(raw)

    assert [topic.name for topic in ask(raw, version, name, name).topics] == [name]


@every_form
def test_unknown_topic_is_made_and_told_with_its_leader(raw: RawClient, version: int) -> None:
    """Unlike Kafka, which says UNKNOWN_TOPIC_OR_PARTITION first, so that clients ask again."""
    [topic] = ask(raw, version, fresh("auto")).topics

    assert (topic.error_code, [partition.leader_id for partition in topic.partitions]) == (0, [1])


@since_v4
def test_client_may_ask_without_making(raw: RawClient, version: int) -> None:
    """KIP-204."""
    name = fresh("never")

    [topic] = ask(raw, version, name, allow_auto_topic_creation=False).topics
    [again] = ask(raw, version, name, allow_auto_topic_creation=False).topics

    assert (topic.error_code, topic.name, topic.topic_id, topic.partitions) == (3, name, NO_ID, [])
    assert again == topic


@pytest.mark.parametrize("version", [0, 3, 8, 13])
def test_broker_may_be_told_to_make_none(version: int) -> None:
    with (
        running_broker(settings={"auto.create.topics.enable": "false"}) as broker,
        RawClient(broker.bootstrap) as raw,
    ):
        assert [topic.error_code for topic in ask(raw, version, "t").topics] == [3]


@every_form
@pytest.mark.parametrize("name", ["a b", "", ".", "..", "a" * 250])
def test_invalid_names(raw: RawClient, version: int, name: str) -> None:
    """Whether it may be made or not."""
    [topic] = ask(raw, version, name).topics

    assert (topic.error_code, topic.name) == (ErrorCode.INVALID_TOPIC_EXCEPTION, name)


@since_v4
def test_each_topic_has_its_own_answer(raw: RawClient, version: int) -> None:
    name, _ = new_topic(raw)

    topics = ask(raw, version, name, "never", "a b", allow_auto_topic_creation=False).topics

    assert {topic.name: topic.error_code for topic in topics} == {name: 0, "never": 3, "a b": 17}


@by_id_forms
def test_topics_by_id(raw: RawClient, version: int) -> None:
    """KIP-516; an unknown id has no name."""
    name, topic_id = new_topic(raw)

    topics = ask_by_id(raw, version, topic_id, UNKNOWN_ID, topic_id).topics

    assert {(t.topic_id, t.name, t.error_code) for t in topics} == {
        (topic_id, name, 0),
        (UNKNOWN_ID, None, ErrorCode.UNKNOWN_TOPIC_ID),
    }


@by_id_forms
def test_id_wins_over_the_name_beside_it(raw: RawClient, version: int) -> None:
    name, topic_id = new_topic(raw)
    both = MetadataRequestTopic(topic_id=topic_id, name="other")

    assert [topic.name for topic in raw.ask(MetadataRequest(topics=[both]), version).topics] == [name]


@pytest.mark.parametrize("version", [10, 11])
def test_ids_before_v12_are_refused(raw: RawClient, version: int) -> None:
    """The field is there, its use is not."""
    name, topic_id = new_topic(raw)
    by_id = MetadataRequestTopic(topic_id=topic_id, name=name)

    answer = raw.ask(MetadataRequest(topics=[by_id]), version)

    assert (answer.brokers, [topic.error_code for topic in answer.topics]) == (
        [],
        [ErrorCode.INVALID_REQUEST],
    )


@pytest.mark.parametrize("version", [10, 11, 12, 13])
def test_topic_without_name_or_id_is_refused(raw: RawClient, version: int) -> None:
    """From v12 on Kafka says UNKNOWN_SERVER_ERROR."""
    answer = ask_by_id(raw, version, NO_ID)

    assert [topic.error_code for topic in answer.topics] == [ErrorCode.INVALID_REQUEST]
    assert answer.error_code == (0 if version < 13 else ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize("version", range(8, 14))
def test_operations_are_told_on_request(raw: RawClient, version: int) -> None:
    """KIP-430; of the cluster up to v10, when DescribeCluster came."""
    name, _ = new_topic(raw)
    cluster = {"include_cluster_authorized_operations": True} if version < 11 else {}

    asked = ask(raw, version, name, include_topic_authorized_operations=True, **cluster)
    silent = ask(raw, version, name)

    assert asked.topics[0].topic_authorized_operations == TOPIC_OPERATIONS
    assert asked.cluster_authorized_operations == (
        CLUSTER_OPERATIONS if version < 11 else AS_BROKER_SENDS_NO_OPERATIONS
    )
    assert silent.topics[0].topic_authorized_operations == AS_BROKER_SENDS_NO_OPERATIONS
    assert silent.cluster_authorized_operations == AS_BROKER_SENDS_NO_OPERATIONS


@pytest.mark.parametrize("version", [1, 12])
def test_internal_topics_are_marked(raw: RawClient, version: int) -> None:
    make_coordinator(raw)

    [topic] = ask(raw, version, "__consumer_offsets").topics

    assert (topic.error_code, topic.is_internal) == (0, True)


cluster_forms = pytest.mark.parametrize("version", [0, 1, 2])


@cluster_forms
def test_cluster_is_described(raw: RawClient, broker: RunningBroker, version: int) -> None:
    """KIP-700."""
    answer = raw.ask(DescribeClusterRequest(include_cluster_authorized_operations=False), version)

    assert (answer.error_code, answer.error_message, answer.endpoint_type) == (0, None, 1)
    assert (answer.cluster_id, answer.controller_id) == (broker.cluster_id, 1)
    [told] = answer.brokers
    assert (told.broker_id, told.host, told.port, told.is_fenced) == (1, broker.host, broker.port, False)
    assert answer.cluster_authorized_operations == AS_BROKER_SENDS_NO_OPERATIONS


@cluster_forms
def test_clusters_operations_are_told_on_request(raw: RawClient, version: int) -> None:
    answer = raw.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), version)

    assert answer.cluster_authorized_operations == CLUSTER_OPERATIONS


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("endpoint", "code"), [(2, 114), (3, 115), (0, 115), (-1, 115)])
def test_controllers_are_described_elsewhere(raw: RawClient, version: int, endpoint: int, code: int) -> None:
    """KIP-919: MISMATCHED_ENDPOINT_TYPE, UNSUPPORTED_ENDPOINT_TYPE."""
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=endpoint)

    answer = raw.ask(request, version)

    assert (answer.error_code, answer.brokers) == (code, [])


# --- answers that are kept


@contextlib.contextmanager
def every_answer_made() -> Iterator[None]:
    """Have every answer made anew, by the handler's own function."""
    keeping = HANDLERS[METADATA.key]
    HANDLERS[METADATA.key] = dataclasses.replace(keeping, at_once=None)
    try:
        yield
    finally:
        HANDLERS[METADATA.key] = keeping


@since_v4
def test_kept_answer_is_that_which_would_be_made(raw: RawClient, version: int) -> None:
    """After every change of the cluster, of these topics or of others."""
    name, _ = new_topic(raw)
    other = fresh("other")
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    every_topic = MetadataRequest(topics=None)
    changes = (
        lambda: None,
        lambda: create_topic(raw, other, partitions=2),
        lambda: raw.ask(more_partitions(name, 3), 3),
        lambda: raw.ask(deletion(name), 3),
        lambda: create_topic(raw, name),
        lambda: raw.ask(deletion(other), 3),
    )

    for change in changes:
        change()
        for asked in (every_topic, request):
            answers = [raw.ask(asked, version) for _ in range(2)]
            with every_answer_made():
                answers.append(raw.ask(asked, version))
            assert answers[0] == answers[1] == answers[2]


class OnLine:
    """Partitions all of which are on line, or none."""

    def __init__(self) -> None:
        self.generation = 1
        self.are_online = True

    def is_online(self, topic: str, index: int) -> bool:
        return self.are_online

    def generation_of(self, topic: str) -> int:
        return self.generation


@pytest.mark.parametrize("version", [5, 13])
@pytest.mark.parametrize("topics", [None, [MetadataRequestTopic(name="t")]], ids=["all", "one"])
def test_what_goes_off_line_is_told_so(version: int, topics: list[MetadataRequestTopic] | None) -> None:
    """Its piece of the answer is made anew."""
    image, partitions, topic_id = MetadataImage(), OnLine(), b"\1" * 16
    image.apply(TopicRecord(name="t", topic_id=topic_id))
    image.apply(partition_record(topic_id, 0, [7]))
    broker = SimpleNamespace(
        image=image,
        partitions=partitions,
        kept_answers=KeptAnswers(lambda: partitions.generation),
        kept_pieces=KeptPieces(),
        node_id=7,
        rack=None,
        cluster_id="c",
    )
    client = ClientConnection(cast(Broker, broker), "p:1", "/p", Endpoint("p", 1), {})
    told = []
    for are_online in (True, False, True):
        partitions.are_online = are_online
        partitions.generation += 1
        at_once = HANDLERS[METADATA.key].at_once
        assert at_once is not None
        answer = at_once(MetadataRequest(topics=topics), RequestContext(client, version, "test"))
        assert isinstance(answer, Built)
        response = codec_for(MetadataResponse, version).parse(cast(bytes, answer.parts[0]))
        told.append(response.topics[0].partitions[0].offline_replicas)

    assert told == [[], [7], []]


def more_partitions(name: str, count: int) -> CreatePartitionsRequest:
    topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
    return CreatePartitionsRequest(topics=[topic], timeout_ms=1000, validate_only=False)


def deletion(name: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=[name], timeout_ms=1000)


def test_kept_answer_is_for_who_reached_the_broker_by_the_same_address() -> None:
    with running_broker(settings={"listeners": "PLAINTEXT://0.0.0.0:0"}) as broker:
        told = []
        for host in ("127.0.0.1", "127.0.0.2", "127.0.0.1"):
            with RawClient(f"{host}:{broker.port}") as raw:
                told.append(ask(raw, 12).brokers[0].host)

    assert told == ["127.0.0.1", "127.0.0.2", "127.0.0.1"]


@since_v4
def test_topic_that_was_not_there_is_when_it_is_asked_for_again(raw: RawClient, version: int) -> None:
    name = fresh("later")
    before = ask(raw, version, name, allow_auto_topic_creation=False).topics[0].error_code
    create_topic(raw, name)

    after = ask(raw, version, name, allow_auto_topic_creation=False).topics[0].error_code

    assert (before, after) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0)
