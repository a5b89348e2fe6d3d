"""ListGroups, DescribeGroups and ConsumerGroupDescribe where there are groups of both protocols.

Called by `run`. Source: KIP-518 (states), KIP-848 (types), KIP-1043 (v6 says what is wrong with a group).
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.consumer_groups import (
    ConsumerGroup,
    create_topic_for_groups,
)
from compat_tests.differential.groups import Asker, Filters, await_groups, list_groups, subscription
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from wirekafka.protocol.apis.consumer_group_describe import ConsumerGroupDescribeRequest
from wirekafka.protocol.apis.describe_groups import DescribeGroupsRequest
from wirekafka.protocol.apis.list_groups import ListGroupsRequest

OPERATIONS = 3
CLASSIC_KIND, STABLE, EMPTY, ASSIGNING, RECONCILING = OURS = tuple(
    f"kind-{name}" for name in ("classic", "stable", "empty", "assigning", "reconciling")
)
FILTERS = Filters(
    states=(["stable"], ["Empty"], ["ASSIGNING"], ["reconciling"], ["Dead"], ["Assigning", "Empty"]),
    types=(["consumer"], ["Consumer"], ["CLASSIC"], ["consumer", "classic"], ["streams"], ["unknown"]),
    states_of_one_type=(["Stable"], ["assigning"]),
    one_type="consumer",
)


def both_kinds(side: Side) -> None:
    """List and describe groups of both kinds, those of the new one in every state."""
    await_groups(side)
    topic = create_topic_for_groups(side, "kinds", 2)
    _make(side, topic)
    for version in every(ListGroupsRequest):
        list_groups(side, version, OURS, FILTERS)
    for version in every(DescribeGroupsRequest):
        for operations in (False, True) if version >= OPERATIONS else (False,):
            request = DescribeGroupsRequest(groups=[*OURS], include_authorized_operations=operations)
            side.ask(f"describe all, operations {operations}", request, version)
    for version in every(ConsumerGroupDescribeRequest):
        for operations in (False, True):
            groups = [*OURS, "unknown", ""]
            newer = ConsumerGroupDescribeRequest(group_ids=groups, include_authorized_operations=operations)
            side.ask(f"describe as new, operations {operations}", newer, version)


def _make(side: Side, topic: Topic) -> None:
    classic = Asker(side, CLASSIC_KIND, 9)
    member = classic.join_fully("classic joins", protocols=(("range", subscription(topic.name)),)).member_id
    classic.sync("classic syncs", member)
    for name in (STABLE, EMPTY, ASSIGNING, RECONCILING):
        group = ConsumerGroup(side, name, 1)
        first, second = group.member("m-a"), group.member("m-b")
        first.join(f"{name}: first joins", topic.name)
        if name == EMPTY:
            first.leave(f"{name}: first leaves")
        elif name != STABLE:
            second.join(f"{name}: second joins", topic.name)
        if name == ASSIGNING:
            second.leave(f"{name}: second leaves")
