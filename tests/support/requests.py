"""Short ways to the requests that many tests send: create a topic, produce to it, fetch from it."""

from collections.abc import Sequence

from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.create_topics import CreatableTopic, CreateTopicsRequest
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from wirekafka.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from wirekafka.protocol.records import Record, build_batch, decode_records
from wirekafka.protocol.records.batch import batches_in

PRODUCE_VERSION = 12
FETCH_VERSION = 12
"""The newest with topics by name."""


def create_topic_request(name: str, *, partitions: int = 1) -> CreateTopicsRequest:
    topic = CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=1000)


def create_topic(raw: RawClient, name: str, *, partitions: int = 1) -> None:
    """Create a topic, which must not be there."""
    answer = raw.ask(create_topic_request(name, partitions=partitions), 5)
    assert [topic.error_code for topic in answer.topics] == [0]


def batch_of(*values: bytes) -> bytes:
    """Build one batch with a record for each value."""
    return bytes(build_batch([Record(value=value) for value in values], timestamp_ms=1))


def produce_request(topic: str, records: bytes, *, acks: int = -1) -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=memoryview(records))
    return ProduceRequest(
        acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, partition_data=[partition])]
    )


def produce(raw: RawClient, topic: str, records: bytes) -> int:
    """Append to partition 0, and give the error code."""
    answer = raw.ask(produce_request(topic, records), PRODUCE_VERSION)
    code: int = answer.responses[0].partition_responses[0].error_code
    return code


def fetch_request(
    topic: str, offset: int = 0, *, max_wait_ms: int = 0, min_bytes: int = 1, max_bytes: int = 2**31 - 1
) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[FetchTopic(topic=topic, partitions=[partition])],
    )


def fetch(raw: RawClient, topic: str, offset: int = 0) -> bytes:
    """Read partition 0 from an offset on, in one fetch."""
    answer = raw.ask(fetch_request(topic, offset), FETCH_VERSION)
    data = answer.responses[0].partitions[0]
    assert data.error_code == 0
    return bytes(data.records)


def values_in(records: bytes) -> Sequence[bytes | None]:
    """The values of all records of some batches."""
    return [record.value for batch in batches_in(records) for record in decode_records(batch)]
