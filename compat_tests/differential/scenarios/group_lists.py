"""ListGroups and DescribeGroups, with every filter.

Called by `run`. Source: KIP-518 (states), KIP-848 and KIP-1043 (types, v6 says that a group is not there).
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.groups import Asker, Filters, await_groups, list_groups
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.describe_groups import DescribeGroupsRequest
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
from wirekafka.protocol.apis.offset_commit import OffsetCommitRequest

OPERATIONS = 3
FILTERS = Filters(
    states=(["Empty"], ["Stable"], ["empty"], ["STABLE"], ["none"], ["Dead"], [""], ["Stable", "Empty"]),
    types=(["classic"], ["Classic"], ["consumer"], ["none"], [""], ["share"], ["classic", "consumer"]),
    states_of_one_type=(["Empty"], ["none"]),
    one_type="classic",
)
OURS = ("listed-stable", "listed-simple", "listed-joining")


def group_lists(side: Side) -> None:
    """List and describe a stable group, an empty one and one between generations."""
    await_groups(side)
    stable = Asker(side, OURS[0], 9)
    member = stable.join_fully("join").member_id
    stable.sync("sync", member)
    side.arrange(OffsetCommitRequest(group_id=OURS[1], member_id="", topics=[]), 9)
    Asker(side, OURS[2], 9).join_fully("join of the third")
    for version in every(ListGroupsRequest):
        list_groups(side, version, OURS, FILTERS)
    for version in every(DescribeGroupsRequest):
        _describe(side, version)


def _describe(side: Side, version: int) -> None:
    requests = {
        "none": DescribeGroupsRequest(groups=[]),
        "three": DescribeGroupsRequest(groups=list(OURS)),
        "one twice": DescribeGroupsRequest(groups=[OURS[0], OURS[0]]),
        "not there": DescribeGroupsRequest(groups=["unknown"]),
        "empty": DescribeGroupsRequest(groups=[""]),
        "there and not there": DescribeGroupsRequest(groups=[OURS[1], "unknown", ""]),
    }
    if version >= OPERATIONS:
        for name, groups in (("three", list(OURS)), ("not there", ["unknown"]), ("empty", [""])):
            request = DescribeGroupsRequest(groups=groups, include_authorized_operations=True)
            requests[f"operations of {name}"] = request
    side.ask_each({f"describe {label}": request for label, request in requests.items()}, version)
