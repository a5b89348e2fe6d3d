"""The settings of one consumer group: the broker's, or the group's own within the broker's limits.

Asked for by the turn each time that one is needed, so a change holds from the next heartbeat on.

Source: Kafka's GroupConfig (consumer.*) and its clamping to the group.consumer.min and max settings.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wirekafka.groups.config import GroupConfig

Overrides = Mapping[str, object]
"""A group's own settings by Kafka's names."""

OverridesOf = Callable[[str], Overrides]


def no_overrides(group_id: str) -> Overrides:
    """Say that a group has no settings of its own."""
    return {}


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """The times that hold for one group."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    """How long a target holds at the least before the next is computed."""


def settings_of(config: GroupConfig, overrides: Overrides) -> ConsumerSettings:
    """Work out what holds for a group."""
    if not overrides:
        return ConsumerSettings(
            config.group_consumer_session_timeout_ms,
            config.group_consumer_heartbeat_interval_ms,
            config.group_consumer_assignment_interval_ms,
        )
    return ConsumerSettings(
        session_timeout_ms=_within(
            overrides.get("consumer.session.timeout.ms"),
            config.group_consumer_session_timeout_ms,
            config.group_consumer_min_session_timeout_ms,
            config.group_consumer_max_session_timeout_ms,
        ),
        heartbeat_interval_ms=_within(
            overrides.get("consumer.heartbeat.interval.ms"),
            config.group_consumer_heartbeat_interval_ms,
            config.group_consumer_min_heartbeat_interval_ms,
            config.group_consumer_max_heartbeat_interval_ms,
        ),
        assignment_interval_ms=_within(
            overrides.get("consumer.assignment.interval.ms"),
            config.group_consumer_assignment_interval_ms,
            config.group_consumer_min_assignment_interval_ms,
            config.group_consumer_max_assignment_interval_ms,
        ),
    )


def _within(own: object, broker_wide: int, lowest: int, highest: int) -> int:
    if not isinstance(own, int):
        return broker_wide
    return min(max(own, lowest), highest)
