"""The settings of consumer groups, with Kafka's defaults.

Made by `broker.coordination` from Kafka's property names; read by every file of this room.

Source: Kafka's GroupCoordinatorConfig.
"""

from dataclasses import dataclass

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """Limits and times of groups; each field is Kafka's property name with its unit spelled out."""

    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 1_800_000
    group_initial_rebalance_delay_ms: int = 3_000
    group_max_size: int = 2_147_483_647
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = 7 * DAY_MS
    offsets_retention_check_interval_ms: int = 600_000
