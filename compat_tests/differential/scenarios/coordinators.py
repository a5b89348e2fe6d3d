"""FindCoordinator: for groups, for what is none, one key and many.

Called by `run`, before all other scenarios with groups: the first ask creates __consumer_offsets.
Source: KIP-98 (types), KIP-699 (many keys), KIP-890, KIP-932 (share).
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.find_coordinator import FindCoordinatorRequest
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic

GROUP, TRANSACTION, SHARE = 0, 1, 2
FIRST_WITH_TYPES, FIRST_WITH_KEYS = 1, 4


def coordinators(side: Side) -> None:
    """Find the coordinator in every version."""
    side.ask("the first ask ever", FindCoordinatorRequest(key="g"), 2)
    await_groups(side)
    for version in every(FindCoordinatorRequest):
        if version < FIRST_WITH_KEYS:
            _one(side, version)
        else:
            _many(side, version)
    internal = MetadataRequest(topics=[MetadataRequestTopic(name="__consumer_offsets")])
    for version in (0, 1, 9, 13):
        side.ask("metadata of the internal topic", internal, version)


def _one(side: Side, version: int) -> None:
    side.ask("group", FindCoordinatorRequest(key="g"), version)
    side.ask("empty group", FindCoordinatorRequest(key=""), version)
    for key_type in (TRANSACTION, SHARE, 3, 9, -1) if version >= FIRST_WITH_TYPES else ():
        side.ask(f"type {key_type}", FindCoordinatorRequest(key="g", key_type=key_type), version)


def _many(side: Side, version: int) -> None:
    for label, keys in {
        "group": ["g"],
        "empty group": [""],
        "four": ["a", "b", "a", ""],
        "none": [],
    }.items():
        side.ask(label, FindCoordinatorRequest(coordinator_keys=keys), version)
    for key_type in (TRANSACTION, SHARE, 3, 9, -1):
        request = FindCoordinatorRequest(coordinator_keys=["g"], key_type=key_type)
        side.ask(f"type {key_type}", request, version)
    for key in ("g:AAAAAAAAAAAAAAAAAAAAAQ:0", "g:not-an-id:0", "g", ":AAAAAAAAAAAAAAAAAAAAAQ:0", "g:x"):
        request = FindCoordinatorRequest(coordinator_keys=[key], key_type=SHARE)
        side.ask(f"share key {key}", request, version)
