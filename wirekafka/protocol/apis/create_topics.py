"""Key 19, CreateTopics: make topics, or say whether they could be made.

v2: the first that Kafka 4.4 serves.
v3: the same form.
v4: the same form.
v5: flexible; answer adds topics.topic_config_error_code, adds topics.num_partitions, adds
    topics.replication_factor, adds topics.configs.
v6: the same form.
v7: answer adds topics.topic_id.

Source: KIP-4, KIP-464 (defaults), KIP-525 (configs in the answer), KIP-516 (topic ids).
"""

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    NULLABLE_STRING,
    STRING,
    UUID,
    array_of,
    nullable_array_of,
)


class CreatableReplicaAssignment(Message):
    partition_index: int = wire(INT32)
    broker_ids: list[int] = wire(array_of(INT32))


class CreatableTopicConfig(Message):
    name: str = wire(STRING)
    value: str | None = wire(NULLABLE_STRING)


class CreatableTopic(Message):
    name: str = wire(STRING)
    num_partitions: int = wire(INT32)
    replication_factor: int = wire(INT16)
    assignments: list[CreatableReplicaAssignment] = wire(array_of(CreatableReplicaAssignment))
    configs: list[CreatableTopicConfig] = wire(array_of(CreatableTopicConfig))


class CreateTopicsRequest(Message, versions="2-7", flexible="5+"):
    topics: list[CreatableTopic] = wire(array_of(CreatableTopic))
    timeout_ms: int = wire(INT32, default=60000)
    validate_only: bool = wire(BOOLEAN, default=False)


class CreatableTopicConfigs(Message):
    name: str = wire(STRING)
    value: str | None = wire(NULLABLE_STRING)
    read_only: bool = wire(BOOLEAN)
    config_source: int = wire(INT8, default=-1)
    is_sensitive: bool = wire(BOOLEAN)


class CreatableTopicResult(Message):
    name: str = wire(STRING)
    topic_id: bytes = wire(UUID, "7+", default=NO_TOPIC_ID)
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING)
    topic_config_error_code: int = wire(INT16, "5+", tag=0, tagged="5+", default=0)
    num_partitions: int = wire(INT32, "5+", default=-1)
    replication_factor: int = wire(INT16, "5+", default=-1)
    configs: list[CreatableTopicConfigs] | None = wire(
        nullable_array_of(CreatableTopicConfigs), "5+", factory=list
    )


class CreateTopicsResponse(Message, versions="2-7", flexible="5+"):
    throttle_time_ms: int = wire(INT32)
    topics: list[CreatableTopicResult] = wire(array_of(CreatableTopicResult))


CREATE_TOPICS = Api(19, CreateTopicsRequest, CreateTopicsResponse)
