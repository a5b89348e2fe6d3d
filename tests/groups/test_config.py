"""Tests of groups/config.py."""

from wirekafka.groups.config import GroupConfig, MigrationPolicy


def test_defaults_are_kafkas() -> None:
    """GroupCoordinatorConfig's defaults; retention is 7 days given in minutes there."""
    config = GroupConfig()

    assert (config.group_min_session_timeout_ms, config.group_max_session_timeout_ms) == (6_000, 1_800_000)
    assert config.group_initial_rebalance_delay_ms == 3_000
    assert config.group_max_size == 2**31 - 1
    assert config.offset_metadata_max_bytes == 4096
    assert config.offsets_retention_ms == 10_080 * 60_000
    assert config.offsets_retention_check_interval_ms == 600_000


def test_defaults_of_consumer_groups_are_kafkas() -> None:
    """Sessions of 45 s, heartbeats each 5 s, a new target once a second at the most."""
    config = GroupConfig()

    assert config.group_consumer_session_timeout_ms == 45_000
    assert config.group_consumer_heartbeat_interval_ms == 5_000
    assert config.group_consumer_assignment_interval_ms == 1_000
    assert config.group_consumer_regex_refresh_interval_ms == 600_000
    assert config.group_consumer_max_size == 2**31 - 1
    assert config.group_consumer_assignors == ("uniform", "range")


def test_migration_policy_says_which_way_groups_may_go() -> None:
    """KIP-848: both by default."""
    ways = {policy.value: (policy.allows_upgrade, policy.allows_downgrade) for policy in MigrationPolicy}

    assert GroupConfig().group_consumer_migration_policy is MigrationPolicy.BIDIRECTIONAL
    assert ways == {
        "bidirectional": (True, True),
        "upgrade": (True, False),
        "downgrade": (False, True),
        "disabled": (False, False),
    }
