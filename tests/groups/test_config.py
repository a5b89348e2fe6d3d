"""Tests of groups/config.py."""

from wirekafka.groups import GroupConfig


def test_defaults_are_kafkas() -> None:
    """GroupCoordinatorConfig's defaults; retention is 7 days given in minutes there."""
    config = GroupConfig()

    assert (config.group_min_session_timeout_ms, config.group_max_session_timeout_ms) == (6_000, 1_800_000)
    assert config.group_initial_rebalance_delay_ms == 3_000
    assert config.group_max_size == 2**31 - 1
    assert config.offset_metadata_max_bytes == 4096
    assert config.offsets_retention_ms == 10_080 * 60_000
    assert config.offsets_retention_check_interval_ms == 600_000
