"""Tests of groups/records.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirekafka.groups.records import GroupMetadata, GroupRecord, OffsetCommit, decode, encode
from wirekafka.machine import KeyValue, Records
from wirekafka.protocol.error_codes import MalformedMessage
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


@pytest.mark.parametrize("record", [OffsetCommit("g", "t", 1, None), GroupMetadata("g", None)])
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
    """Kinds of KIP-848 groups and later, and records without a key."""
    assert decode(KeyValue(b"\0\3\0\1g", b"\0\0")) is None
    assert decode(KeyValue(None, b"value")) is None


@pytest.mark.parametrize(
    "item",
    [
        KeyValue(b"\0", None),
        KeyValue(b"\0\2\0\1g", b""),
        KeyValue(b"\0\2\0\1g", b"\0\x63"),
        KeyValue(b"\0\2\0\1g", b"\0\3\0"),
        KeyValue(b"\0\1\0\1g", None),
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
