"""Key 0, Produce: append a batch to each of some partitions.

v3: the first that Kafka 4.4 serves.
v4: the same form.
v5: answer adds responses.partition_responses.log_start_offset.
v6: the same form.
v7: the same form.
v8: answer adds responses.partition_responses.record_errors, adds
    responses.partition_responses.error_message.
v9: flexible.
v10: answer adds responses.partition_responses.current_leader, adds node_endpoints.
v11: the same form.
v12: the same form.
v13: drops topic_data.name; adds topic_data.topic_id; answer drops responses.name, adds
    responses.topic_id.

Source: KIP-98 (v2 batches), KIP-467 (record errors), KIP-516 (topic ids), KIP-951 (leader hints).
"""

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    INT16,
    INT32,
    INT64,
    NULLABLE_STRING,
    RECORDS,
    STRING,
    UUID,
    array_of,
    struct_of,
)


class PartitionProduceData(Message):
    index: int = wire(INT32)
    records: memoryview | None = wire(RECORDS)


class TopicProduceData(Message):
    name: str = wire(STRING, "0-12", default="")
    topic_id: bytes = wire(UUID, "13+", default=NO_TOPIC_ID)
    partition_data: list[PartitionProduceData] = wire(array_of(PartitionProduceData))


class ProduceRequest(Message, versions="3-13", flexible="9+"):
    transactional_id: str | None = wire(NULLABLE_STRING, default=None)
    acks: int = wire(INT16)
    timeout_ms: int = wire(INT32)
    topic_data: list[TopicProduceData] = wire(array_of(TopicProduceData))


class BatchIndexAndErrorMessage(Message):
    batch_index: int = wire(INT32)
    batch_index_error_message: str | None = wire(NULLABLE_STRING, default=None)


class LeaderIdAndEpoch(Message):
    leader_id: int = wire(INT32, default=-1)
    leader_epoch: int = wire(INT32, default=-1)


class PartitionProduceResponse(Message):
    index: int = wire(INT32)
    error_code: int = wire(INT16)
    base_offset: int = wire(INT64)
    log_append_time_ms: int = wire(INT64, default=-1)
    log_start_offset: int = wire(INT64, "5+", default=-1)
    record_errors: list[BatchIndexAndErrorMessage] = wire(
        array_of(BatchIndexAndErrorMessage), "8+", factory=list
    )
    error_message: str | None = wire(NULLABLE_STRING, "8+", default=None)
    current_leader: LeaderIdAndEpoch = wire(
        struct_of(LeaderIdAndEpoch), "10+", tag=0, tagged="10+", factory=LeaderIdAndEpoch
    )


class TopicProduceResponse(Message):
    name: str = wire(STRING, "0-12", default="")
    topic_id: bytes = wire(UUID, "13+", default=NO_TOPIC_ID)
    partition_responses: list[PartitionProduceResponse] = wire(array_of(PartitionProduceResponse))


class NodeEndpoint(Message):
    node_id: int = wire(INT32)
    host: str = wire(STRING)
    port: int = wire(INT32)
    rack: str | None = wire(NULLABLE_STRING, default=None)


class ProduceResponse(Message, versions="3-13", flexible="9+"):
    responses: list[TopicProduceResponse] = wire(array_of(TopicProduceResponse))
    throttle_time_ms: int = wire(INT32, default=0)
    node_endpoints: list[NodeEndpoint] = wire(
        array_of(NodeEndpoint), "10+", tag=0, tagged="10+", factory=list
    )


PRODUCE = Api(0, ProduceRequest, ProduceResponse, advertised_from=0)
