"""Short ways to the requests of these tests, beside those of tests/support/requests.py."""

import itertools
import time

from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from wirekafka.protocol.apis.find_coordinator import FindCoordinatorRequest
from wirekafka.protocol.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from wirekafka.protocol.records import Record, build_batch

NO_ID = bytes(16)
UNKNOWN_ID = b"\x05" * 16
AS_BROKER_SENDS_NO_OPERATIONS = -(2**31)

_numbers = itertools.count()


def fresh(prefix: str) -> str:
    """A name that no other test has."""
    return f"{prefix}-{next(_numbers)}"


def new_topic(raw: RawClient, *, partitions: int = 1, **configs: str) -> tuple[str, bytes]:
    """Create a topic with a name of its own; give name and id. A setting's dots are underscores."""
    name = fresh("topic")
    given = [CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
    topic = CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=given
    )
    [made] = raw.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7).topics
    assert made.error_code == 0, made
    return name, made.topic_id


def now_ms() -> int:
    """The time that brokers compare records' timestamps with."""
    return time.time_ns() // 1_000_000


def batch(count: int = 1, *, value: bytes = b"v", timestamp_ms: int | None = None, **header: int) -> bytes:
    """A batch of keyed records, a millisecond apart."""
    start_ms = now_ms() if timestamp_ms is None else timestamp_ms
    records = [Record(key=b"k%d" % n, value=value, timestamp_ms=start_ms + n) for n in range(count)]
    return bytes(build_batch(records, **header))


def produce(
    raw: RawClient,
    topic: tuple[str, bytes],
    records: bytes | None,
    *,
    version: int = 9,
    partition: int = 0,
    acks: int = -1,
    transactional_id: str | None = None,
    client_id: str = "raw",
) -> PartitionProduceResponse:
    """Produce to one partition of a topic, by name or by id as the version has it."""
    name, topic_id = topic
    view = None if records is None else memoryview(records)
    data = TopicProduceData(
        name=name, topic_id=topic_id, partition_data=[PartitionProduceData(index=partition, records=view)]
    )
    request = ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=1000, topic_data=[data])
    [answered] = raw.ask(request, version, client_id=client_id).responses
    assert (answered.name, answered.topic_id) == ((name, NO_ID) if version < 13 else ("", topic_id))
    [response] = answered.partition_responses
    assert response.index == partition
    return response  # type: ignore[no-any-return]


def make_coordinator(raw: RawClient) -> None:
    """See that the offsets topic is there."""
    assert raw.ask(FindCoordinatorRequest(key="g"), 2).error_code == 0
