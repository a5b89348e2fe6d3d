"""Committed offsets: what is stored, and who may commit.

Called by `groups.shard`. `CommittedOffsets` changes in `applying` alone; the functions read it and decide.
Offsets that go, by a request or by time, are in `groups.deleting`.

Source: Kafka's OffsetMetadataManager, ClassicGroup.validateOffsetCommit and
ConsumerGroup.validateOffsetCommit; KIP-848, KIP-1251 (epochs of partitions).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.groups.kinds import Group
from wirekafka.groups.records import OffsetCommit
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """One partition of a commit, and why it is refused whatever the group says."""

    topic: OffsetCommitRequestTopic
    one: OffsetCommitRequestPartition
    refusal: ErrorCode

    @property
    def is_known(self) -> bool:
        return self.refusal not in (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def commit(
    turn: Turn,
    request: OffsetCommitRequest,
    group: Group | None,
    *,
    group_id_not_found_known: bool,
    by_topic_id: bool,
    exists: PartitionExists,
) -> OffsetCommitResponse:
    """Decide the records of an OffsetCommit, and say which partitions will have been stored.

    A topic whose id the handler could give no name is UNKNOWN_TOPIC_ID, a partition that does not
    exist UNKNOWN_TOPIC_OR_PARTITION, whatever the group has to say to the rest: it lets all of that
    in, or nothing. The version that knows GROUP_ID_NOT_FOUND is the first that knows member epochs.
    """
    asked = [
        _Asked(topic, one, _partition_refusal(turn, topic, one, by_topic_id=by_topic_id, exists=exists))
        for topic in request.topics
        for one in topic.partitions
    ]
    known = [each for each in asked if each.is_known]
    group_code = ErrorCode.NONE
    if known:
        group_code = _admit(turn, request, group, known, group_id_not_found_known)
    answered = {id(topic): _answered(topic) for topic in request.topics}
    for each in asked:
        code = group_code if each.is_known and group_code is not ErrorCode.NONE else each.refusal
        answered[id(each.topic)].partitions.append(
            OffsetCommitResponsePartition(partition_index=each.one.partition_index, error_code=code)
        )
        if code is ErrorCode.NONE:
            turn.decision.records.append(_record(turn.wall_ms, request, each.topic, each.one))
    return OffsetCommitResponse(topics=list(answered.values()))


def _answered(topic: OffsetCommitRequestTopic) -> OffsetCommitResponseTopic:
    return OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=[])


def _partition_refusal(
    turn: Turn,
    topic: OffsetCommitRequestTopic,
    one: OffsetCommitRequestPartition,
    *,
    by_topic_id: bool,
    exists: PartitionExists,
) -> ErrorCode:
    if by_topic_id and not topic.name:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if not exists(topic.name, one.partition_index):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    # Kafka counts UTF-16 units here, whatever the setting's name says.
    units = len((one.committed_metadata or "").encode("utf-16-le", "surrogatepass")) // 2
    if units > turn.config.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


def _admit(
    turn: Turn,
    request: OffsetCommitRequest,
    group: Group | None,
    known: Iterable[_Asked],
    group_id_not_found_known: bool,
) -> ErrorCode:
    """Whether the group lets this member, or a consumer outside of group management, commit."""
    if group is None:
        if request.generation_id_or_member_epoch < 0:
            return ErrorCode.NONE
        return ErrorCode.GROUP_ID_NOT_FOUND if group_id_not_found_known else ErrorCode.ILLEGAL_GENERATION
    if isinstance(group, ForeignGroup):
        return _foreign_refusal(group)
    if isinstance(group, ConsumerGroup):
        return _consumer_refusal(request, group, known, member_epochs_known=group_id_not_found_known)
    code = _classic_refusal(request, group)
    # A commit counts as a heartbeat.
    if code is ErrorCode.NONE and request.member_id in group.members:
        turn.expect_heartbeat(group, group.members[request.member_id])
    return code


def _foreign_refusal(group: ForeignGroup) -> ErrorCode:
    """Say why nobody commits for a group that is not served: a share group commits nothing, and of a streams
    group no member is known here."""
    is_share = group.group_type is ForeignGroupType.SHARE
    return ErrorCode.GROUP_ID_NOT_FOUND if is_share else ErrorCode.UNKNOWN_MEMBER_ID


def _classic_refusal(request: OffsetCommitRequest, group: ClassicGroup) -> ErrorCode:
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


def _consumer_refusal(
    request: OffsetCommitRequest,
    group: ConsumerGroup,
    known: Iterable[_Asked],
    *,
    member_epochs_known: bool,
) -> ErrorCode:
    """Say whether a member of the new protocol may commit; its commits are no sign of life."""
    epoch = request.generation_id_or_member_epoch
    if epoch < 0 and group.is_empty:
        return ErrorCode.NONE
    member = group.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not member.is_classic and not member_epochs_known:
        return ErrorCode.UNSUPPORTED_VERSION
    if epoch == member.member_epoch:
        return ErrorCode.NONE
    # KIP-1251: an older epoch will do for what the member has had since then.
    stored = [each for each in known if each.refusal is ErrorCode.NONE]
    if epoch < member.member_epoch and all(_had_at(member, each, epoch) for each in stored):
        return ErrorCode.NONE
    return _wrong_epoch(member)


def _had_at(member: ConsumerMember, asked: _Asked, epoch: int) -> bool:
    since = member.assigned_at(asked.topic.topic_id, asked.one.partition_index)
    return since is not None and since <= epoch


def _wrong_epoch(member: ConsumerMember) -> ErrorCode:
    """Name the error of an epoch that is not the member's in the words of its protocol."""
    return ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH


def fetch_refusal(group: Group | None, member_id: str | None, member_epoch: int) -> ErrorCode:
    """Say why a member may not fetch offsets; who names neither id nor epoch may always."""
    if isinstance(group, ClassicGroup) or group is None or (member_id is None and member_epoch < 0):
        return ErrorCode.NONE
    if isinstance(group, ForeignGroup):
        # A share group has no offsets, which is no error; of a streams group no member is known here.
        is_share = group.group_type is ForeignGroupType.SHARE
        return ErrorCode.NONE if is_share else ErrorCode.UNKNOWN_MEMBER_ID
    member = group.members.get(member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if member_epoch == member.member_epoch else _wrong_epoch(member)


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
        expire_timestamp=-1 if keeps_forever else _in_int64(wall_ms + request.retention_time_ms),
        topic_id=topic.topic_id,
    )
    return OffsetCommit(request.group_id, topic.name, one.partition_index, value)


def _in_int64(value: int) -> int:
    """Go on from the smallest number behind the largest, as Java's longs do."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
