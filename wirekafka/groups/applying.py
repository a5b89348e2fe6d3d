"""What a group shard's records say, and how each of them changes that.

Called by `groups.shard`, for every record that was written and for every record of the log at start.

Source: the `replay` methods of Kafka's GroupCoordinatorShard and GroupMetadataManager.
"""

from dataclasses import dataclass, field

from wirekafka.groups import records
from wirekafka.groups.classic import stored as classic_stored
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.classic.volatile import Volatile
from wirekafka.groups.consumer import stored as consumer_stored
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.deadlines import JoinDeadline, SessionDeadline, SyncDeadline
from wirekafka.groups.foreign import ForeignGroup
from wirekafka.groups.offsets import CommittedOffsets
from wirekafka.groups.records import ForeignGroupMetadata, GroupMetadata, GroupRecord, OffsetCommit
from wirekafka.protocol.stored.consumer_offsets import GroupMetadataValue


@dataclass(slots=True)
class Durable:
    """What the records say, and no more."""

    classic_groups: dict[str, GroupMetadataValue] = field(default_factory=dict)
    consumer_groups: dict[str, ConsumerGroup] = field(default_factory=dict)
    foreign_groups: dict[str, ForeignGroup] = field(default_factory=dict)
    offsets: CommittedOffsets = field(default_factory=CommittedOffsets)


def apply(durable: Durable, volatile: Volatile, record: GroupRecord) -> None:
    """Make a record's content the durable state; what a group has decided for itself settles."""
    match record:
        case OffsetCommit():
            _apply_offset(durable, volatile, record)
        case GroupMetadata(group_id, None):
            durable.classic_groups.pop(group_id, None)
            _drop_classic_group(volatile, group_id)
        case GroupMetadata(group_id, value):
            assert value is not None
            durable.classic_groups[group_id] = value
            _settle_or_restore(volatile, group_id, value)
        case ForeignGroupMetadata():
            _apply_to_foreign_group(durable, volatile, record)
        case _:
            _apply_to_consumer_group(durable, volatile, record)


def _apply_offset(durable: Durable, volatile: Volatile, record: OffsetCommit) -> None:
    durable.offsets.apply(record)
    group_id = record.group_id
    is_known = any(
        group_id in known
        for known in (durable.consumer_groups, durable.foreign_groups, volatile.classic_groups)
    )
    if record.value is not None and not is_known:
        volatile.classic_groups[group_id] = ClassicGroup(group_id)


def _settle_or_restore(volatile: Volatile, group_id: str, value: GroupMetadataValue) -> None:
    group = volatile.classic_groups.get(group_id)
    if group is not None and group.unwritten == value:
        classic_stored.settle(group)
    else:
        volatile.classic_groups[group_id] = classic_stored.restored(group_id, value)


def _drop_classic_group(volatile: Volatile, group_id: str) -> None:
    group = volatile.classic_groups.pop(group_id, None)
    if group is None:
        return
    group.move_to(ClassicGroupState.DEAD, group.state_since_ms)
    # A group that has members has become a consumer group, in which they are to be heard of as before.
    for member_id in group.pending_members:
        volatile.deadlines.cancel(SessionDeadline(group_id, member_id))
    volatile.deadlines.cancel(JoinDeadline(group_id))
    volatile.deadlines.cancel(SyncDeadline(group_id))


def _apply_to_consumer_group(
    durable: Durable, volatile: Volatile, record: records.ConsumerGroupRecord
) -> None:
    group_id = record.group_id
    was_there = group_id in durable.consumer_groups
    consumer_stored.apply(durable.consumer_groups, record)
    is_there = group_id in durable.consumer_groups
    if is_there and not was_there:
        # A log has offsets before their group: a classic group stood for it, of which no record tells.
        volatile.classic_groups.pop(group_id, None)
    if was_there and not is_there:
        volatile.metadata_checks.pop(group_id, None)


def _apply_to_foreign_group(durable: Durable, volatile: Volatile, record: ForeignGroupMetadata) -> None:
    group_id = record.group_id
    if record.value is None:
        durable.foreign_groups.pop(group_id, None)
        return
    durable.foreign_groups[group_id] = ForeignGroup(group_id, record.group_type)
    if group_id not in durable.classic_groups:
        # As above: its offsets may come before it.
        volatile.classic_groups.pop(group_id, None)
