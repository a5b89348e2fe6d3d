"""Requests that many scenarios send, made of what they vary.

Called by the scenarios. Source: the messages of `wirekafka.protocol.apis`, by Kafka's names.
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.topics import Topic
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from wirekafka.protocol.apis.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from wirekafka.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData

IDS_IN_PRODUCE = IDS_IN_FETCH = 13
MEGABYTE = 1 << 20


def produce(
    version: int,
    topic: Topic,
    *partitions: tuple[int, bytes | None],
    acks: int = -1,
    transactional_id: str | None = None,
) -> ProduceRequest:
    """Make a Produce of (partition, records) to one topic."""
    data = [
        PartitionProduceData(index=index, records=None if records is None else memoryview(records))
        for index, records in partitions
    ]
    topic_data = TopicProduceData(partition_data=data, **topic.named(version >= IDS_IN_PRODUCE))
    return ProduceRequest(
        transactional_id=transactional_id, acks=acks, timeout_ms=5000, topic_data=[topic_data]
    )


# Any: the arguments go to message classes that check them.
def part(partition: int, fetch_offset: int, max_bytes: int = MEGABYTE, **more: Any) -> FetchPartition:
    """Say where to read from in a partition."""
    return FetchPartition(
        partition=partition, fetch_offset=fetch_offset, partition_max_bytes=max_bytes, **more
    )


def fetch_topic(version: int, topic: Topic, *partitions: FetchPartition) -> FetchTopic:
    return FetchTopic(partitions=list(partitions), **topic.named(version >= IDS_IN_FETCH, "topic"))


def forgotten(version: int, topic: Topic, *partitions: int) -> ForgottenTopic:
    return ForgottenTopic(partitions=list(partitions), **topic.named(version >= IDS_IN_FETCH, "topic"))


# Any: as for `part`.
def fetch(*topics: FetchTopic, max_wait_ms: int = 0, min_bytes: int = 0, **more: Any) -> FetchRequest:
    """Make a Fetch that does not wait, unless told to."""
    return FetchRequest(topics=list(topics), max_wait_ms=max_wait_ms, min_bytes=min_bytes, **more)


# Any: as for `part`.
def list_offsets(topic: str, *partitions: ListOffsetsPartition, **more: Any) -> ListOffsetsRequest:
    """Make a ListOffsets for one topic."""
    wanted = [ListOffsetsTopic(name=topic, partitions=list(partitions))]
    return ListOffsetsRequest(topics=wanted, **{"replica_id": -1} | more)


def at(timestamp: int, partition: int = 0, epoch: int = -1) -> ListOffsetsPartition:
    """Say which offset of a partition to list."""
    return ListOffsetsPartition(partition_index=partition, timestamp=timestamp, current_leader_epoch=epoch)
