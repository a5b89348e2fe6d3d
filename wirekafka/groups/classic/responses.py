"""The answers to JoinGroup and SyncGroup.

Called wherever one of them is answered. Fields that only some versions have are filled
always; the codec leaves out what the version lacks.

Source: the JoinGroupResponse and SyncGroupResponse that Kafka's GroupMetadataManager fills.
"""

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.protocol.apis.join_group import JoinGroupResponse, JoinGroupResponseMember
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.error_codes import ErrorCode


def join_error(code: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    """Refuse a JoinGroup; the protocol name is null, which versions before 7 write as ""."""
    return JoinGroupResponse(error_code=code, protocol_name=None, leader="", member_id=member_id, members=[])


def join_answer(
    group: ClassicGroup,
    member_id: str,
    *,
    leader_id: str | None = None,
    with_members: bool = True,
    skip_assignment: bool = False,
) -> JoinGroupResponse:
    """Give a member the present generation; the leader gets the members with it.

    `leader_id` is named in place of the group's leader when given.
    """
    shows_members = with_members and member_id == group.leader_id
    return JoinGroupResponse(
        error_code=ErrorCode.NONE,
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=leader_id or group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member_id,
        members=_members(group) if shows_members else [],
    )


def _members(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            metadata=member.metadata(group.protocol_name),
        )
        for member in group.members.values()
    ]


def sync_error(code: ErrorCode) -> SyncGroupResponse:
    """Refuse a SyncGroup."""
    return SyncGroupResponse(error_code=code, assignment=b"")


def sync_answer(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    """Give a member its assignment."""
    return SyncGroupResponse(
        error_code=ErrorCode.NONE,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=assignment,
    )
