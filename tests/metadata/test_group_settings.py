"""group_settings: what a group's own settings come to."""

import pytest

from wirekafka.metadata import ConfigValue, Settings
from wirekafka.metadata.group_settings import effective_overrides

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


@pytest.mark.parametrize(
    ("own", "effective"),
    [
        ({SESSION: "50000"}, {SESSION: 50_000}),
        ({SESSION: "1"}, {SESSION: 45_000}),
        ({SESSION: "999999"}, {SESSION: 60_000}),
        ({HEARTBEAT: "99999", SESSION: "50000"}, {HEARTBEAT: 15_000, SESSION: 50_000}),
        ({"consumer.assignor.offload.enable": "false"}, {"consumer.assignor.offload.enable": False}),
        ({"share.isolation.level": "read_committed"}, {"share.isolation.level": "read_committed"}),
        ({"streams.task.offset.interval.ms": "1"}, {"streams.task.offset.interval.ms": 15_000}),
        ({"share.delivery.count.limit": "99"}, {"share.delivery.count.limit": 10}),
        ({SESSION: "never", HEARTBEAT: "6000"}, {HEARTBEAT: 6_000}),
        ({"of.a.later.version": "5"}, {}),
        ({}, {}),
    ],
)
def test_groups_settings_hold_within_the_brokers_bounds(
    own: dict[str, str], effective: dict[str, ConfigValue]
) -> None:
    """GroupConfig.evaluate. What nobody can read leaves the broker's setting in force."""
    assert effective_overrides(own, Settings.load("", {})) == effective


def test_bounds_are_those_the_broker_was_given() -> None:
    settings = Settings.load("", {"group.consumer.max.session.timeout.ms": "70000"})

    assert effective_overrides({SESSION: "80000"}, settings) == {SESSION: 70_000}
