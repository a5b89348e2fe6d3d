"""group_settings: the settings of groups, from Kafka's property names."""

from dataclasses import fields, replace

import pytest

from wirekafka.broker.group_settings import group_config, overrides_of
from wirekafka.groups import GroupConfig, MigrationPolicy
from wirekafka.groups.consumer.assignors import ASSIGNORS
from wirekafka.metadata import MetadataImage, Settings
from wirekafka.metadata.configs.broker_groups import ASSIGNOR_NAMES
from wirekafka.protocol.stored.cluster_metadata import ConfigRecord

CONSUMER_TIMES = {
    "group.consumer.session.timeout.ms": "46000",
    "group.consumer.heartbeat.interval.ms": "7000",
    "group.consumer.assignment.interval.ms": "1001",
    "group.consumer.regex.refresh.interval.ms": "600001",
    "group.consumer.max.size": "7",
}


def test_defaults_are_kafkas() -> None:
    """Under the profile that has Kafka's defaults, those of the machine and of the table agree."""
    assert group_config(Settings.load("", {}, profile="kafka")) == GroupConfig()


def test_every_setting_of_consumer_groups_is_read() -> None:
    config = group_config(Settings.load("", CONSUMER_TIMES))

    read = {f.name: getattr(config, f.name) for f in fields(config) if f.name.startswith("group_consumer_")}
    given = {name.replace(".", "_"): int(text) for name, text in CONSUMER_TIMES.items()}
    assert {name: read[name] for name in given} == given
    assert read.keys() - given.keys() == {
        "group_consumer_assignors",
        "group_consumer_migration_policy",
    }


def test_classic_settings_are_read() -> None:
    given = {
        "group.min.session.timeout.ms": "1",
        "group.max.session.timeout.ms": "2",
        "group.initial.rebalance.delay.ms": "3",
        "group.max.size": "4",
        "offset.metadata.max.bytes": "5",
        "offsets.retention.minutes": "6",
        "offsets.retention.check.interval.ms": "7",
    }
    expected = {name.replace(".", "_"): int(text) for name, text in given.items()}
    expected["offsets_retention_ms"] = 60_000 * expected.pop("offsets_retention_minutes")

    config = group_config(Settings.load("", given))

    assert replace(config, **expected) == config  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["Upgrade", "UPGRADE", "upgrade"])
def test_policy_may_have_any_case(text: str) -> None:
    """ConsumerGroupMigrationPolicy.parse."""
    config = group_config(Settings.load("", {"group.consumer.migration.policy": text}))

    assert config.group_consumer_migration_policy is MigrationPolicy.UPGRADE


def test_assignor_may_be_named_by_kafkas_class() -> None:
    name = "org.apache.kafka.coordinator.group.assignor.RangeAssignor"
    config = group_config(Settings.load("", {"group.consumer.assignors": f"{name},uniform"}))

    assert config.group_consumer_assignors == ("range", "uniform")


def test_assignors_that_may_be_named_are_those_there_are() -> None:
    """The settings and the groups know them each for itself."""
    assert set(ASSIGNOR_NAMES.values()) == set(ASSIGNORS)


def test_groups_own_settings_hold_from_the_next_question_on() -> None:
    """Within the bounds of the broker's settings of that moment."""
    image, given = MetadataImage(), Settings.load("", {})
    ask = overrides_of(image, lambda: given)
    before = ask("g")
    image.apply(
        ConfigRecord(resource_type=32, resource_name="g", name="consumer.session.timeout.ms", value="70000")
    )

    assert dict(before) == {}
    assert ask("g") == {"consumer.session.timeout.ms": 60_000}
    assert dict(ask("other")) == {}


def test_heartbeats_of_consumer_groups_may_be_quick_in_the_dev_profile() -> None:
    """And an interval that somebody has set is kept for any number of members."""
    quick = group_config(Settings.load("", {}))
    chosen = group_config(Settings.load("", {"group.consumer.heartbeat.interval.ms": "6000"}))

    assert (quick.consumer_heartbeat_fastest_ms, quick.group_consumer_heartbeat_interval_ms) == (100, 5000)
    assert (chosen.consumer_heartbeat_fastest_ms, chosen.group_consumer_heartbeat_interval_ms) == (0, 6000)
