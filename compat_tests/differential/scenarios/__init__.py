"""The script: scenarios by subject, in the order in which they run.

A scenario asks one broker; `run` lets each scenario ask both. The order is part of the script: what
one scenario leaves behind, the next ones find, on both brokers alike.
Source: one subject a file.
"""

from __future__ import annotations

from collections.abc import Callable

from compat_tests.differential.scenarios.altering import altering
from compat_tests.differential.scenarios.altering_others import altering_others
from compat_tests.differential.scenarios.assigning import assigning
from compat_tests.differential.scenarios.both_kinds import both_kinds
from compat_tests.differential.scenarios.classic_corners import classic_corners
from compat_tests.differential.scenarios.cluster import cluster
from compat_tests.differential.scenarios.configs import configs
from compat_tests.differential.scenarios.coordinators import coordinators
from compat_tests.differential.scenarios.creating import creating
from compat_tests.differential.scenarios.deleting import deleting
from compat_tests.differential.scenarios.deleting_groups import deleting_groups
from compat_tests.differential.scenarios.deleting_records import deleting_records
from compat_tests.differential.scenarios.fetching import fetching
from compat_tests.differential.scenarios.frames import frames
from compat_tests.differential.scenarios.group_lists import group_lists
from compat_tests.differential.scenarios.group_settings import group_settings
from compat_tests.differential.scenarios.group_sizes import group_sizes
from compat_tests.differential.scenarios.growing import growing
from compat_tests.differential.scenarios.heartbeats import heartbeats
from compat_tests.differential.scenarios.idempotence import idempotence
from compat_tests.differential.scenarios.joining import joining
from compat_tests.differential.scenarios.leader_epochs import leader_epochs
from compat_tests.differential.scenarios.listing_offsets import listing_offsets
from compat_tests.differential.scenarios.member_offsets import member_offsets
from compat_tests.differential.scenarios.metadata import metadata
from compat_tests.differential.scenarios.mixing import (
    mixing,
    mixing_disabled,
    mixing_downgrade,
    mixing_upgrade,
)
from compat_tests.differential.scenarios.offset_commits import offset_commits
from compat_tests.differential.scenarios.offset_fetches import offset_fetches
from compat_tests.differential.scenarios.producer_ids import producer_ids
from compat_tests.differential.scenarios.producing import producing
from compat_tests.differential.scenarios.rebalancing import rebalancing
from compat_tests.differential.scenarios.recompressing import recompressing
from compat_tests.differential.scenarios.reconciling import reconciling
from compat_tests.differential.scenarios.rewriting import rewriting
from compat_tests.differential.scenarios.sessions import sessions
from compat_tests.differential.scenarios.static_consumers import static_consumers
from compat_tests.differential.scenarios.static_members import static_members
from compat_tests.differential.scenarios.subscriptions import subscriptions
from compat_tests.differential.scenarios.uncoordinated import uncoordinated
from compat_tests.differential.scenarios.versions import versions
from compat_tests.differential.side import Side

SCENARIOS: dict[str, Callable[[Side], None]] = {
    scenario.__name__: scenario
    for scenario in (
        versions,
        frames,
        cluster,
        metadata,
        creating,
        deleting,
        growing,
        configs,
        altering,
        altering_others,
        producing,
        idempotence,
        rewriting,
        recompressing,
        fetching,
        sessions,
        listing_offsets,
        deleting_records,
        leader_epochs,
        producer_ids,
        uncoordinated,
        coordinators,
        joining,
        rebalancing,
        static_members,
        classic_corners,
        offset_commits,
        offset_fetches,
        group_lists,
        heartbeats,
        reconciling,
        assigning,
        subscriptions,
        static_consumers,
        member_offsets,
        deleting_groups,
        both_kinds,
        group_settings,
        mixing,
        mixing_disabled,
        mixing_upgrade,
        mixing_downgrade,
        group_sizes,
    )
}
SETTINGS_OF: dict[str, dict[str, str]] = {
    "mixing_disabled": {"group.consumer.migration.policy": "disabled"},
    "mixing_upgrade": {"group.consumer.migration.policy": "upgrade"},
    "mixing_downgrade": {"group.consumer.migration.policy": "downgrade"},
    "group_sizes": {"group.max.size": "2", "group.consumer.max.size": "2"},
}
"""What brokers of its own a scenario needs: settings that cannot be changed while they run."""
