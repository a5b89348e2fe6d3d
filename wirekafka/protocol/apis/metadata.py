"""Key 3, Metadata: which brokers there are, and who leads which partition.

v0: the first.
v1: topics may be null; answer adds brokers.rack, adds controller_id, adds topics.is_internal.
v2: answer adds cluster_id.
v3: answer adds throttle_time_ms.
v4: adds allow_auto_topic_creation.
v5: answer adds topics.partitions.offline_replicas.
v6: the same form.
v7: answer adds topics.partitions.leader_epoch.
v8: adds include_cluster_authorized_operations; adds include_topic_authorized_operations; answer adds
    topics.topic_authorized_operations, adds cluster_authorized_operations.
v9: flexible.
v10: adds topics.topic_id; topics.name may be null; answer adds topics.topic_id.
v11: drops include_cluster_authorized_operations; answer drops cluster_authorized_operations.
v12: answer topics.name may be null.
v13: answer adds error_code.

Source: KIP-204, KIP-430 (authorized operations), KIP-516 (topic ids).
"""

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    BOOLEAN,
    INT16,
    INT32,
    NULLABLE_STRING,
    STRING,
    UUID,
    array_of,
    nullable_array_of,
)


class MetadataRequestTopic(Message):
    topic_id: bytes = wire(UUID, "10+", default=NO_TOPIC_ID)
    name: str | None = wire(NULLABLE_STRING, nullable="10+")


class MetadataRequest(Message, versions="0-13", flexible="9+"):
    topics: list[MetadataRequestTopic] | None = wire(nullable_array_of(MetadataRequestTopic), nullable="1+")
    allow_auto_topic_creation: bool = wire(BOOLEAN, "4+", default=True)
    include_cluster_authorized_operations: bool = wire(BOOLEAN, "8-10", default=False)
    include_topic_authorized_operations: bool = wire(BOOLEAN, "8+", default=False)


class MetadataResponseBroker(Message):
    node_id: int = wire(INT32)
    host: str = wire(STRING)
    port: int = wire(INT32)
    rack: str | None = wire(NULLABLE_STRING, "1+", default=None)


class MetadataResponsePartition(Message):
    error_code: int = wire(INT16)
    partition_index: int = wire(INT32)
    leader_id: int = wire(INT32)
    leader_epoch: int = wire(INT32, "7+", default=-1)
    replica_nodes: list[int] = wire(array_of(INT32))
    isr_nodes: list[int] = wire(array_of(INT32))
    offline_replicas: list[int] = wire(array_of(INT32), "5+", factory=list)


class MetadataResponseTopic(Message):
    error_code: int = wire(INT16)
    name: str | None = wire(NULLABLE_STRING, nullable="12+")
    topic_id: bytes = wire(UUID, "10+", default=NO_TOPIC_ID)
    is_internal: bool = wire(BOOLEAN, "1+", default=False)
    partitions: list[MetadataResponsePartition] = wire(array_of(MetadataResponsePartition))
    topic_authorized_operations: int = wire(INT32, "8+", default=-(2**31))


class MetadataResponse(Message, versions="0-13", flexible="9+"):
    throttle_time_ms: int = wire(INT32, "3+", default=0)
    brokers: list[MetadataResponseBroker] = wire(array_of(MetadataResponseBroker))
    cluster_id: str | None = wire(NULLABLE_STRING, "2+", default=None)
    controller_id: int = wire(INT32, "1+", default=-1)
    topics: list[MetadataResponseTopic] = wire(array_of(MetadataResponseTopic))
    cluster_authorized_operations: int = wire(INT32, "8-10", default=-(2**31))
    error_code: int = wire(INT16, "13+", default=0)


METADATA = Api(3, MetadataRequest, MetadataResponse)
