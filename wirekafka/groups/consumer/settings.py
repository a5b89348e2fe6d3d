"""The settings of one consumer group: the broker's, or what the group has of its own.

Asked for by the turn each time that one is needed, so a change holds from the next heartbeat on.

Source: Kafka's GroupConfig (consumer.*).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wirekafka.groups.config import GroupConfig

Overrides = Mapping[str, object]
"""A group's own settings by Kafka's names, within the bounds that the broker's settings give them."""

OverridesOf = Callable[[str], Overrides]
"""Gives the own settings of a group, by its id."""


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
    return ConsumerSettings(
        _own_ms(overrides, "consumer.session.timeout.ms", config.group_consumer_session_timeout_ms),
        _own_ms(overrides, "consumer.heartbeat.interval.ms", config.group_consumer_heartbeat_interval_ms),
        _own_ms(overrides, "consumer.assignment.interval.ms", config.group_consumer_assignment_interval_ms),
    )


def _own_ms(overrides: Overrides, name: str, broker_wide_ms: int) -> int:
    own = overrides.get(name, broker_wide_ms)
    assert isinstance(own, int)
    return own
