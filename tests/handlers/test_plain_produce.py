"""plain_produce: which requests may be written partition by partition; how, test_produce tells."""

from typing import Any

import pytest

from tests.handlers.one_topic import NOW_MS, TOPIC_ID, Topic, a_topic
from tests.handlers.support import batch
from wirekafka.handlers import RequestContext
from wirekafka.handlers.plain_produce import PlainTopic, plain_topics
from wirekafka.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData


def topic_of(records: dict[int, bytes | None], name: str = "t") -> TopicProduceData:
    data = [
        PartitionProduceData(index=index, records=None if each is None else memoryview(bytearray(each)))
        for index, each in records.items()
    ]
    return TopicProduceData(name=name, topic_id=TOPIC_ID, partition_data=data)


def good(**header: int) -> bytes:
    return batch(timestamp_ms=NOW_MS, **header)  # type: ignore[arg-type]  # no header is called `value`


def found(
    topic: Topic, *topics: TopicProduceData, version: int = 9, acks: int = -1, **facts: Any
) -> list[PlainTopic] | None:
    request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=list(topics), **facts)
    return plain_topics(request, RequestContext(topic.client, version, "test"))


@pytest.mark.parametrize("version", [9, 12, 13])
def test_partitions_are_given_as_they_stand_in_the_request(version: int) -> None:
    with a_topic() as topic:
        sent = topic_of({1: good(), 0: good()})
        one, two = topic.partitions

        assert found(topic, sent, version=version) == [PlainTopic(sent, "t", [two, one])]


def test_a_request_for_nothing_is_plain() -> None:
    with a_topic() as topic:
        assert found(topic) == []


NOT_PLAIN: dict[str, dict[str, Any]] = {
    "before v9": {"version": 8},
    "acks=2": {"acks": 2},
    "a transactional id": {"transactional_id": "x"},
}


@pytest.mark.parametrize("facts", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_a_request_out_of_the_ordinary_goes_the_usual_way(facts: dict[str, Any]) -> None:
    with a_topic() as topic:
        assert found(topic, topic_of({0: good()}), **facts) is None


OTHERS = {
    "no such partition": topic_of({2: good()}),
    "no such topic": topic_of({0: good()}, "u"),
    "the broker's own": topic_of({0: good()}, "__consumer_offsets"),
    "no partitions": topic_of({}),
    "no records": topic_of({0: None}),
    "no batch": topic_of({0: good()[:60]}),
    "of a transaction": topic_of({0: good(attributes=16, producer_id=1, producer_epoch=0, base_sequence=0)}),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_topic_out_of_the_ordinary_sends_all_of_them_the_usual_way(
    other: TopicProduceData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused as a whole has to be seen before anything is written."""
    with a_topic() as topic:
        if other.name == "__consumer_offsets":
            monkeypatch.setattr(topic, "find", lambda name, index: topic.partitions[index])

        assert found(topic, topic_of({0: good()}), other) is None


@pytest.mark.parametrize("config", [{"compression_type": "gzip"}, {"cleanup_policy": ("compact",)}])
def test_what_is_prepared_in_a_thread_is_not_plain(config: dict[str, Any]) -> None:
    with a_topic(**config) as topic:
        assert found(topic, topic_of({0: good()})) is None
