"""What groups go by: the broker's settings as a `GroupConfig`, and what a group has of its own.

`coordination` makes the config for its shards, again when the broker's settings change; `broker` makes what
they ask for a group's own settings.

Source: Kafka's GroupCoordinatorConfig and GroupConfigManager.
"""

from collections.abc import Callable, Mapping

from wirekafka.groups import GroupConfig, MigrationPolicy, OverridesOf
from wirekafka.metadata import ConfigValue, MetadataImage, Settings
from wirekafka.metadata.configs.broker_groups import ASSIGNOR_NAMES
from wirekafka.metadata.configs.settings import Source
from wirekafka.metadata.group_settings import effective_overrides
from wirekafka.metadata.image import GROUP_RESOURCE

_NO_OVERRIDES: Mapping[str, ConfigValue] = {}


def group_config(settings: Settings) -> GroupConfig:
    """Read what holds for groups from Kafka's property names."""
    policy = str(settings["group.consumer.migration.policy"])
    assignors = settings.get_list("group.consumer.assignors")
    return GroupConfig(
        group_min_session_timeout_ms=settings.get_int("group.min.session.timeout.ms"),
        group_max_session_timeout_ms=settings.get_int("group.max.session.timeout.ms"),
        group_initial_rebalance_delay_ms=settings.get_int("group.initial.rebalance.delay.ms"),
        group_max_size=settings.get_int("group.max.size"),
        heartbeat_hold_max_ms=settings.get_int("wirekafka.heartbeat.hold.max.ms"),
        offset_metadata_max_bytes=settings.get_int("offset.metadata.max.bytes"),
        offsets_retention_ms=settings.get_int("offsets.retention.minutes") * 60_000,
        offsets_retention_check_interval_ms=settings.get_int("offsets.retention.check.interval.ms"),
        group_consumer_session_timeout_ms=settings.get_int("group.consumer.session.timeout.ms"),
        group_consumer_heartbeat_interval_ms=settings.get_int("group.consumer.heartbeat.interval.ms"),
        consumer_heartbeat_fastest_ms=_fastest_ms(settings),
        group_consumer_assignment_interval_ms=settings.get_int("group.consumer.assignment.interval.ms"),
        group_consumer_regex_refresh_interval_ms=settings.get_int("group.consumer.regex.refresh.interval.ms"),
        group_consumer_max_size=settings.get_int("group.consumer.max.size"),
        group_consumer_assignors=tuple(ASSIGNOR_NAMES.get(name, name) for name in assignors),
        group_consumer_migration_policy=MigrationPolicy(policy.lower()),
    )


def _fastest_ms(settings: Settings) -> int:
    """A heartbeat interval that somebody has set holds for any number of members."""
    is_usual = settings.source("group.consumer.heartbeat.interval.ms") is Source.DEFAULT
    return settings.get_int("wirekafka.consumer.heartbeat.fastest.ms") if is_usual else 0


def overrides_of(image: MetadataImage, settings: Callable[[], Settings]) -> OverridesOf:
    """Make what a shard asks for a group's own settings; a change of them holds from the next question on."""

    def overrides(group_id: str) -> Mapping[str, ConfigValue]:
        own = image.configs(GROUP_RESOURCE, group_id)
        return effective_overrides(own, settings()) if own else _NO_OVERRIDES

    return overrides
