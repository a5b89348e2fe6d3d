"""Committed offsets: what is stored, and the rules of commit, fetch, expiry and deletion.

Called by `groups.shard`. `CommittedOffsets` changes in the shard's `apply` alone; the functions
read it and decide.

Source: Kafka's OffsetMetadataManager and ClassicGroup.validateOffsetCommit; KIP-211 (expiry).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.records import OffsetCommit
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_offsets import OffsetCommitValue

PartitionExists = Callable[[str, int], bool]


class DeletedTopic(NamedTuple):
    """A topic that is gone. Its id tells its offsets from those of a new topic of the same name."""

    name: str
    topic_id: bytes


@dataclass(slots=True)
class CommittedOffsets:
    """Group to topic to partition to offset; no empty dictionaries in between."""

    by_group: dict[str, dict[str, dict[int, OffsetCommitValue]]] = field(default_factory=dict)

    def of_group(self, group_id: str) -> dict[str, dict[int, OffsetCommitValue]]:
        return self.by_group.get(group_id, {})

    def get(self, group_id: str, topic: str, partition: int) -> OffsetCommitValue | None:
        return self.of_group(group_id).get(topic, {}).get(partition)

    def apply(self, record: OffsetCommit) -> None:
        """Store or delete one offset."""
        if record.value is not None:
            topics = self.by_group.setdefault(record.group_id, {})
            topics.setdefault(record.topic, {})[record.partition] = record.value
        elif self.get(record.group_id, record.topic, record.partition) is not None:
            topics = self.by_group[record.group_id]
            del topics[record.topic][record.partition]
            if not topics[record.topic]:
                del topics[record.topic]
            if not topics:
                del self.by_group[record.group_id]


def commit(
    turn: Turn,
    request: OffsetCommitRequest,
    *,
    group_id_not_found_known: bool,
    by_topic_id: bool,
    exists: PartitionExists,
) -> OffsetCommitResponse:
    """Decide the records of an OffsetCommit, and say which partitions will have been stored.

    A topic whose id the handler could give no name is UNKNOWN_TOPIC_ID, a partition that does not
    exist UNKNOWN_TOPIC_OR_PARTITION, whatever the group has to say to the rest.
    """
    codes = {
        (topic.name, topic.topic_id, one.partition_index): ErrorCode.UNKNOWN_TOPIC_ID
        if by_topic_id and not topic.name
        else _partition_refusal(turn, topic, one, exists)
        for topic in request.topics
        for one in topic.partitions
    }
    unknown = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    group_code = ErrorCode.NONE
    if any(code not in unknown for code in codes.values()):
        group_code = _admit(turn, request, group_id_not_found_known)
    response = OffsetCommitResponse(topics=[])
    for topic in request.topics:
        answered = OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=[])
        response.topics.append(answered)
        for one in topic.partitions:
            code = codes[topic.name, topic.topic_id, one.partition_index]
            if group_code is not ErrorCode.NONE and code not in unknown:
                code = group_code
            answered.partitions.append(
                OffsetCommitResponsePartition(partition_index=one.partition_index, error_code=code)
            )
            if code is ErrorCode.NONE:
                turn.decision.records.append(_record(turn.wall_ms, request, topic, one))
    return response


def _partition_refusal(
    turn: Turn, topic: OffsetCommitRequestTopic, one: OffsetCommitRequestPartition, exists: PartitionExists
) -> ErrorCode:
    if not exists(topic.name, one.partition_index):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    # Kafka counts UTF-16 units here, whatever the setting's name says.
    units = len((one.committed_metadata or "").encode("utf-16-le", "surrogatepass")) // 2
    if units > turn.config.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


def _admit(turn: Turn, request: OffsetCommitRequest, group_id_not_found_known: bool) -> ErrorCode:
    """Whether the group lets this member, or a consumer outside of group management, commit."""
    group = turn.volatile.groups.get(request.group_id)
    if group is None:
        if request.generation_id_or_member_epoch < 0:
            return ErrorCode.NONE
        return ErrorCode.GROUP_ID_NOT_FOUND if group_id_not_found_known else ErrorCode.ILLEGAL_GENERATION
    code = _member_refusal(request, group)
    # A commit counts as a heartbeat.
    if code is ErrorCode.NONE and request.member_id in group.members:
        turn.expect_heartbeat(group, group.members[request.member_id])
    return code


def _member_refusal(request: OffsetCommitRequest, group: ClassicGroup) -> ErrorCode:
    generation_id = request.generation_id_or_member_epoch
    if generation_id < 0 and group.is_empty:
        return ErrorCode.NONE
    names_member = bool(request.member_id) or request.group_instance_id is not None
    if generation_id < 0 and not names_member:
        return ErrorCode.UNKNOWN_MEMBER_ID
    refusal = group.member_refusal(request.member_id, request.group_instance_id)
    if refusal is not None:
        return refusal
    if generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.REBALANCE_IN_PROGRESS if group.is_completing else ErrorCode.NONE


def _record(
    wall_ms: int,
    request: OffsetCommitRequest,
    topic: OffsetCommitRequestTopic,
    one: OffsetCommitRequestPartition,
) -> OffsetCommit:
    keeps_forever = request.retention_time_ms == -1
    value = OffsetCommitValue(
        offset=one.committed_offset,
        leader_epoch=one.committed_leader_epoch,
        metadata=one.committed_metadata or "",
        commit_timestamp=wall_ms,
        expire_timestamp=-1 if keeps_forever else wall_ms + request.retention_time_ms,
        topic_id=topic.topic_id,
    )
    return OffsetCommit(request.group_id, topic.name, one.partition_index, value)


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


def expired(turn: Turn, offsets: CommittedOffsets, group: ClassicGroup) -> Iterator[OffsetCommit]:
    """Give tombstones for the group's offsets whose retention is over (KIP-211).

    It runs from when the group became empty; for consumers without a group, and for topics that a
    stable consumer group no longer reads, from the commit. A group that is rebalancing keeps all.
    """
    since_empty = group.is_empty and group.protocol_type is not None and group.state_since_ms != -1
    stable_consumers = group.is_stable and group.topics is not None
    if not (group.is_empty or group.protocol_type is None or stable_consumers):
        return
    for topic, partitions in offsets.of_group(group.group_id).items():
        if group.is_subscribed_to(topic):
            continue
        for partition, value in partitions.items():
            start_ms = group.state_since_ms if since_empty else value.commit_timestamp
            if _is_over(turn, value, start_ms):
                yield OffsetCommit(group.group_id, topic, partition, None)


def _is_over(turn: Turn, value: OffsetCommitValue, start_ms: int) -> bool:
    if value.expire_timestamp != -1:
        return turn.wall_ms >= value.expire_timestamp
    return turn.wall_ms - start_ms >= turn.config.offsets_retention_ms
