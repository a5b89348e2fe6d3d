"""The settings of consumer groups, with Kafka's defaults.

Made by `broker.group_settings` from Kafka's property names; every turn has them at hand.

Source: Kafka's GroupCoordinatorConfig.
"""

from dataclasses import dataclass
from enum import Enum

DAY_MS = 24 * 60 * 60 * 1000


class MigrationPolicy(Enum):
    """Between which kinds a group with members may be converted; an empty one always may."""

    BIDIRECTIONAL = "bidirectional"
    """Both ways."""
    UPGRADE = "upgrade"
    """From a classic group to a consumer group only."""
    DOWNGRADE = "downgrade"
    """From a consumer group to a classic group only."""
    DISABLED = "disabled"
    """Neither way."""

    @property
    def allows_upgrade(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)

    @property
    def allows_downgrade(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """Limits and times of groups; each field is Kafka's property name with its unit spelled out."""

    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 1_800_000
    group_initial_rebalance_delay_ms: int = 3_000
    group_max_size: int = 2_147_483_647
    heartbeat_hold_max_ms: int = 0
    """How long the answer to a Heartbeat may wait for news; 0: not at all, as in Kafka."""
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = 7 * DAY_MS
    offsets_retention_check_interval_ms: int = 600_000
    group_consumer_session_timeout_ms: int = 45_000
    group_consumer_heartbeat_interval_ms: int = 5_000
    consumer_heartbeat_fastest_ms: int = 0
    """The heartbeat interval while there are few members; 0: the same for any number, as in Kafka."""
    group_consumer_assignment_interval_ms: int = 1_000
    group_consumer_regex_refresh_interval_ms: int = 600_000
    group_consumer_max_size: int = 2_147_483_647
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    """By name; the first one is taken where members ask for none."""
    group_consumer_migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
