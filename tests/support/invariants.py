"""What holds for a group whatever happened to it.

Called by the runs of random and of any inputs.

Source: none.
"""

from collections import Counter

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.consumer.group import ConsumerGroup


def check_classic_group(group: ClassicGroup) -> None:
    """Members, leader, protocols and waits agree with each other and with the state."""
    members = group.members
    assert (group.leader_id in members) == bool(members)
    assert group.static_members == {
        member.group_instance_id: member_id
        for member_id, member in members.items()
        if member.group_instance_id is not None
    }
    counts = Counter(name for member in members.values() for name in member.protocol_names)
    assert +group.protocol_counts == counts
    assert not group.pending_members & set(members)
    assert group.pending_sync <= set(members)
    assert set(group.awaiting_join) <= set(members)
    assert set(group.awaiting_sync) <= set(members)
    if members:
        assert len(members) in counts.values(), "no protocol that all support"
    match group.state:
        case ClassicGroupState.EMPTY:
            assert not members
        case ClassicGroupState.PREPARING_REBALANCE:
            assert not group.awaiting_sync
        case ClassicGroupState.COMPLETING_REBALANCE:
            assert members
            assert not group.awaiting_join
        case _:
            assert members
            assert not group.awaiting_join
            assert not group.awaiting_sync


def check_consumer_group(group: ConsumerGroup, before: ConsumerGroup | None) -> None:
    """Nothing has two owners; epochs do not go back."""
    owned = [
        (topic_id, index)
        for member in group.members.values()
        for assigned in (member.assigned, member.partitions_pending_revocation)
        for topic_id, partitions in assigned.items()
        for index in partitions
    ]
    assert len(owned) == len(set(owned))
    assert group.assignment_epoch <= group.group_epoch
    assert all(member.member_epoch <= group.group_epoch for member in group.members.values())
    assert set(group.static_members.values()) <= set(group.members)
    if before is group:
        return
    assert before is None or not before.members, "a group with members is not made anew"
