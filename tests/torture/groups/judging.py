"""`Judge`: what must hold in a world at every moment, and how its run must end.

Asked by `World` after every decision, by `runs` at every tick and at the end. A violation is a
`Finding`.

Source: the promises of the group protocols (KIP-848; the classic one's generations and sessions) and of
`wirekafka.machine`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.torture.groups import plans
from tests.torture.groups.times import GROUP, SESSION_MS
from tests.torture.groups.topics import Partition
from wirekafka.groups import GroupRecord, GroupShard
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.consumer.group import ConsumerGroup, ConsumerGroupState
from wirekafka.groups.records import (
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    GroupMetadata,
    OffsetCommit,
)

if TYPE_CHECKING:
    from tests.torture.groups.member import SimulatedMember
    from tests.torture.groups.world import World

_TICK_SLACK_MS = 3_000


class Judge:
    """Watches one world."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self._stored: dict[tuple[str, int], tuple[bytes, int]] = {}
        self._epoch = -1
        self._kind, self._was_empty = "none", True
        self._assignment_epoch = -1
        self._looks_due = False
        self._held_until_ms: dict[str, int] = {}
        """When a member that went silent was last held in the group by more than its session."""
        self._planned: dict[int, dict[str, frozenset[str]]] = {}
        """What each static member read when a generation of the classic group was planned."""

    # --- after every decision ---

    def look(self) -> None:
        """See that epochs grow, that nothing is owned twice, and that every ticket is accounted for."""
        shard, find = self.world.shard, self.world.find
        if set(shard.volatile.parked) != self.world.waiting:
            find(f"parked are {sorted(shard.volatile.parked)}, waiting are {sorted(self.world.waiting)}")
        self._look_at_epochs()
        consumer = self.consumer_group()
        if consumer is None:
            self._assignment_epoch = -1
        elif self._looks_due:
            self._look_at_owners(consumer)
        self._looks_due = False
        wake_ms = shard.wake_at_ms()
        if wake_ms is None:
            find("the shard never wakes again, not even to expire offsets")

    def _look_at_epochs(self) -> None:
        classic, consumer = self.classic_group(), self.consumer_group()
        if classic is not None and consumer is not None:
            self.world.find("there is a classic group and a consumer group of one name")
        epoch, kind = -1, "none"
        if classic is not None:
            epoch, kind = classic.generation_id, "classic"
        elif consumer is not None:
            epoch, kind = consumer.group_epoch, "consumer"
        if kind != self._kind and self._was_empty:
            # An empty group gives way to a new one of the other kind.
            self._epoch = -1
        elif kind != self._kind:
            self.world.tell(f"the group is of kind {kind} now")
            for member in self.world.members:
                member.group_converted()
            # Kafka begins the sessions of all anew when it converts a group.
            self._hold_all()
        if kind != self._kind:
            self._planned.clear()
        self._kind, self._was_empty = kind, not self.member_ids()
        if 0 <= epoch < self._epoch:
            self.world.find(f"epoch {epoch} follows {self._epoch}")
        if classic is not None and epoch != self._epoch:
            # A new generation begins the sessions of all, also of static members that are away.
            self._hold_all()
        if classic is not None:
            self._planned.setdefault(epoch, _read_by_static_members(classic))
        self._epoch = epoch

    def _hold_all(self) -> None:
        self._held_until_ms.update(dict.fromkeys(self.member_ids(), self.world.now_ms))

    def _look_at_owners(self, group: ConsumerGroup) -> None:
        """See that no partition has two owners, and no member an epoch that the group has not reached."""
        if not self._assignment_epoch <= group.assignment_epoch <= group.group_epoch:
            self.world.find(f"target {group.assignment_epoch} follows {self._assignment_epoch}")
        self._assignment_epoch = group.assignment_epoch
        owners: dict[tuple[bytes, int], str] = {}
        for member in group.members.values():
            if member.member_epoch > group.group_epoch:
                self.world.find(
                    f"{member.member_id} is at {member.member_epoch}, {group.group_epoch} is the group's"
                )
            for owned in (member.assigned, member.partitions_pending_revocation):
                for topic_id, partitions in owned.items():
                    for index in partitions:
                        other = owners.setdefault((topic_id, index), member.member_id)
                        if other != member.member_id:
                            self.world.find(
                                f"{other} and {member.member_id} both own {index} of {topic_id!r}"
                            )

    def written(self, record: GroupRecord) -> None:
        """See that commits never go back, and cover what was processed."""
        if not isinstance(record, OffsetCommit):
            self._looks_due = True
            if isinstance(record, ConsumerGroupMemberMetadata) and record.value is None:
                self._removed(record.member_id)
            return
        place = record.topic, record.partition
        if record.value is None:
            self._stored.pop(place, None)
            return
        topic_id, offset = record.value.topic_id, record.value.offset
        before = self._stored.get(place)
        if before is not None and before[0] == topic_id and before[1] > offset:
            self.world.find(f"offset {offset} is committed to {place} after {before[1]}")
        self._stored[place] = topic_id, offset

    def _removed(self, member_id: str) -> None:
        for member in self.world.members:
            if member.member_id == member_id:
                member.removed()

    def not_written(self, records: Iterable[GroupRecord]) -> None:
        """Grant all members another session when the group could not be converted.

        The conversion began their sessions anew, and Kafka does not take that back either.
        """
        for record in records:
            if isinstance(record, GroupMetadata | ConsumerGroupMetadata) and record.value is None:
                self._hold_all()

    def both_read(self, other: "SimulatedMember", member: "SimulatedMember", partition: Partition) -> None:
        """Judge that two members read the same partition, unless either was dropped and cannot know yet."""
        if other.is_counted() and member.is_counted():
            self.world.find(f"{other} and {member} read partition {partition.number} at once")

    # --- after a restart ---

    def restarted(self, before: GroupShard, after: GroupShard) -> None:
        """See that the log says what the shard knew; members of an unfinished generation are forgotten."""
        if after.durable != before.durable:
            self.world.find(f"the log says {after.durable}, the shard knew {before.durable}")
        if self.consumer_group() is None:
            self._epoch = -1
        classic = self.classic_group()
        known = -1 if classic is None else classic.generation_id
        self._planned = {epoch: planned for epoch, planned in self._planned.items() if epoch <= known}
        self._held_until_ms.clear()

    # --- at every tick ---

    def look_for_the_dead(self) -> None:
        """See that whoever fell silent is dropped within its session time-out."""
        now_ms, classic, ids = self.world.now_ms, self.classic_group(), self.member_ids()
        if classic is not None:
            for member_id in [*classic.awaiting_join, *classic.awaiting_sync]:
                self._held_until_ms[member_id] = now_ms
        for member in self.world.members:
            if member.silent_since_ms is None or member.member_id not in ids:
                continue
            since_ms = max(
                member.silent_since_ms,
                self._held_until_ms.get(member.member_id, 0),
                self.world.restarted_ms,
            )
            if now_ms > since_ms + SESSION_MS + _TICK_SLACK_MS:
                self.world.find(f"{member} is silent since {since_ms} ms, and still a member")

    # --- at the end ---

    def is_planned_otherwise(self, member: "SimulatedMember") -> bool:
        """Whether a static member came back to read other topics than the group's plan is for.

        With Kafka nothing follows while the group is stable, until something else calls for a rebalance
        (updateStaticMemberThenRebalanceOrCompleteJoin): whoever changes what it reads must see to one.
        """
        group = self.classic_group()
        if group is None or member.instance_id is None:
            return False
        planned = self._planned.get(group.generation_id, {}).get(member.instance_id)
        return planned is not None and planned != member.topics

    def look_at_the_end(self) -> None:
        """See that all is well again: who lives is in, all is assigned once, read and committed."""
        world = self.world
        living = [member for member in world.members if member.alive]
        ids = {member.member_id for member in living}
        if self.member_ids() != ids:
            world.find(f"the group has {sorted(self.member_ids())}, alive are {sorted(ids)}")
        self._look_at_partitions(living)
        group = self.consumer_group()
        if group is not None and group.state is not ConsumerGroupState.STABLE:
            world.find(f"the group is {group.state.value}")

    def _look_at_partitions(self, living: "list[SimulatedMember]") -> None:
        world = self.world
        readers: dict[Partition, list[SimulatedMember]] = {}
        for member in living:
            for partition in member.reading:
                readers.setdefault(partition, []).append(member)
        for topic in world.topics.by_name.values():
            able = [member for member in living if topic.name in member.topics]
            for index, end in enumerate(topic.ends):
                who = readers.pop(Partition(topic.topic_id, index), [])
                if len(who) != bool(able) or not set(who) <= set(able):
                    world.find(f"{index} of {topic.name} is read by {who}; subscribed are {able}")
                if not able:
                    continue
                if topic.processed[index] != end:
                    world.find(f"{index} of {topic.name} is processed to {topic.processed[index]} of {end}")
                if end and self._stored.get((topic.name, index)) != (topic.topic_id, end):
                    stored = self._stored.get((topic.name, index))
                    world.find(f"{index} of {topic.name} is committed as {stored}, ends at {end}")
        if readers:
            world.find(f"what does not exist is read: {readers}")

    # --- the group ---

    def classic_group(self) -> ClassicGroup | None:
        return self.world.shard.volatile.classic_groups.get(GROUP)

    def consumer_group(self) -> ConsumerGroup | None:
        return self.world.shard.durable.consumer_groups.get(GROUP)

    def member_ids(self) -> set[str]:
        """The members of the group, of whichever kind it is."""
        classic, consumer = self.classic_group(), self.consumer_group()
        if classic is not None:
            return set(classic.members)
        return set() if consumer is None else set(consumer.members)

    def epoch_of(self, member_id: str) -> int:
        """The generation of the classic group, or the epoch of a consumer group's member."""
        classic, consumer = self.classic_group(), self.consumer_group()
        if classic is not None:
            return classic.generation_id
        return -1 if consumer is None else consumer.members[member_id].member_epoch


def _read_by_static_members(group: ClassicGroup) -> dict[str, frozenset[str]]:
    return {
        member.group_instance_id: plans.read_subscription(member.protocols[0][1]).topics
        for member in group.members.values()
        if member.group_instance_id is not None
    }
