"""Tests of groups/records.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirekafka.groups.foreign import ForeignGroupType
from wirekafka.groups.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    ForeignGroupMetadata,
    GroupMetadata,
    GroupRecord,
    OffsetCommit,
    decode,
    encode,
)
from wirekafka.machine import KeyValue, Records
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.stored.consumer_groups import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataValue,
    CurrentTopicPartitions,
    PartitionRacks,
    TargetTopicPartitions,
    TopicMetadata,
)
from wirekafka.protocol.stored.consumer_offsets import GroupMetadataValue, MemberMetadata, OffsetCommitValue

TOPIC_ID = bytes(range(16))


def offset(**fields: object) -> OffsetCommitValue:
    given = {"offset": 5, "metadata": "m", "commit_timestamp": 9, **fields}
    return OffsetCommitValue(**given)  # type: ignore[arg-type]


def test_module_is_the_codec_of_the_machine() -> None:
    """`broker.journal` takes this module as its `Records`."""
    from wirekafka.groups import records

    codec: Records[GroupRecord] = records

    assert codec.decode(codec.encode(OffsetCommit("g", "t", 0, None), 1)) == OffsetCommit("g", "t", 0, None)


def test_offset_commit_has_kafkas_bytes() -> None:
    """Key kind 1; value version 4, whose topic id is a tagged field."""
    item = encode(OffsetCommit("g", "top", 7, offset(leader_epoch=3, topic_id=TOPIC_ID)), 1234)

    assert item.timestamp_ms == 1234
    assert item.key == b"\0\1" + b"\0\1g" + b"\0\3top" + b"\0\0\0\7"
    assert item.value == (
        b"\0\4" + bytes(7) + b"\5" + b"\0\0\0\3" + b"\2m" + bytes(7) + b"\x09" + b"\1\0\x10" + TOPIC_ID
    )


def test_offset_with_a_retention_time_is_version_1() -> None:
    """The only version that has an expire timestamp, and no leader epoch."""
    item = encode(OffsetCommit("g", "t", 0, offset(expire_timestamp=77)), 1)

    assert item.value == b"\0\1" + bytes(7) + b"\5" + b"\0\1m" + bytes(7) + b"\x09" + bytes(7) + b"\x4d"
    assert decode(item) == OffsetCommit("g", "t", 0, offset(expire_timestamp=77))


def test_group_metadata_is_kind_2_version_3() -> None:
    """Kafka 4.4 writes version 3, with instance ids and the time of the state."""
    value = GroupMetadataValue(
        protocol_type="consumer",
        generation=2,
        protocol="range",
        leader="a",
        current_state_timestamp=8,
        members=[],
    )
    item = encode(GroupMetadata("g", value), 1)

    assert item.key == b"\0\2\0\1g"
    assert item.value == (
        b"\0\3" + b"\0\x08consumer" + b"\0\0\0\2" + b"\0\5range" + b"\0\1a" + bytes(7) + b"\x08" + bytes(4)
    )


KAFKAS_TOPIC_ID = bytes(7) + b"\1" + bytes(7) + b"\2"
"""`new Uuid(1, 2)`, with which Kafka 4.4's own classes wrote the bytes below."""


def member(**fields: object) -> ConsumerGroupMemberMetadataValue:
    given = {
        "instance_id": "",
        "rack_id": "",
        "client_id": "c",
        "client_host": "h",
        "subscribed_topic_names": ["t"],
        "subscribed_topic_regex": "",
        "rebalance_timeout_ms": 5,
        "server_assignor": "",
        **fields,
    }
    return ConsumerGroupMemberMetadataValue(**given)  # type: ignore[arg-type]


def current(**fields: object) -> ConsumerGroupCurrentMemberAssignmentValue:
    owned = CurrentTopicPartitions(topic_id=KAFKAS_TOPIC_ID, partitions=[3, 4], **fields)  # type: ignore[arg-type]
    return ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=2,
        previous_member_epoch=1,
        state=1,
        assigned_partitions=[owned],
        partitions_pending_revocation=[],
    )


MEMBER_FIELDS = "0000" + "01010263026802027401" + "00000005" + "01"
CURRENT_FIELDS = "0000" + "00000002" + "00000001" + "01" + "02" + KAFKAS_TOPIC_ID.hex() + "030000000300000004"
TARGET = TargetTopicPartitions(topic_id=KAFKAS_TOPIC_ID, partitions=[3])
RACKED = TopicMetadata(
    topic_id=KAFKAS_TOPIC_ID,
    topic_name="t",
    num_partitions=1,
    partition_metadata=[PartitionRacks(partition=0, racks=["r"])],
)
CLASSIC = ClassicMemberMetadata(
    session_timeout_ms=7, supported_protocols=[ClassicProtocol(name="range", metadata=b"\1")]
)


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (
            ConsumerGroupMetadata("g", ConsumerGroupMetadataValue(epoch=1)),
            "0003000167",
            "0000" + "00000001" + "00",
        ),
        (
            ConsumerGroupMetadata("g", ConsumerGroupMetadataValue(epoch=1, metadata_hash=-9)),
            "0003000167",
            "0000" + "00000001" + "010008fffffffffffffff7",
        ),
        (
            ConsumerGroupPartitionMetadata("g", ConsumerGroupPartitionMetadataValue(topics=[RACKED])),
            "0004000167",
            "0000" + "02" + KAFKAS_TOPIC_ID.hex() + "0274" + "00000001" + "02" + "00000000" + "020272000000",
        ),
        (
            ConsumerGroupMemberMetadata("g", "m", member(classic_member_metadata=None)),
            "0005000167" + "00016d",
            MEMBER_FIELDS + "01000100",
        ),
        (
            ConsumerGroupMemberMetadata("g", "m", member()),
            "0005000167" + "00016d",
            MEMBER_FIELDS + "00",
        ),
        (
            ConsumerGroupMemberMetadata("g", "m", member(classic_member_metadata=CLASSIC)),
            "0005000167" + "00016d",
            MEMBER_FIELDS + "010010" + "01" + "00000007" + "02" + "0672616e6765" + "0201" + "0000",
        ),
        (
            ForeignGroupMetadata("g", ForeignGroupType.SHARE, bytes(15)),
            "000b000167",
            "00" * 15,
        ),
        (
            ForeignGroupMetadata("g", ForeignGroupType.STREAMS, bytes(15)),
            "0011000167",
            "00" * 15,
        ),
        (
            ConsumerGroupTargetAssignmentMetadata(
                "g", ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=1)
            ),
            "0006000167",
            "0000" + "00000001" + "00",
        ),
        (
            ConsumerGroupTargetAssignmentMetadata(
                "g", ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=1, assignment_timestamp=9)
            ),
            "0006000167",
            "0000" + "00000001" + "0100080000000000000009",
        ),
        (
            ConsumerGroupTargetAssignmentMember(
                "g", "m", ConsumerGroupTargetAssignmentMemberValue(topic_partitions=[TARGET])
            ),
            "0007000167" + "00016d",
            "0000" + "02" + KAFKAS_TOPIC_ID.hex() + "0200000003" + "0000",
        ),
        (
            ConsumerGroupCurrentMemberAssignment("g", "m", current(assignment_epochs=[5, 6])),
            "0008000167" + "00016d",
            CURRENT_FIELDS + "010009" + "030000000500000006" + "01" + "00",
        ),
        (
            ConsumerGroupCurrentMemberAssignment("g", "m", current(assignment_epochs=None)),
            "0008000167" + "00016d",
            CURRENT_FIELDS + "01000100" + "01" + "00",
        ),
        (
            ConsumerGroupCurrentMemberAssignment("g", "m", current()),
            "0008000167" + "00016d",
            CURRENT_FIELDS + "00" + "01" + "00",
        ),
        (
            ConsumerGroupRegularExpression(
                "g", "t.", ConsumerGroupRegularExpressionValue(topics=["t"], version=3, timestamp=4)
            ),
            "0010000167" + "0002742e",
            "0000" + "020274" + "0000000000000003" + "0000000000000004" + "00",
        ),
    ],
)
def test_consumer_groups_have_kafkas_bytes(record: GroupRecord, key: str, value: str) -> None:
    """As Kafka 4.4's generated classes write them, with its schemas' defaults left out of tagged fields."""
    item = encode(record, 1)

    assert item.key is not None
    assert item.value is not None
    assert (item.key.hex(), item.value.hex()) == (key, value)
    assert decode(item) == record


@pytest.mark.parametrize(
    "record",
    [
        OffsetCommit("g", "t", 1, None),
        GroupMetadata("g", None),
        ConsumerGroupMetadata("g", None),
        ConsumerGroupPartitionMetadata("g", None),
        ConsumerGroupMemberMetadata("g", "m", None),
        ConsumerGroupTargetAssignmentMetadata("g", None),
        ConsumerGroupTargetAssignmentMember("g", "m", None),
        ConsumerGroupCurrentMemberAssignment("g", "m", None),
        ConsumerGroupRegularExpression("g", "t.", None),
    ],
)
def test_tombstone_has_a_key_and_no_value(record: GroupRecord) -> None:
    """A null value deletes what the key names."""
    item = encode(record, 5)

    assert item.value is None
    assert decode(item) == record


def test_legacy_offset_commit_is_read() -> None:
    """Kind 0, written by some Kafka versions by mistake, says what kind 1 says."""
    key = b"\0\0" + b"\0\1g" + b"\0\1t" + b"\0\0\0\2"
    value = b"\0\0" + bytes(7) + b"\5" + b"\0\1m" + bytes(7) + b"\x09"

    assert decode(KeyValue(key, value)) == OffsetCommit("g", "t", 2, offset())
    assert decode(KeyValue(key, None)) == OffsetCommit("g", "t", 2, None)


def test_unknown_kinds_are_passed_over() -> None:
    """What share and streams groups have beside their metadata, and records without a key."""
    assert decode(KeyValue(b"\0\x0a\0\1g\0\1m", b"\0\0")) is None
    assert decode(KeyValue(None, b"value")) is None


@pytest.mark.parametrize(
    "item",
    [
        KeyValue(b"\0", None),
        KeyValue(b"\0\2\0\1g", b""),
        KeyValue(b"\0\2\0\1g", b"\0\x63"),
        KeyValue(b"\0\2\0\1g", b"\0\3\0"),
        KeyValue(b"\0\1\0\1g", None),
        KeyValue(b"\0\5\0\1g", None),
        KeyValue(b"\0\3\0\1g", b"\0\0\0"),
        KeyValue(b"\0\3\0\1g", b"\0\1\0\0\0\1\0"),
    ],
)
def test_bytes_that_are_not_what_they_say_are_malformed(item: KeyValue) -> None:
    """A key cut short, a value cut short, a version that is not known."""
    with pytest.raises(MalformedMessage):
        decode(item)


TEXT = st.text(max_size=5)
MEMBERS = st.lists(
    st.builds(
        MemberMetadata,
        member_id=TEXT,
        group_instance_id=st.none() | TEXT,
        client_id=TEXT,
        client_host=TEXT,
        rebalance_timeout=st.integers(0, 2**31 - 1),
        session_timeout=st.integers(0, 2**31 - 1),
        subscription=st.binary(max_size=5),
        assignment=st.binary(max_size=5),
    ),
    max_size=3,
)
GROUPS = st.builds(
    GroupMetadataValue,
    protocol_type=TEXT,
    generation=st.integers(0, 2**31 - 1),
    protocol=st.none() | TEXT,
    leader=st.none() | TEXT,
    current_state_timestamp=st.integers(-1, 2**62),
    members=MEMBERS,
)


@given(st.builds(GroupMetadata, TEXT, st.none() | GROUPS), st.integers(0, 2**62))
def test_groups_come_back_as_written(record: GroupMetadata, now_ms: int) -> None:
    """decode(encode(x)) is x, so apply at run time and at recovery see the same."""
    assert decode(encode(record, now_ms)) == record
