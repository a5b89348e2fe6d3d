"""Tests of groups/consumer/member.py."""

from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata

A = b"a" * 16


def test_state_of_a_later_version_is_unknown() -> None:
    """Kafka's MemberState.fromValue."""
    assert MemberState.of_number(2) is MemberState.UNRELEASED_PARTITIONS
    assert MemberState.of_number(3) is MemberState.UNKNOWN


def test_member_moves_on_and_keeps_the_epoch_that_it_had() -> None:
    """The answer with the new epoch may be lost."""
    member = ConsumerMember("m", member_epoch=3, previous_member_epoch=1)
    moved = member.moved_to(MemberState.STABLE, 5, assigned={A: {0: 5}}, pending_revocation={})

    assert (moved.member_epoch, moved.previous_member_epoch) == (5, 3)
    assert moved.is_reconciled_to(5)
    assert not moved.is_reconciled_to(4)


def test_member_that_is_on_its_way_is_not_reconciled() -> None:
    """Whatever its epoch is."""
    waiting = ConsumerMember("m", state=MemberState.UNRELEASED_PARTITIONS, member_epoch=3)

    assert not waiting.is_reconciled_to(3)


def test_partition_is_known_by_when_it_was_given() -> None:
    """Also while it has yet to be given up."""
    member = ConsumerMember("m", assigned={A: {0: 3}}, partitions_pending_revocation={A: {1: 2}})

    assert [member.assigned_at(A, index) for index in (0, 1, 2)] == [3, 2, None]


def test_kinds_of_members_are_told_by_what_is_stored() -> None:
    """A classic member has its protocols with it; one that left for a while has the epoch -2."""
    classic = ClassicMemberMetadata(session_timeout_ms=1, supported_protocols=[])

    assert ConsumerMember("m", classic=classic).is_classic
    assert not ConsumerMember("m").is_classic
    assert ConsumerMember("m", member_epoch=-2).has_left_for_a_while
    assert not ConsumerMember("m", member_epoch=-1).has_left_for_a_while
