"""What goes from the log: groups, offsets that are deleted, and offsets whose time is over.

Called by `groups.shard`. Everything here makes tombstones; nothing is gone before they are applied.

Source: Kafka's GroupCoordinatorShard (deleteGroups, cleanupGroupMetadata), OffsetMetadataManager
(deleteOffsets, cleanupExpiredOffsets, onTopicsDeleted) and createGroupTombstoneRecords; KIP-211, KIP-496.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.consumer import stored as consumer_stored
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.groups.kinds import Group, ServedGroup
from wirekafka.groups.offsets import CommittedOffsets, PartitionExists
from wirekafka.groups.records import GroupMetadata, GroupRecord, OffsetCommit
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.apis.delete_groups import DeletableGroupResult
from wirekafka.protocol.apis.offset_delete import (
    OffsetDeletePartitionResult,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
    OffsetDeleteTopicResult,
)
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_offsets import OffsetCommitValue


class DeletedTopic(NamedTuple):
    """A topic that is gone. Its id tells its offsets from those of a new topic of the same name."""

    name: str
    topic_id: bytes


# --- groups ---


def delete_group(
    turn: Turn, group_id: str, group: Group | None, offsets: CommittedOffsets
) -> DeletableGroupResult:
    """Delete a group that has no members, with all that it has committed.

    One that is not served here is NON_EMPTY_GROUP: whether it has members is not known.
    """
    if group is None:
        return _refused(group_id, ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if isinstance(group, ForeignGroup):
        why = f"Group {group_id} is a {group.group_type.value} group, which is left alone here."
        return _refused(group_id, ErrorCode.NON_EMPTY_GROUP, why)
    if not group.is_empty:
        return _refused(group_id, ErrorCode.NON_EMPTY_GROUP, f"Group {group_id} has members.")
    turn.decision.records.extend(_tombstones_of_offsets(offsets, group_id))
    turn.decision.records.extend(tombstones_of_group(group))
    return DeletableGroupResult(group_id=group_id)


def _refused(group_id: str, code: ErrorCode, message: str) -> DeletableGroupResult:
    return DeletableGroupResult(group_id=group_id, error_code=code, error_message=message)


def tombstones_of_group(group: ServedGroup) -> Iterator[GroupRecord]:
    """Delete all that the log has of a group but its offsets."""
    if isinstance(group, ConsumerGroup):
        yield from consumer_stored.tombstones(group)
    else:
        yield GroupMetadata(group.group_id, None)


def _tombstones_of_offsets(offsets: CommittedOffsets, group_id: str) -> Iterator[OffsetCommit]:
    for topic, partitions in offsets.of_group(group_id).items():
        for partition in partitions:
            yield OffsetCommit(group_id, topic, partition, None)


# --- offsets ---


def delete_offsets(
    turn: Turn,
    request: OffsetDeleteRequest,
    group: Group | None,
    offsets: CommittedOffsets,
    *,
    exists: PartitionExists,
) -> OffsetDeleteResponse:
    """Delete committed offsets of partitions that the group does not read.

    A partition without an offset is deleted as well as any; a topic without partitions is passed over.
    A group in use that is not of consumers is NON_EMPTY_GROUP: nobody knows what its members read. So it is
    with a streams group; a share group has no offsets, and is GROUP_ID_NOT_FOUND.
    """
    code = _delete_refusal(request.group_id, group)
    if group is None or isinstance(group, ForeignGroup) or code is not ErrorCode.NONE:
        return OffsetDeleteResponse(error_code=code)
    response, is_read = OffsetDeleteResponse(), _what_is_read(group)
    for topic in request.topics:
        if not topic.partitions:
            continue
        results = _results_of_topic(topic, exists, is_read=is_read(topic.name))
        response.topics.append(OffsetDeleteTopicResult(name=topic.name, partitions=results))
        for one in results:
            stored = offsets.get(request.group_id, topic.name, one.partition_index)
            if one.error_code == ErrorCode.NONE and stored is not None:
                tombstone = OffsetCommit(request.group_id, topic.name, one.partition_index, None)
                turn.decision.records.append(tombstone)
    return response


def _delete_refusal(group_id: str, group: Group | None) -> ErrorCode:
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if isinstance(group, ForeignGroup):
        is_share = group.group_type is ForeignGroupType.SHARE
        return ErrorCode.GROUP_ID_NOT_FOUND if is_share else ErrorCode.NON_EMPTY_GROUP
    if isinstance(group, ClassicGroup) and not group.is_empty and not group.is_of_consumers:
        return ErrorCode.NON_EMPTY_GROUP
    return ErrorCode.NONE


def _results_of_topic(
    topic: OffsetDeleteTopic, exists: PartitionExists, *, is_read: bool
) -> list[OffsetDeletePartitionResult]:
    known = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_read else ErrorCode.NONE
    return [
        OffsetDeletePartitionResult(
            partition_index=index,
            error_code=known if exists(topic.name, index) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        )
        for index in (one.partition_index for one in topic.partitions)
    ]


def _what_is_read(group: ServedGroup) -> Callable[[str], bool]:
    """Give what tells whether the group reads a topic; many may be asked for."""
    if isinstance(group, ConsumerGroup):
        return group.subscribed_topic_names.__contains__
    return group.is_subscribed_to


def tombstones_of_topics(offsets: CommittedOffsets, topics: Iterable[DeletedTopic]) -> list[OffsetCommit]:
    """Delete the offsets of topics that are gone; those stored without a topic id go by name."""
    deleted: dict[str, bytes] = dict(topics)
    return [
        OffsetCommit(group_id, topic, partition, None)
        for group_id, by_topic in offsets.by_group.items()
        for topic, by_partition in by_topic.items()
        if topic in deleted
        for partition, value in by_partition.items()
        if value.topic_id in (NO_TOPIC_ID, deleted[topic])
    ]


# --- time ---


def expire(turn: Turn, groups: Iterable[ServedGroup], offsets: CommittedOffsets) -> None:
    """Delete offsets whose retention is over, and groups that are empty and have no others (KIP-211)."""
    for group in groups:
        committed = offsets.of_group(group.group_id)
        gone = list(_expired(turn, group, committed)) if committed else []
        turn.decision.records.extend(gone)
        if group.is_empty and len(gone) == sum(map(len, committed.values())):
            turn.decision.records.extend(tombstones_of_group(group))


def _expired(
    turn: Turn, group: ServedGroup, committed: dict[str, dict[int, OffsetCommitValue]]
) -> Iterator[OffsetCommit]:
    """Give tombstones for what has expired.

    Retention runs from when a classic group became empty; for consumers without a group, for topics
    that a stable group no longer reads, and in a consumer group always, from the commit. A classic
    group that is rebalancing keeps all.
    """
    if isinstance(group, ClassicGroup) and not group.may_lose_offsets:
        return
    is_read = _what_is_read(group)
    for topic, partitions in committed.items():
        if is_read(topic):
            continue
        for partition, value in partitions.items():
            if _is_over(turn, value, _retained_since_ms(group, value)):
                yield OffsetCommit(group.group_id, topic, partition, None)


def _retained_since_ms(group: ServedGroup, value: OffsetCommitValue) -> int:
    if isinstance(group, ConsumerGroup) or group.empty_since_ms is None:
        return value.commit_timestamp
    return group.empty_since_ms


def _is_over(turn: Turn, value: OffsetCommitValue, start_ms: int) -> bool:
    if value.expire_timestamp != -1:
        return turn.wall_ms >= value.expire_timestamp
    return turn.wall_ms - start_ms >= turn.config.offsets_retention_ms
