"""Key 1, Fetch: read batches from some partitions, waiting for them if asked to.

v4: the first that Kafka 4.4 serves.
v5: adds topics.partitions.log_start_offset; answer adds responses.partitions.log_start_offset.
v6: the same form.
v7: adds session_id; adds session_epoch; adds forgotten_topics_data; answer adds error_code, adds
    session_id.
v8: the same form.
v9: adds topics.partitions.current_leader_epoch.
v10: the same form.
v11: adds rack_id; answer adds responses.partitions.preferred_read_replica.
v12: flexible; adds cluster_id; adds topics.partitions.last_fetched_epoch; answer adds
    responses.partitions.diverging_epoch, adds responses.partitions.current_leader, adds
    responses.partitions.snapshot_id.
v13: drops topics.topic; adds topics.topic_id; drops forgotten_topics_data.topic; adds
    forgotten_topics_data.topic_id; answer drops responses.topic, adds responses.topic_id.
v14: the same form.
v15: drops replica_id; adds replica_state.
v16: answer adds node_endpoints.
v17: adds topics.partitions.replica_directory_id.
v18: adds topics.partitions.high_watermark.

Source: KIP-227 (sessions), KIP-320 (epochs), KIP-392 (racks), KIP-516 (topic ids), KIP-951 (leader hints).
"""

from collections.abc import Sized

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    INT8,
    INT16,
    INT32,
    INT64,
    NULLABLE_STRING,
    STORED_RECORDS,
    STRING,
    UUID,
    array_of,
    nullable_array_of,
    struct_of,
)


class ReplicaState(Message):
    replica_id: int = wire(INT32, default=-1)
    replica_epoch: int = wire(INT64, default=-1)


class FetchPartition(Message):
    partition: int = wire(INT32)
    current_leader_epoch: int = wire(INT32, "9+", default=-1)
    fetch_offset: int = wire(INT64)
    last_fetched_epoch: int = wire(INT32, "12+", default=-1)
    log_start_offset: int = wire(INT64, "5+", default=-1)
    partition_max_bytes: int = wire(INT32)
    replica_directory_id: bytes = wire(UUID, "17+", tag=0, tagged="17+", default=NO_TOPIC_ID)
    high_watermark: int = wire(INT64, "18+", tag=1, tagged="18+", default=2**63 - 1)


class FetchTopic(Message):
    topic: str = wire(STRING, "0-12", default="")
    topic_id: bytes = wire(UUID, "13+", default=NO_TOPIC_ID)
    partitions: list[FetchPartition] = wire(array_of(FetchPartition))


class ForgottenTopic(Message):
    topic: str = wire(STRING, "7-12", default="")
    topic_id: bytes = wire(UUID, "13+", default=NO_TOPIC_ID)
    partitions: list[int] = wire(array_of(INT32))


class FetchRequest(Message, versions="4-18", flexible="12+"):
    cluster_id: str | None = wire(NULLABLE_STRING, "12+", tag=0, tagged="12+", default=None)
    replica_id: int = wire(INT32, "0-14", default=-1)
    replica_state: ReplicaState = wire(
        struct_of(ReplicaState), "15+", tag=1, tagged="15+", factory=ReplicaState
    )
    max_wait_ms: int = wire(INT32)
    min_bytes: int = wire(INT32)
    max_bytes: int = wire(INT32, default=2147483647)
    isolation_level: int = wire(INT8, default=0)
    session_id: int = wire(INT32, "7+", default=0)
    session_epoch: int = wire(INT32, "7+", default=-1)
    topics: list[FetchTopic] = wire(array_of(FetchTopic))
    forgotten_topics_data: list[ForgottenTopic] = wire(array_of(ForgottenTopic), "7+", factory=list)
    rack_id: str = wire(STRING, "11+", default="")


class EpochEndOffset(Message):
    epoch: int = wire(INT32, default=-1)
    end_offset: int = wire(INT64, default=-1)


class LeaderIdAndEpoch(Message):
    leader_id: int = wire(INT32, default=-1)
    leader_epoch: int = wire(INT32, default=-1)


class SnapshotId(Message):
    end_offset: int = wire(INT64, default=-1)
    epoch: int = wire(INT32, default=-1)


class AbortedTransaction(Message):
    producer_id: int = wire(INT64)
    first_offset: int = wire(INT64)


class PartitionData(Message):
    partition_index: int = wire(INT32)
    error_code: int = wire(INT16)
    high_watermark: int = wire(INT64)
    last_stable_offset: int = wire(INT64, default=-1)
    log_start_offset: int = wire(INT64, "5+", default=-1)
    diverging_epoch: EpochEndOffset = wire(
        struct_of(EpochEndOffset), "12+", tag=0, tagged="12+", factory=EpochEndOffset
    )
    current_leader: LeaderIdAndEpoch = wire(
        struct_of(LeaderIdAndEpoch), "12+", tag=1, tagged="12+", factory=LeaderIdAndEpoch
    )
    snapshot_id: SnapshotId = wire(struct_of(SnapshotId), "12+", tag=2, tagged="12+", factory=SnapshotId)
    aborted_transactions: list[AbortedTransaction] | None = wire(nullable_array_of(AbortedTransaction))
    preferred_read_replica: int = wire(INT32, "11+", default=-1)
    records: Sized | None = wire(STORED_RECORDS)


class FetchableTopicResponse(Message):
    topic: str = wire(STRING, "0-12", default="")
    topic_id: bytes = wire(UUID, "13+", default=NO_TOPIC_ID)
    partitions: list[PartitionData] = wire(array_of(PartitionData))


class NodeEndpoint(Message):
    node_id: int = wire(INT32)
    host: str = wire(STRING)
    port: int = wire(INT32)
    rack: str | None = wire(NULLABLE_STRING, default=None)


class FetchResponse(Message, versions="4-18", flexible="12+"):
    throttle_time_ms: int = wire(INT32)
    error_code: int = wire(INT16, "7+", default=0)
    session_id: int = wire(INT32, "7+", default=0)
    responses: list[FetchableTopicResponse] = wire(array_of(FetchableTopicResponse))
    node_endpoints: list[NodeEndpoint] = wire(
        array_of(NodeEndpoint), "16+", tag=0, tagged="16+", factory=list
    )


FETCH = Api(1, FetchRequest, FetchResponse)
