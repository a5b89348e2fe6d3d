"""Key 68, ConsumerGroupHeartbeat: a member joins, stays in, changes and leaves a consumer group.

v0: the first.
v1: adds subscribed_topic_regex; the member makes its member id itself.

Null, and -1 for the rebalance timeout, says that nothing changed since the member's last heartbeat.

Source: KIP-848; KIP-1082 (member ids made by the client).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    INT16,
    INT32,
    NULLABLE_STRING,
    STRING,
    UUID,
    array_of,
    nullable_array_of,
    nullable_struct_of,
)


class HeartbeatTopicPartitions(Message):
    topic_id: bytes = wire(UUID)
    partitions: list[int] = wire(array_of(INT32))


class ConsumerGroupHeartbeatRequest(Message, versions="0-1", flexible="0+"):
    group_id: str = wire(STRING)
    member_id: str = wire(STRING)
    member_epoch: int = wire(INT32)
    instance_id: str | None = wire(NULLABLE_STRING, default=None)
    rack_id: str | None = wire(NULLABLE_STRING, default=None)
    rebalance_timeout_ms: int = wire(INT32, default=-1)
    subscribed_topic_names: list[str] | None = wire(nullable_array_of(STRING), default=None)
    subscribed_topic_regex: str | None = wire(NULLABLE_STRING, "1+", default=None)
    server_assignor: str | None = wire(NULLABLE_STRING, default=None)
    topic_partitions: list[HeartbeatTopicPartitions] | None = wire(
        nullable_array_of(HeartbeatTopicPartitions), default=None
    )


class HeartbeatAssignment(Message):
    topic_partitions: list[HeartbeatTopicPartitions] = wire(array_of(HeartbeatTopicPartitions))


class ConsumerGroupHeartbeatResponse(Message, versions="0-1", flexible="0+"):
    throttle_time_ms: int = wire(INT32, default=0)
    error_code: int = wire(INT16, default=0)
    error_message: str | None = wire(NULLABLE_STRING, default=None)
    member_id: str | None = wire(NULLABLE_STRING, default=None)
    member_epoch: int = wire(INT32, default=0)
    heartbeat_interval_ms: int = wire(INT32, default=0)
    assignment: HeartbeatAssignment | None = wire(nullable_struct_of(HeartbeatAssignment), default=None)


CONSUMER_GROUP_HEARTBEAT = Api(68, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse)
