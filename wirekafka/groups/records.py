"""The records of `__consumer_offsets` as values, and their bytes.

`GroupShard` decides and applies the values; `broker.journal` calls `encode` before it appends and
`decode` when it reads the log at start.

Source: Kafka's GroupCoordinatorRecordHelpers (which versions are written), CoordinatorRecordSerde
(an int16 before key and value); KIP-848 (consumer groups), KIP-932 (share groups), KIP-1071 (streams groups).
"""

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from wirekafka.groups.foreign import ForeignGroupType
from wirekafka.machine import KeyValue
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.message import Message
from wirekafka.protocol.stored import consumer_groups as stored
from wirekafka.protocol.stored.consumer_offsets import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)


class RecordKind(IntEnum):
    """The first int16 of a key."""

    LEGACY_OFFSET_COMMIT = 0
    OFFSET_COMMIT = 1
    GROUP_METADATA = 2
    CONSUMER_GROUP_METADATA = 3
    CONSUMER_GROUP_PARTITION_METADATA = 4
    CONSUMER_GROUP_MEMBER_METADATA = 5
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA = 6
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = 7
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = 8
    SHARE_GROUP_METADATA = 11
    CONSUMER_GROUP_REGULAR_EXPRESSION = 16
    STREAMS_GROUP_METADATA = 17


GROUP_METADATA_VALUE_VERSION = 3
CONSUMER_GROUP_VALUE_VERSION = 0
OFFSET_COMMIT_VALUE_VERSION = 4
EXPIRING_OFFSET_COMMIT_VALUE_VERSION = 1
"""The one version with an expire timestamp: OffsetCommit v2-4 may carry a retention time."""


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """How far a group has read one partition; no value deletes it."""

    group_id: str
    topic: str
    partition: int
    value: OffsetCommitValue | None


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """A classic group at the end of a rebalance; no value deletes it."""

    group_id: str
    value: GroupMetadataValue | None


@dataclass(frozen=True, slots=True)
class ConsumerGroupMetadata:
    """A consumer group and its epoch; no value deletes the group."""

    group_id: str
    value: stored.ConsumerGroupMetadataValue | None


@dataclass(frozen=True, slots=True)
class ConsumerGroupPartitionMetadata:
    """What Kafka before 4.1 noted of a group's topics: read, and deleted, but not written."""

    group_id: str
    value: stored.ConsumerGroupPartitionMetadataValue | None


@dataclass(frozen=True, slots=True)
class ConsumerGroupMemberMetadata:
    """A member and what it subscribes to; no value removes the member."""

    group_id: str
    member_id: str
    value: stored.ConsumerGroupMemberMetadataValue | None


@dataclass(frozen=True, slots=True)
class ConsumerGroupTargetAssignmentMetadata:
    """The epoch of the target assignment."""

    group_id: str
    value: stored.ConsumerGroupTargetAssignmentMetadataValue | None


@dataclass(frozen=True, slots=True)
class ConsumerGroupTargetAssignmentMember:
    """What one member shall have."""

    group_id: str
    member_id: str
    value: stored.ConsumerGroupTargetAssignmentMemberValue | None


@dataclass(frozen=True, slots=True)
class ConsumerGroupCurrentMemberAssignment:
    """What one member has, and its epochs."""

    group_id: str
    member_id: str
    value: stored.ConsumerGroupCurrentMemberAssignmentValue | None


@dataclass(frozen=True, slots=True)
class ConsumerGroupRegularExpression:
    """The topics that a subscribed regular expression was found to match."""

    group_id: str
    regular_expression: str
    value: stored.ConsumerGroupRegularExpressionValue | None


ConsumerGroupRecord = (
    ConsumerGroupMetadata
    | ConsumerGroupPartitionMetadata
    | ConsumerGroupMemberMetadata
    | ConsumerGroupTargetAssignmentMetadata
    | ConsumerGroupTargetAssignmentMember
    | ConsumerGroupCurrentMemberAssignment
    | ConsumerGroupRegularExpression
)


@dataclass(frozen=True, slots=True)
class ForeignGroupMetadata:
    """That there is a group of a type that is not served here: read, never written; no value deletes it."""

    group_id: str
    group_type: ForeignGroupType
    value: bytes | None
    """As it stands in the log, with its version."""


GroupRecord = OffsetCommit | GroupMetadata | ConsumerGroupRecord | ForeignGroupMetadata

M = TypeVar("M", bound=Message)


class _Form(NamedTuple):
    """How a record of a consumer group is written; the fields of its key are fields of the record."""

    kind: RecordKind
    record: type[ConsumerGroupRecord]
    key: type[Message]
    value: type[Message]


_FORMS = (
    _Form(
        RecordKind.CONSUMER_GROUP_METADATA,
        ConsumerGroupMetadata,
        stored.ConsumerGroupMetadataKey,
        stored.ConsumerGroupMetadataValue,
    ),
    _Form(
        RecordKind.CONSUMER_GROUP_PARTITION_METADATA,
        ConsumerGroupPartitionMetadata,
        stored.ConsumerGroupPartitionMetadataKey,
        stored.ConsumerGroupPartitionMetadataValue,
    ),
    _Form(
        RecordKind.CONSUMER_GROUP_MEMBER_METADATA,
        ConsumerGroupMemberMetadata,
        stored.ConsumerGroupMemberMetadataKey,
        stored.ConsumerGroupMemberMetadataValue,
    ),
    _Form(
        RecordKind.CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
        ConsumerGroupTargetAssignmentMetadata,
        stored.ConsumerGroupTargetAssignmentMetadataKey,
        stored.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    _Form(
        RecordKind.CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
        ConsumerGroupTargetAssignmentMember,
        stored.ConsumerGroupTargetAssignmentMemberKey,
        stored.ConsumerGroupTargetAssignmentMemberValue,
    ),
    _Form(
        RecordKind.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        ConsumerGroupCurrentMemberAssignment,
        stored.ConsumerGroupCurrentMemberAssignmentKey,
        stored.ConsumerGroupCurrentMemberAssignmentValue,
    ),
    _Form(
        RecordKind.CONSUMER_GROUP_REGULAR_EXPRESSION,
        ConsumerGroupRegularExpression,
        stored.ConsumerGroupRegularExpressionKey,
        stored.ConsumerGroupRegularExpressionValue,
    ),
)
_FORM_OF = {form.record: form for form in _FORMS}
_FORM_OF_KIND: dict[int, _Form] = {form.kind: form for form in _FORMS}
_FOREIGN_KINDS = {
    ForeignGroupType.SHARE: RecordKind.SHARE_GROUP_METADATA,
    ForeignGroupType.STREAMS: RecordKind.STREAMS_GROUP_METADATA,
}
_FOREIGN_TYPE_OF_KIND: dict[int, ForeignGroupType] = {
    kind: group_type for group_type, kind in _FOREIGN_KINDS.items()
}


def encode(record: GroupRecord, now_ms: int) -> KeyValue:
    """Write a record as key and value, stamped `now_ms`."""
    return KeyValue(_encode_key(record), _encode_value(record), now_ms)


def _encode_key(record: GroupRecord) -> bytes:
    if isinstance(record, OffsetCommit):
        key = OffsetCommitKey(group=record.group_id, topic=record.topic, partition=record.partition)
        return _with_number(RecordKind.OFFSET_COMMIT, 0, key)
    if isinstance(record, GroupMetadata):
        return _with_number(RecordKind.GROUP_METADATA, 0, GroupMetadataKey(group=record.group_id))
    if isinstance(record, ForeignGroupMetadata):
        # Its key is a group id alone, as that of a classic group.
        return _with_number(_FOREIGN_KINDS[record.group_type], 0, GroupMetadataKey(group=record.group_id))
    form = _FORM_OF[type(record)]
    named = {field.name: getattr(record, field.name) for field in form.key.wire_fields}
    return _with_number(form.kind, 0, form.key(**named))


def _encode_value(record: GroupRecord) -> bytes | None:
    if isinstance(record, ForeignGroupMetadata):
        return record.value
    if record.value is None:
        return None
    version = CONSUMER_GROUP_VALUE_VERSION
    if isinstance(record.value, GroupMetadataValue):
        version = GROUP_METADATA_VALUE_VERSION
    elif isinstance(record.value, OffsetCommitValue):
        expires = record.value.expire_timestamp != -1
        version = EXPIRING_OFFSET_COMMIT_VALUE_VERSION if expires else OFFSET_COMMIT_VALUE_VERSION
    return _with_number(version, version, record.value)


def _with_number(number: int, version: int, message: Message) -> bytes:
    return struct.pack(">h", number) + codec_for(type(message), version).build(message)


def decode(item: KeyValue) -> GroupRecord | None:
    """Read a record back; None for a kind that this version does not know.

    Raises MalformedMessage for bytes that are not what their kind and version say.
    """
    if item.key is None:
        return None
    kind, key = _number_and_rest(item.key)
    if kind == RecordKind.OFFSET_COMMIT:
        commit = codec_for(OffsetCommitKey, 0).parse(key)
        value = _decode_value(OffsetCommitValue, item.value)
        return OffsetCommit(commit.group, commit.topic, commit.partition, value)
    if kind == RecordKind.GROUP_METADATA:
        group = codec_for(GroupMetadataKey, 0).parse(key).group
        return GroupMetadata(group, _decode_value(GroupMetadataValue, item.value))
    if kind == RecordKind.LEGACY_OFFSET_COMMIT:
        legacy = codec_for(LegacyOffsetCommitKey, 0).parse(key)
        return OffsetCommit(legacy.group, legacy.topic, legacy.partition, _decode_legacy_value(item.value))
    if kind in _FOREIGN_TYPE_OF_KIND:
        group = codec_for(GroupMetadataKey, 0).parse(key).group
        return ForeignGroupMetadata(group, _FOREIGN_TYPE_OF_KIND[kind], item.value)
    form = _FORM_OF_KIND.get(kind)
    return None if form is None else _decode_by(form, key, item.value)


def _decode_by(form: _Form, key: bytes, value: bytes | None) -> ConsumerGroupRecord:
    named = codec_for(form.key, 0).parse(key)
    # Any: the table ties record and value class, which mypy cannot follow.
    fields: dict[str, Any] = {field.name: getattr(named, field.name) for field in form.key.wire_fields}
    fields["value"] = _decode_value(form.value, value)
    return form.record(**fields)


def _decode_legacy_value(value: bytes | None) -> OffsetCommitValue | None:
    legacy = _decode_value(LegacyOffsetCommitValue, value)
    if legacy is None:
        return None
    return OffsetCommitValue(
        offset=legacy.offset, metadata=legacy.metadata, commit_timestamp=legacy.commit_timestamp
    )


def _decode_value(cls: type[M], value: bytes | None) -> M | None:
    if value is None:
        return None
    version, rest = _number_and_rest(value)
    return codec_for(cls, version).parse(rest)


def _number_and_rest(data: bytes) -> tuple[int, bytes]:
    if len(data) < 2:
        raise MalformedMessage(f"a key or value of {len(data)} bytes has no room for its kind or version")
    return int.from_bytes(data[:2], "big", signed=True), data[2:]
