"""Key 37, CreatePartitions: add partitions to topics.

v0: the first.
v1: the same form.
v2: flexible.
v3: the same form.

Source: KIP-195, KIP-599.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    BOOLEAN,
    INT16,
    INT32,
    NULLABLE_STRING,
    STRING,
    array_of,
    nullable_array_of,
)


class CreatePartitionsAssignment(Message):
    broker_ids: list[int] = wire(array_of(INT32))


class CreatePartitionsTopic(Message):
    name: str = wire(STRING)
    count: int = wire(INT32)
    assignments: list[CreatePartitionsAssignment] | None = wire(nullable_array_of(CreatePartitionsAssignment))


class CreatePartitionsRequest(Message, versions="0-3", flexible="2+"):
    topics: list[CreatePartitionsTopic] = wire(array_of(CreatePartitionsTopic))
    timeout_ms: int = wire(INT32)
    validate_only: bool = wire(BOOLEAN)


class CreatePartitionsTopicResult(Message):
    name: str = wire(STRING)
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING, default=None)


class CreatePartitionsResponse(Message, versions="0-3", flexible="2+"):
    throttle_time_ms: int = wire(INT32)
    results: list[CreatePartitionsTopicResult] = wire(array_of(CreatePartitionsTopicResult))


CREATE_PARTITIONS = Api(37, CreatePartitionsRequest, CreatePartitionsResponse)
