"""Read-only answers: OffsetFetch, DescribeGroups and ListGroups.

Called by `groups.shard`. Nothing here changes anything, so the answers need no ticket.

Source: Kafka's GroupMetadataManager (describeGroups, listGroups) and OffsetMetadataManager
(fetchOffsets, fetchAllOffsets).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.kinds import Group, protocol_type_of, type_of
from wirekafka.groups.offsets import fetch_refusal
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.apis.describe_groups import DescribedGroup, DescribedGroupMember
from wirekafka.protocol.apis.list_groups import ListedGroup
from wirekafka.protocol.apis.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_offsets import OffsetCommitValue

NO_OFFSET = -1

TopicOffsets = Mapping[str, Mapping[int, OffsetCommitValue]]


def fetched(
    request: OffsetFetchRequestGroup, group: Group | None, stored: TopicOffsets, *, by_topic_id: bool
) -> OffsetFetchResponseGroup:
    """Give the offsets asked for, -1 where there is none; null topics ask for all there are.

    A member of a consumer group that names itself must be one, and know its epoch.
    """
    refusal = fetch_refusal(group, request.member_id, request.member_epoch)
    if refusal is not ErrorCode.NONE:
        return OffsetFetchResponseGroup(group_id=request.group_id, topics=[], error_code=refusal)
    if request.topics is None:
        topics = [_all_of_topic(topic, partitions) for topic, partitions in stored.items()]
    else:
        topics = [
            _unknown_topic(topic)
            if by_topic_id and not topic.name
            else _asked_of_topic(topic, stored.get(topic.name, {}))
            for topic in request.topics
        ]
    return OffsetFetchResponseGroup(group_id=request.group_id, topics=topics)


def _all_of_topic(topic: str, partitions: Mapping[int, OffsetCommitValue]) -> OffsetFetchResponseTopics:
    found = [_partition(index, value) for index, value in partitions.items()]
    topic_ids = {value.topic_id for value in partitions.values()}
    topic_id = topic_ids.pop() if len(topic_ids) == 1 else NO_TOPIC_ID
    return OffsetFetchResponseTopics(name=topic, topic_id=topic_id, partitions=found)


def _unknown_topic(asked: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    found = [_partition(index, None, ErrorCode.UNKNOWN_TOPIC_ID) for index in asked.partition_indexes]
    return OffsetFetchResponseTopics(name=asked.name, topic_id=asked.topic_id, partitions=found)


def _asked_of_topic(
    asked: OffsetFetchRequestTopics, partitions: Mapping[int, OffsetCommitValue]
) -> OffsetFetchResponseTopics:
    found = [
        _partition(index, _of_same_topic(partitions.get(index), asked.topic_id))
        for index in asked.partition_indexes
    ]
    return OffsetFetchResponseTopics(name=asked.name, topic_id=asked.topic_id, partitions=found)


def _of_same_topic(value: OffsetCommitValue | None, topic_id: bytes) -> OffsetCommitValue | None:
    """Pass over what was committed to an earlier topic of the same name."""
    if value is None or NO_TOPIC_ID in (value.topic_id, topic_id) or value.topic_id == topic_id:
        return value
    return None


def _partition(
    index: int, value: OffsetCommitValue | None, code: ErrorCode = ErrorCode.NONE
) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=NO_OFFSET if value is None else value.offset,
        committed_leader_epoch=-1 if value is None else value.leader_epoch,
        metadata="" if value is None else value.metadata,
        error_code=code,
    )


def described(group_id: str, group: Group | None, *, group_id_not_found_known: bool) -> DescribedGroup:
    """Describe a classic group; what its members speak and read shows only while it is stable.

    Any other is dead, and an error since DescribeGroups v6 (KIP-1043).
    """
    if not isinstance(group, ClassicGroup):
        why = "not found" if group is None else "is not a classic group"
        message = f"Group {group_id} {why}." if group_id_not_found_known else None
        return _described_missing(group_id, message)
    protocol_name = group.protocol_name if group.is_stable else None
    return DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol_name or "",
        members=[_described_member(member, protocol_name) for member in group.members.values()],
    )


def _described_member(member: Member, protocol_name: str | None) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client.client_id,
        client_host=member.client.client_host,
        member_metadata=b"" if protocol_name is None else member.metadata(protocol_name),
        member_assignment=member.assignment,
    )


def _described_missing(group_id: str, message: str | None) -> DescribedGroup:
    return DescribedGroup(
        error_code=ErrorCode.NONE if message is None else ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=message,
        group_id=group_id,
        group_state=ClassicGroupState.DEAD.value,
        protocol_type="",
        protocol_data="",
        members=[],
    )


def listed(groups: Iterable[Group], states: Sequence[str], types: Sequence[str]) -> Iterator[ListedGroup]:
    """List groups that are in one of the states and of one of the types; none named means any.

    Case does not matter, and a name that Kafka does not know matches nothing.
    """
    wanted_states = {state.strip().lower() for state in states}
    wanted_types = {name.lower() for name in types}
    for group in groups:
        state, group_type = group.state.value, type_of(group)
        is_of_state = not wanted_states or state.lower() in wanted_states
        if is_of_state and (not wanted_types or group_type in wanted_types):
            yield ListedGroup(
                group_id=group.group_id,
                protocol_type=protocol_type_of(group),
                group_state=state,
                group_type=group_type,
            )
