"""The tables of group and client metrics settings."""

import pytest

from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.definition import ConfigDefinition, ConfigType
from wirekafka.metadata.configs.group import CLIENT_METRICS_CONFIGS, GROUP_CONFIGS, bounds_of, group_synonym


@pytest.mark.parametrize(
    "definition",
    [*GROUP_CONFIGS.values(), *CLIENT_METRICS_CONFIGS.values()],
    ids=lambda definition: definition.name,
)
def test_default_is_a_value_that_may_be_given(definition: ConfigDefinition) -> None:
    """A default, written out, parses to itself and passes its own check."""
    text = definition.format(definition.default)

    assert text is None or definition.parse(text) == definition.default


@pytest.mark.parametrize("name", GROUP_CONFIGS)
def test_synonym_is_a_broker_setting_of_the_same_kind(name: str) -> None:
    """Only the assignor differs: a group has one, the broker a list of them."""
    synonym = group_synonym(name)
    kinds = None if synonym is None else (GROUP_CONFIGS[name].type, BROKER_CONFIGS[synonym].type)

    if name == "streams.assignor.name":
        assert kinds == (ConfigType.STRING, ConfigType.LIST)
    else:
        assert kinds is None or kinds[0] is kinds[1]


def test_some_group_settings_have_no_broker_setting_behind_them() -> None:
    """GroupConfig.brokerSynonym."""
    assert sum(group_synonym(name) is None for name in GROUP_CONFIGS) == 5


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        (
            "consumer.session.timeout.ms",
            ("group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
        ),
        (
            "streams.num.standby.replicas",
            ("group.streams.min.standby.replicas", "group.streams.max.standby.replicas"),
        ),
        ("errors.deadletterqueue.topic.name", None),
    ],
)
def test_bounds_have_the_settings_name(name: str, bounds: tuple[str, str] | None) -> None:
    assert bounds_of(name) == bounds
