"""Key 69, ConsumerGroupDescribe: epochs, members and assignments of consumer groups.

v0: the first.
v1: answer adds groups.members.member_type.

Source: KIP-848; KIP-1099 (member types).
"""

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
    struct_of,
)


class ConsumerGroupDescribeRequest(Message, versions="0-1", flexible="0+"):
    group_ids: list[str] = wire(array_of(STRING))
    include_authorized_operations: bool = wire(BOOLEAN, default=False)


class DescribedTopicPartitions(Message):
    topic_id: bytes = wire(UUID)
    topic_name: str = wire(STRING)
    partitions: list[int] = wire(array_of(INT32))


class DescribedAssignment(Message):
    topic_partitions: list[DescribedTopicPartitions] = wire(array_of(DescribedTopicPartitions), factory=list)


class DescribedConsumerMember(Message):
    member_id: str = wire(STRING)
    instance_id: str | None = wire(NULLABLE_STRING, default=None)
    rack_id: str | None = wire(NULLABLE_STRING, default=None)
    member_epoch: int = wire(INT32)
    client_id: str = wire(STRING)
    client_host: str = wire(STRING)
    subscribed_topic_names: list[str] = wire(array_of(STRING))
    subscribed_topic_regex: str | None = wire(NULLABLE_STRING, default=None)
    assignment: DescribedAssignment = wire(struct_of(DescribedAssignment))
    target_assignment: DescribedAssignment = wire(struct_of(DescribedAssignment))
    member_type: int = wire(INT8, "1+", default=-1)


class DescribedConsumerGroup(Message):
    error_code: int = wire(INT16, default=0)
    error_message: str | None = wire(NULLABLE_STRING, default=None)
    group_id: str = wire(STRING)
    group_state: str = wire(STRING, default="")
    group_epoch: int = wire(INT32, default=0)
    assignment_epoch: int = wire(INT32, default=0)
    assignor_name: str = wire(STRING, default="")
    members: list[DescribedConsumerMember] = wire(array_of(DescribedConsumerMember), factory=list)
    authorized_operations: int = wire(INT32, default=-(2**31))


class ConsumerGroupDescribeResponse(Message, versions="0-1", flexible="0+"):
    throttle_time_ms: int = wire(INT32, default=0)
    groups: list[DescribedConsumerGroup] = wire(array_of(DescribedConsumerGroup))


CONSUMER_GROUP_DESCRIBE = Api(69, ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse)
