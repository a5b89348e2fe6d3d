"""Tests of groups/consumer/group.py."""

from wirekafka.groups.consumer.group import (
    ConsumerGroup,
    ConsumerGroupState,
    ResolvedRegularExpression,
    subscribed_topic_names,
)
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata

A = b"a" * 16


def group_of(*members: ConsumerMember, epoch: int = 1, assignment_epoch: int = 1) -> ConsumerGroup:
    group = ConsumerGroup("g", group_epoch=epoch, assignment_epoch=assignment_epoch)
    for member in members:
        group.put_member(member)
    return group


def test_state_says_how_far_the_group_is() -> None:
    """Kafka's ConsumerGroup.maybeUpdateGroupState."""
    there = ConsumerMember("a", member_epoch=2)
    behind = ConsumerMember("b", member_epoch=1)

    assert group_of(epoch=2).state is ConsumerGroupState.EMPTY
    assert group_of(there, epoch=3, assignment_epoch=2).state is ConsumerGroupState.ASSIGNING
    assert group_of(there, behind, epoch=2, assignment_epoch=2).state is ConsumerGroupState.RECONCILING
    assert group_of(there, epoch=2, assignment_epoch=2).state is ConsumerGroupState.STABLE


def test_partition_has_an_owner_until_it_is_given_up() -> None:
    """What is pending revocation is still the member's."""
    group = group_of(ConsumerMember("a", member_epoch=3, assigned={A: {0: 1, 1: 1}}))
    assert [group.owner_epoch(A, index) for index in (0, 1, 2)] == [3, 3, None]
    assert [group.has_owner(A, index) for index in (0, 1, 2)] == [True, True, False]

    group.put_member(
        ConsumerMember(
            "a",
            member_epoch=3,
            state=MemberState.UNREVOKED_PARTITIONS,
            assigned={A: {0: 1}},
            partitions_pending_revocation={A: {1: 1}},
        )
    )
    assert group.owner_epoch(A, 1) == 3
    group.put_member(ConsumerMember("a", member_epoch=4, assigned={A: {0: 1}}))
    assert group.partition_epochs == {A: {0: 4}}


def test_partition_stays_with_its_later_owner_when_the_former_one_goes() -> None:
    """In a compacted log the records of the two may be in either order."""
    group = group_of(
        ConsumerMember("b", member_epoch=5, assigned={A: {0: 5}}),
        ConsumerMember("a", member_epoch=4, assigned={A: {0: 3}}),
    )
    assert group.owner_epoch(A, 0) == 5
    group.remove_member("a")

    assert group.owner_epoch(A, 0) == 5


def test_removed_member_leaves_nothing_behind() -> None:
    """Neither its partitions nor its instance id; one that is not there does no harm."""
    group = group_of(ConsumerMember("a", instance_id="i", assigned={A: {0: 1}}))
    group.remove_member("a")
    group.remove_member("a")

    assert group == ConsumerGroup("g")


def test_instance_id_is_its_successors() -> None:
    """Removing the predecessor after the successor came does not take it away."""
    group = group_of(ConsumerMember("old", instance_id="i"), ConsumerMember("new", instance_id="i"))
    group.remove_member("old")

    assert group.static_members == {"i": "new"}
    assert group.static_member("i") == group.members["new"]
    assert group.static_member("j") is None
    assert group.static_member(None) is None


def test_member_that_changes_its_instance_id_leaves_the_old_one() -> None:
    """An instance id has one holder, and a member holds one."""
    group = group_of(ConsumerMember("a", instance_id="i"))
    group.put_member(ConsumerMember("a", instance_id="j"))

    assert group.static_members == {"j": "a"}


def test_target_of_a_static_member_is_that_of_its_instance_id() -> None:
    """So it passes to who takes its place."""
    group = group_of(ConsumerMember("old", instance_id="i"))
    group.targets["old"] = {A: frozenset({0})}

    assert group.target_of("new", "i") == {A: frozenset({0})}
    assert group.target_of("new", "j") == {}
    assert group.target_of("old") == {A: frozenset({0})}
    assert group.target_of("other") == {}


def test_topics_are_read_by_name_and_by_regular_expression() -> None:
    """One that is not resolved matches none."""
    group = group_of(
        ConsumerMember("a", subscribed_topic_names=frozenset({"t"})),
        ConsumerMember("b", subscribed_topic_regex="u.*"),
        ConsumerMember("c", subscribed_topic_regex="v.*"),
    )
    group.resolved_regexes["u.*"] = ResolvedRegularExpression(frozenset({"u1", "u2"}), 1, 1)

    assert group.subscribed_topic_names == {"t", "u1", "u2"}
    assert subscribed_topic_names([group.members["b"]], group.resolved_regexes) == {"u1", "u2"}
    assert subscribed_topic_names([group.members["c"]], group.resolved_regexes) == frozenset()


def test_members_of_the_classic_protocol_are_counted() -> None:
    """As they come, change their protocol, and go."""
    classic = ClassicMemberMetadata(session_timeout_ms=1, supported_protocols=[])
    group = group_of(ConsumerMember("a", classic=classic), ConsumerMember("b"))
    counts = [group.classic_member_count]
    group.put_member(ConsumerMember("b", classic=classic))
    counts.append(group.classic_member_count)
    group.put_member(ConsumerMember("a"))
    counts.append(group.classic_member_count)
    group.remove_member("b")
    group.remove_member("b")
    counts.append(group.classic_member_count)

    assert counts == [1, 2, 1, 0]
