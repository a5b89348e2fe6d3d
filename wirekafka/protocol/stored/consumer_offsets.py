"""The records of `__consumer_offsets`: committed offsets and classic groups.

A key is an int16 that names its kind, then the key's fields; a value is an int16 version, then the
value's fields. A record without a value deletes what its key names.

Source: Kafka's coordinator record definitions; KIP-848 keeps these beside its own kinds.
"""

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BYTES, INT32, INT64, NULLABLE_STRING, STRING, UUID, array_of


class LegacyOffsetCommitKey(Message, versions="0"):
    group: str = wire(STRING)
    topic: str = wire(STRING)
    partition: int = wire(INT32)


class LegacyOffsetCommitValue(Message, versions="0"):
    offset: int = wire(INT64)
    metadata: str = wire(STRING)
    commit_timestamp: int = wire(INT64)


class OffsetCommitKey(Message, versions="0"):
    group: str = wire(STRING)
    topic: str = wire(STRING)
    partition: int = wire(INT32)


class OffsetCommitValue(Message, versions="0-4", flexible="4+"):
    offset: int = wire(INT64)
    leader_epoch: int = wire(INT32, "3+", default=-1)
    metadata: str = wire(STRING)
    commit_timestamp: int = wire(INT64)
    expire_timestamp: int = wire(INT64, "1", default=-1)
    topic_id: bytes = wire(UUID, "4+", tag=0, tagged="4+", default=NO_TOPIC_ID)


class GroupMetadataKey(Message, versions="0"):
    group: str = wire(STRING)


class MemberMetadata(Message):
    member_id: str = wire(STRING)
    group_instance_id: str | None = wire(NULLABLE_STRING, "3+", default=None)
    client_id: str = wire(STRING)
    client_host: str = wire(STRING)
    rebalance_timeout: int = wire(INT32, "1+", default=-1)
    session_timeout: int = wire(INT32)
    subscription: bytes = wire(BYTES)
    assignment: bytes = wire(BYTES)


class GroupMetadataValue(Message, versions="0-4", flexible="4+"):
    protocol_type: str = wire(STRING)
    generation: int = wire(INT32)
    protocol: str | None = wire(NULLABLE_STRING)
    leader: str | None = wire(NULLABLE_STRING)
    current_state_timestamp: int = wire(INT64, "2+", default=-1)
    members: list[MemberMetadata] = wire(array_of(MemberMetadata))
