"""Tests of groups/consumer/stored.py."""

from wirekafka.groups import GroupRecord, records
from wirekafka.groups.client import Client
from wirekafka.groups.consumer import stored
from wirekafka.groups.consumer.group import ConsumerGroup, ResolvedRegularExpression
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupTargetAssignmentMember,
)
from wirekafka.protocol.stored.consumer_groups import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupPartitionMetadataValue,
)

A = b"a" * 16
FOUND = ResolvedRegularExpression(frozenset({"t", "u"}), 3, 4)
MEMBER = ConsumerMember(
    "m",
    instance_id="i",
    rack_id="r",
    rebalance_timeout_ms=7,
    client=Client("c", "/h"),
    subscribed_topic_names=frozenset({"t", "s"}),
    subscribed_topic_regex="t.*",
    server_assignor_name="range",
    classic=ClassicMemberMetadata(
        session_timeout_ms=9, supported_protocols=[ClassicProtocol(name="range", metadata=b"x")]
    ),
    state=MemberState.UNREVOKED_PARTITIONS,
    member_epoch=5,
    previous_member_epoch=4,
    assigned={A: {1: 5, 0: 4}},
    partitions_pending_revocation={A: {2: 3}},
)


def apply(groups: dict[str, ConsumerGroup], *applied: ConsumerGroupRecord) -> None:
    """Apply records as they come back from their bytes."""
    for record in applied:
        read: GroupRecord | None = records.decode(records.encode(record, 1))
        assert isinstance(read, ConsumerGroupRecord)
        stored.apply(groups, read)


def whole() -> dict[str, ConsumerGroup]:
    groups: dict[str, ConsumerGroup] = {}
    apply(
        groups,
        stored.member_record("g", MEMBER),
        stored.epoch_record("g", 6, -77),
        stored.target_record("g", "m", {A: frozenset({1, 0})}),
        stored.target_epoch_record("g", 5, 123),
        stored.current_record("g", MEMBER),
        stored.regex_record("g", "t.*", FOUND),
    )
    return groups


def test_records_bring_back_all_that_was_put_into_them() -> None:
    """Through their bytes."""
    group = whole()["g"]

    assert group.members == {"m": MEMBER}
    assert (group.group_epoch, group.metadata_hash) == (6, -77)
    assert group.targets == {"m": {A: frozenset({0, 1})}}
    assert (group.assignment_epoch, group.assignment_timestamp) == (5, 123)
    assert group.resolved_regexes == {"t.*": FOUND}
    assert group.static_members == {"i": "m"}
    assert group.partition_epochs == {A: {0: 5, 1: 5, 2: 5}}


def test_tombstones_delete_the_group() -> None:
    """And nothing of it is left."""
    groups = whole()
    apply(groups, *stored.tombstones(groups["g"]))

    assert groups == {}


def test_member_is_gone_with_its_tombstones() -> None:
    """Its current assignment goes first, which sets its partitions free."""
    groups = whole()
    current, target, member = stored.member_tombstones("g", "m")
    apply(groups, current)
    assert groups["g"].members["m"].member_epoch == -1
    assert groups["g"].partition_epochs == {}
    apply(groups, target, member, stored.regex_tombstone("g", "t.*"))

    assert groups["g"].members == {}
    assert groups["g"].targets == {}
    assert groups["g"].resolved_regexes == {}


def test_target_without_epoch_is_of_no_epoch() -> None:
    """Between the tombstones of a group."""
    groups = whole()
    apply(groups, records.ConsumerGroupTargetAssignmentMetadata("g", None))

    assert groups["g"].assignment_epoch == stored.NO_ASSIGNMENT_EPOCH


def test_tombstones_for_what_is_not_there_do_nothing() -> None:
    """Compaction may have taken what they delete."""
    groups: dict[str, ConsumerGroup] = {}
    apply(groups, ConsumerGroupMetadata("g", None), *stored.member_tombstones("g", "m"))
    assert groups == {}

    apply(groups, stored.epoch_record("g", 2, 0), *stored.member_tombstones("g", "m"))
    apply(groups, stored.regex_tombstone("g", "x"))
    assert groups["g"].members == {}


def test_member_may_be_known_by_its_assignment_first() -> None:
    """In a compacted log what it said of itself may come later."""
    groups: dict[str, ConsumerGroup] = {}
    apply(groups, stored.current_record("g", MEMBER), stored.member_record("g", MEMBER))

    assert groups["g"].members == {"m": MEMBER}


def test_partition_metadata_of_an_older_kafka_is_noted_to_be_deleted() -> None:
    """KIP-1101 put the hash in its place."""
    groups: dict[str, ConsumerGroup] = {}
    value = ConsumerGroupPartitionMetadataValue(topics=[])
    apply(groups, ConsumerGroupPartitionMetadata("g", value))
    assert groups["g"].has_partition_metadata
    apply(groups, stored.partition_metadata_tombstone("g"))

    assert not groups["g"].has_partition_metadata


def test_records_are_written_in_order() -> None:
    """So the same decision gives the same bytes."""
    member = stored.member_record("g", MEMBER)
    target = stored.target_record("g", "m", {b"b" * 16: frozenset({3, 1, 2}), A: frozenset({1})})
    current = stored.current_record("g", MEMBER)
    assert isinstance(member, ConsumerGroupMemberMetadata)
    assert isinstance(target, ConsumerGroupTargetAssignmentMember)
    assert isinstance(current, ConsumerGroupCurrentMemberAssignment)
    assert member.value is not None
    assert target.value is not None
    assert current.value is not None

    assert member.value.subscribed_topic_names == ["s", "t"]
    assert [topic.partitions for topic in target.value.topic_partitions] == [[1], [1, 2, 3]]
    assert current.value.assigned_partitions[0].assignment_epochs == [4, 5]
