"""Topics for the scenarios: created on one broker, awaited, and known by name and id.

Called by the scenarios. Source: KIP-516 for ids in place of names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compat_tests.differential.side import NotReady, Side
from wirekafka.protocol.apis.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from wirekafka.protocol.apis.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic

NO_ID = bytes(16)
UNKNOWN_ID = b"\x05" * 16
LATEST = -1


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as requests name it."""

    name: str
    topic_id: bytes = UNKNOWN_ID

    # Any: the arguments go to message classes that check them.
    def named(self, by_id: bool, name: str = "name") -> dict[str, Any]:
        """The one argument that names it: by id in new versions, by name in old ones."""
        return {"topic_id": self.topic_id} if by_id else {name: self.name}


UNKNOWN = Topic("unknown")
EMPTY = Topic("", NO_ID)
INVALID = Topic("not/valid", b"\x06" * 16)


def create_topic(side: Side, name: str, partition_count: int = 1, **configs: str) -> Topic:
    """Create a topic and wait until each partition has a leader that answers. Raises NotReady."""
    wanted = CreatableTopic(
        name=name,
        num_partitions=partition_count,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()],
    )
    answer = side.arrange(CreateTopicsRequest(topics=[wanted], timeout_ms=30_000), 7)
    if answer.topics[0].error_code:
        raise NotReady(f"{side.name} does not create {name}: {answer}")
    return await_topic(side, name, partition_count)


def await_topic(side: Side, name: str, partition_count: int = 1) -> Topic:
    """Wait until the topic is known and each partition has a leader that answers. Raises NotReady."""
    metadata = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    known = side.arrange_until(metadata, 12, lambda answer: _complete(answer, partition_count))
    partitions = [ListOffsetsPartition(partition_index=p, timestamp=LATEST) for p in range(partition_count)]
    offsets = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=partitions)])
    side.arrange_until(offsets, 5, lambda answer: not any(p.error_code for p in answer.topics[0].partitions))
    topic = Topic(name, known.topics[0].topic_id)
    side.stands.topics[topic.topic_id] = f"topic {name}"
    return topic


# Any: a MetadataResponse.
def _complete(answer: Any, partition_count: int) -> bool:
    (topic,) = answer.topics
    led = [partition for partition in topic.partitions if partition.leader_id >= 0]
    return topic.error_code == 0 and len(led) == partition_count
