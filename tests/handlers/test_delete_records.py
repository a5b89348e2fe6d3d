"""DeleteRecords over TCP, held against Kafka 4.4; the rules are tested in tests/broker/test_retention.py."""

import pytest

from tests.handlers.support import batch, fresh, new_topic, produce
from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from wirekafka.protocol.apis.find_coordinator import FindCoordinatorRequest
from wirekafka.protocol.error_codes import ErrorCode

every_form = pytest.mark.parametrize("version", [0, 1, 2])
Answer = list[tuple[str, int, int, int]]


def delete(raw: RawClient, version: int, *wanted: tuple[str, int, int]) -> Answer:
    """Ask for (topic, partition, offset); give (topic, partition, low watermark, error code)."""
    topics = [
        DeleteRecordsTopic(
            name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
        )
        for name, index, offset in wanted
    ]
    answer = raw.ask(DeleteRecordsRequest(topics=topics, timeout_ms=1000), version)
    return [
        (topic.name, p.partition_index, p.low_watermark, p.error_code)
        for topic in answer.topics
        for p in topic.partitions
    ]


@every_form
def test_the_log_begins_at_the_offset(raw: RawClient, version: int) -> None:
    """-1 is the high watermark; an offset before the start changes nothing."""
    topic = new_topic(raw)
    produce(raw, topic, batch(5))

    assert delete(raw, version, (topic[0], 0, 3)) == [(topic[0], 0, 3, 0)]
    assert delete(raw, version, (topic[0], 0, 1)) == [(topic[0], 0, 3, 0)]
    assert delete(raw, version, (topic[0], 0, -1)) == [(topic[0], 0, 5, 0)]


@every_form
def test_each_partition_has_its_error(raw: RawClient, version: int) -> None:
    """With a low watermark of -1."""
    name, other = new_topic(raw, partitions=2)[0], fresh("nowhere")
    compacted, _ = new_topic(raw, cleanup_policy="compact")

    asked = [(name, 0, 1), (name, 1, -2), (name, 7, 0), (other, 0, 0), (compacted, 0, 0)]
    answers = [delete(raw, version, one)[0] for one in asked]

    assert answers == [
        (name, 0, -1, ErrorCode.OFFSET_OUT_OF_RANGE),
        (name, 1, -1, ErrorCode.OFFSET_OUT_OF_RANGE),
        (name, 7, -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (other, 0, -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (compacted, 0, -1, ErrorCode.POLICY_VIOLATION),
    ]


def test_records_of_internal_topics_are_not_deleted(raw: RawClient) -> None:
    """INVALID_TOPIC_EXCEPTION, unless there is no such topic yet."""
    raw.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4)

    assert delete(raw, 2, ("__consumer_offsets", 0, 0), ("__cluster_metadata", 0, 0)) == [
        ("__consumer_offsets", 0, -1, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("__cluster_metadata", 0, -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_a_partition_that_stands_twice_is_answered_once(raw: RawClient) -> None:
    """The last offset counts."""
    topic = new_topic(raw)
    produce(raw, topic, batch(5))

    assert delete(raw, 2, (topic[0], 0, 4), (topic[0], 0, 2)) == [(topic[0], 0, 2, 0)]
