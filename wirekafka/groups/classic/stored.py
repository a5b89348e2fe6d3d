"""A classic group as its GroupMetadata record, and back.

Called where a classic group is decided about, to write; by `groups.applying`, to read.

Source: Kafka's GroupCoordinatorRecordHelpers.newGroupMetadataRecord and GroupMetadataManager.replay.
"""

from collections.abc import Mapping

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.client import Client
from wirekafka.protocol.stored.consumer_offsets import GroupMetadataValue, MemberMetadata


def stored_value(group: ClassicGroup, assignments: Mapping[str, bytes]) -> GroupMetadataValue:
    """Write the group down with these assignments; a member without one gets an empty one."""
    return GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=group.state_since_ms,
        members=[
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client.client_id,
                client_host=member.client.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(group.protocol_name),
                assignment=assignments.get(member.member_id, b""),
            )
            for member in group.members.values()
        ],
    )


def value_without_leader(group: ClassicGroup, assignments: Mapping[str, bytes]) -> GroupMetadataValue:
    """Write the group down as one whose members have yet to elect a leader; see `must_rebalance`."""
    value = stored_value(group, assignments)
    value.leader = None
    return value


def must_rebalance(value: GroupMetadataValue) -> bool:
    """Whether the members of the group have never been a classic group's generation.

    They were a consumer group's, and what the record says that they were assigned they may not have been
    told. Kafka writes a leader even so, and after a restart leaves them with what they had.
    """
    return bool(value.members) and value.leader is None


def new_group_value(group: ClassicGroup) -> GroupMetadataValue:
    """Write down that the group exists, whoever may be joining it at this moment."""
    return GroupMetadataValue(
        protocol_type="",
        generation=0,
        protocol=None,
        leader=None,
        current_state_timestamp=group.state_since_ms,
        members=[],
    )


def restored(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """Make the group that a record says: stable with its members, or empty."""
    group = ClassicGroup(
        group_id=group_id,
        state=ClassicGroupState.STABLE if value.members else ClassicGroupState.EMPTY,
        state_since_ms=value.current_state_timestamp,
        protocol_type=value.protocol_type or None,
        protocol_name=value.protocol,
        generation_id=value.generation,
        leader_id=value.leader,
    )
    for member in value.members:
        group.add(_restored_member(member, value.protocol or ""))
    group.refresh_topics()
    return group


def _restored_member(stored: MemberMetadata, protocol_name: str) -> Member:
    rebalance_ms = stored.session_timeout if stored.rebalance_timeout == -1 else stored.rebalance_timeout
    return Member(
        member_id=stored.member_id,
        group_instance_id=stored.group_instance_id,
        client=Client(stored.client_id, stored.client_host),
        rebalance_timeout_ms=rebalance_ms,
        session_timeout_ms=stored.session_timeout,
        protocols=((protocol_name, stored.subscription),),
        assignment=stored.assignment,
    )


def settle(group: ClassicGroup) -> None:
    """Take the group's own record as written: the assignments in it hold from now on."""
    value = group.unwritten
    assert value is not None
    group.unwritten = group.replacement = None
    if not (group.is_completing and value.members):
        return
    for stored in value.members:
        group.members[stored.member_id].assignment = stored.assignment
    group.move_to(ClassicGroupState.STABLE, value.current_state_timestamp)
