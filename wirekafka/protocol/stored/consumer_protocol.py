"""What members of a classic consumer group tell each other through the coordinator.

The bytes behind an int16 version in a JoinGroup protocol (subscription) and a SyncGroup assignment.
The broker passes them on unread; DescribeGroups readers and the tests read them.

Source: KIP-429 (owned partitions), KIP-792 (generation), KIP-881 (rack).
"""

from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT32, NULLABLE_BYTES, NULLABLE_STRING, STRING, array_of


class OwnedPartitions(Message):
    topic: str = wire(STRING)
    partitions: list[int] = wire(array_of(INT32))


class ConsumerProtocolSubscription(Message, versions="0-3"):
    topics: list[str] = wire(array_of(STRING))
    user_data: bytes | None = wire(NULLABLE_BYTES, default=None)
    owned_partitions: list[OwnedPartitions] = wire(array_of(OwnedPartitions), "1+", factory=list)
    generation_id: int = wire(INT32, "2+", default=-1)
    rack_id: str | None = wire(NULLABLE_STRING, "3+", default=None)


class AssignedPartitions(Message):
    topic: str = wire(STRING)
    partitions: list[int] = wire(array_of(INT32))


class ConsumerProtocolAssignment(Message, versions="0-3"):
    assigned_partitions: list[AssignedPartitions] = wire(array_of(AssignedPartitions))
    user_data: bytes | None = wire(NULLABLE_BYTES, default=None)
