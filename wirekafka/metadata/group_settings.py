"""What a group's own settings come to, within the bounds of the broker's.

Asked by `broker.group_settings` for each decision that goes by them. They were within the bounds when they
were made; a broker that is started with narrower bounds goes by its own, as Kafka does.

Source: Kafka's GroupConfigManager.updateGroupConfig and GroupConfig.evaluate.
"""

from collections.abc import Iterator, Mapping

from wirekafka.metadata.configs.definition import ConfigError, ConfigValue
from wirekafka.metadata.configs.group import GROUP_CONFIGS, bounds_of
from wirekafka.metadata.configs.settings import Settings


def effective_overrides(own: Mapping[str, str], settings: Settings) -> Mapping[str, ConfigValue]:
    """Give the values of a group's own settings that hold on a broker with `settings`."""
    return dict(_effective(own, settings))


def _effective(own: Mapping[str, str], settings: Settings) -> Iterator[tuple[str, ConfigValue]]:
    for name, text in own.items():
        definition = GROUP_CONFIGS.get(name)
        if definition is None:
            continue
        try:
            value = definition.parse(text)
        except ConfigError:
            # An Apache Kafka that allows other values wrote in this folder: the broker's setting holds.
            continue
        yield name, _within_bounds(name, value, settings)


def _within_bounds(name: str, value: ConfigValue, settings: Settings) -> ConfigValue:
    bounds = bounds_of(name)
    if bounds is None or not isinstance(value, int):
        return value
    least, most = bounds
    if least in settings:
        value = max(value, settings.get_int(least))
    if most in settings:
        value = min(value, settings.get_int(most))
    return value
