"""DeleteGroups and OffsetDelete, of groups of both protocols, empty, at work, and not there.

Called by `run`. Source: KIP-229 (DeleteGroups), KIP-496 (OffsetDelete).
"""

from __future__ import annotations

from collections.abc import Sequence

from compat_tests.differential.asked_versions import every
from compat_tests.differential.consumer_groups import (
    ConsumerGroup,
    create_topic_for_groups,
)
from compat_tests.differential.groups import Asker, await_groups, subscription
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from wirekafka.protocol.apis.delete_groups import DeleteGroupsRequest
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from wirekafka.protocol.apis.offset_delete import (
    OffsetDeletePartition,
    OffsetDeleteRequest,
    OffsetDeleteTopic,
)
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

Places = Sequence[tuple[str, Sequence[int]]]


def deleting_groups(side: Side) -> None:
    """Delete offsets, then the groups, in every version and state."""
    await_groups(side)
    one, two = (
        create_topic_for_groups(side, "deleted-offsets", 2),
        create_topic_for_groups(side, "deleted-offsets-too", 1),
    )
    for version in every(DeleteGroupsRequest):
        side.stands.begin()
        prefix = f"deleted-{version}"
        _commit(side, f"{prefix}-simple", one, two)
        _classic(side, f"{prefix}-classic", version, one, two)
        _consumer(side, f"{prefix}-consumer", version, one, two)
        _many(side, prefix, version)
    _offsets_of_what_is_not_there(side)


def _commit(side: Side, group: str, *topics: Topic, member_id: str = "", epoch: int = -1) -> None:
    wanted = [
        OffsetCommitRequestTopic(
            name=topic.name,
            partitions=[
                OffsetCommitRequestPartition(partition_index=0, committed_offset=3, committed_metadata="m")
            ],
        )
        for topic in topics
    ]
    request = OffsetCommitRequest(
        group_id=group, member_id=member_id, generation_id_or_member_epoch=epoch, topics=wanted
    )
    side.arrange(request, 9)


def _delete(side: Side, label: str, version: int, *groups: str) -> None:
    side.ask(label, DeleteGroupsRequest(groups_names=list(groups)), version)


def _delete_offsets(side: Side, label: str, group: str, places: Places) -> None:
    topics = [
        OffsetDeleteTopic(
            name=name, partitions=[OffsetDeletePartition(partition_index=index) for index in indexes]
        )
        for name, indexes in places
    ]
    side.ask(f"{group}: {label}", OffsetDeleteRequest(group_id=group, topics=topics), 0)


def _fetch(side: Side, label: str, group: str) -> None:
    wanted = OffsetFetchRequestGroup(group_id=group, topics=None)
    side.ask(f"{group}: {label}", OffsetFetchRequest(groups=[wanted]), 9)


def _classic(side: Side, group: str, version: int, one: Topic, two: Topic) -> None:
    asker = Asker(side, group, 9)
    protocols = (("range", subscription(one.name)),)
    member = asker.join_fully(f"{group}: join", protocols=protocols).member_id
    _delete(side, f"{group}: completing", version, group)
    _delete_offsets(side, "offsets while completing", group, [(one.name, [0]), (two.name, [0])])
    asker.sync(f"{group}: sync", member)
    _commit(side, group, one, two, member_id=member, epoch=1)
    _delete(side, f"{group}: stable", version, group)
    _delete_offsets(side, "offsets while stable", group, [(one.name, [0, 1]), (two.name, [0, 7])])
    _fetch(side, "offsets that are left", group)
    asker.leave(f"{group}: leave", (member, None))
    _delete_offsets(side, "offsets of the empty group", group, [(one.name, [0])])
    _commit(side, group, one)
    _delete(side, f"{group}: empty", version, group)
    _fetch(side, "offsets of a group that was deleted", group)
    asker.describe(f"{group}: describe what was deleted")
    _delete(side, f"{group}: again", version, group)
    other = Asker(side, f"{group}-other", 9)
    member = other.join_fully(f"{group}: join by another type", protocol_type="connect").member_id
    other.sync(f"{group}: sync by another type", member, protocol=("connect", "range"))
    _commit(side, other.group, one, member_id=member, epoch=1)
    _delete_offsets(side, "offsets by another type", other.group, [(one.name, [0])])
    _delete(side, f"{group}: of another type", version, other.group)


def _consumer(side: Side, name: str, version: int, one: Topic, two: Topic) -> None:
    group = ConsumerGroup(side, name, 1)
    member = group.member("m")
    member.join(f"{name}: join", one.name)
    _commit(side, name, one, two, member_id="m", epoch=member.epoch)
    _delete(side, f"{name}: at work", version, name)
    _delete_offsets(side, "offsets at work", name, [(one.name, [0, 1]), (two.name, [0, 7])])
    _fetch(side, "offsets that are left", name)
    member.leave(f"{name}: leave")
    _delete_offsets(side, "offsets of the empty group", name, [(one.name, [0])])
    _commit(side, name, one)
    _delete(side, f"{name}: empty", version, name)
    _fetch(side, "offsets of a group that was deleted", name)
    group.describe(f"{name}: describe what was deleted")
    member.beat(f"{name}: beat of what was deleted")
    member.join(f"{name}: join after that", one.name)
    group.describe(f"{name}: describe the new one")


def _many(side: Side, prefix: str, version: int) -> None:
    _delete(side, "none", version)
    _delete(side, "empty group", version, "")
    _delete(side, "unknown", version, "unknown")
    _delete(side, "unknown twice", version, "unknown", "unknown")
    _delete(
        side, "many", version, f"{prefix}-simple", f"{prefix}-consumer", "unknown", "", f"{prefix}-classic"
    )
    _commit(side, f"{prefix}-twice", Topic("deleted-offsets"))
    _delete(side, "one twice", version, f"{prefix}-twice", f"{prefix}-twice")


def _offsets_of_what_is_not_there(side: Side) -> None:
    group = "deleted-offsets"
    _commit(side, group, Topic("deleted-offsets"))
    for label, name, places in (
        ("of an unknown group", "unknown-group", [("deleted-offsets", [0])]),
        ("of the empty group id", "", [("deleted-offsets", [0])]),
        ("of an unknown topic", group, [("unknown", [0, 1])]),
        ("of an unknown partition", group, [("deleted-offsets", [7, -1])]),
        ("never committed", group, [("deleted-offsets-too", [0])]),
        ("no topics", group, []),
        ("no topics of an unknown group", "unknown-group", []),
        ("no partitions", group, [("deleted-offsets", [])]),
        ("good and unknown", group, [("deleted-offsets", [0, 7]), ("unknown", [0])]),
        ("twice", group, [("deleted-offsets", [0, 0])]),
        ("topic twice", group, [("deleted-offsets", [0]), ("deleted-offsets", [1])]),
    ):
        _delete_offsets(side, label, name, places)
    _fetch(side, "nothing is left", group)
