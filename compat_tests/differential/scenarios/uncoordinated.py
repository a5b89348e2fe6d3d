"""Group requests while no broker coordinates groups: __consumer_offsets is not there yet.

Called by `run`, before the first scenario that asks for a coordinator.
Source: Kafka's GroupCoordinatorService, which looks at the request before it looks for the partition.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every, spread
from compat_tests.differential.consumer_groups import ConsumerGroup
from compat_tests.differential.groups import Asker
from compat_tests.differential.side import Side
from compat_tests.differential.topics import UNKNOWN_ID
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from wirekafka.protocol.apis.delete_groups import DeleteGroupsRequest
from wirekafka.protocol.apis.join_group import JoinGroupRequest
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
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
from wirekafka.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

TOPIC = "metadata-one"
GROUPS_IN_FETCH, IDS = 8, 10


def uncoordinated(side: Side) -> None:
    """Send what groups send, to an empty and to a good group id."""
    for version in spread(JoinGroupRequest, 5):
        asker = Asker(side, "uncoordinated", version)
        for group in ("uncoordinated", ""):
            told = f"group {group!r}"
            asker.join(f"join, {told}", group=group)
            asker.join(f"join with a short session, {told}", group=group, session_ms=1)
            asker.sync(f"sync, {told}", "m", group=group)
            asker.heartbeat(f"heartbeat, {told}", "m", group=group)
            asker.leave(f"leave, {told}", ("m", None), group=group)
            asker.describe(f"describe, {told}", group, operations=True)
    for version in spread(OffsetCommitRequest):
        for group in ("uncoordinated", ""):
            side.ask(f"commit, group {group!r}", _commit(version, group), version)
    for version in spread(OffsetFetchRequest):
        for group in ("uncoordinated", ""):
            for label, everything in (("fetch", False), ("fetch all", True)):
                if not everything or version > 1:
                    side.ask(f"{label}, group {group!r}", _fetch(version, group, everything), version)
    for version in spread(ListGroupsRequest):
        side.ask("list", ListGroupsRequest(), version)
    for version in every(ConsumerGroupHeartbeatRequest):
        for name in ("uncoordinated", ""):
            newer = ConsumerGroup(side, name, version)
            newer.join(f"join as new, group {name!r}", "m", TOPIC)
            newer.beat(f"beat as new, group {name!r}", "m", 1)
            newer.describe(f"describe as new, group {name!r}", operations=True)
    for version in every(DeleteGroupsRequest):
        side.ask("delete", DeleteGroupsRequest(groups_names=["uncoordinated", ""]), version)
    for name in ("uncoordinated", ""):
        topic = OffsetDeleteTopic(name=TOPIC, partitions=[OffsetDeletePartition(partition_index=0)])
        side.ask(f"delete offsets, group {name!r}", OffsetDeleteRequest(group_id=name, topics=[topic]), 0)


def _commit(version: int, group: str) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
    topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
    if version >= IDS:
        topic.topic_id = UNKNOWN_ID
    return OffsetCommitRequest(group_id=group, member_id="", topics=[topic])


def _fetch(version: int, group: str, everything: bool) -> OffsetFetchRequest:
    if version < GROUPS_IN_FETCH:
        named = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])]
        return OffsetFetchRequest(group_id=group, topics=None if everything else named)
    wanted = [OffsetFetchRequestTopics(name=TOPIC, topic_id=UNKNOWN_ID, partition_indexes=[0])]
    one = OffsetFetchRequestGroup(group_id=group, topics=None if everything else wanted)
    return OffsetFetchRequest(groups=[one])
