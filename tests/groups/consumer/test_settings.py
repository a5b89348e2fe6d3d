"""Tests of groups/consumer/settings.py."""

from wirekafka.groups.config import GroupConfig
from wirekafka.groups.consumer.settings import ConsumerSettings, no_overrides, settings_of


def test_group_without_settings_of_its_own_has_the_brokers() -> None:
    """With Kafka's defaults."""
    assert settings_of(GroupConfig(), no_overrides("g")) == ConsumerSettings(45_000, 5_000, 1_000)


def test_groups_own_settings_hold_before_the_brokers() -> None:
    """One by one: what the group has none of is the broker's."""
    own = {
        "consumer.session.timeout.ms": 50_000,
        "consumer.assignment.interval.ms": 15_000,
    }

    assert settings_of(GroupConfig(), own) == ConsumerSettings(50_000, 5_000, 15_000)
