"""Which setting holds for a topic: its own, or the broker's, or Kafka's default; and which it may have.

Used by `creation` (checks, and the settings told in the answer), `describing` and the machine.

Source: Kafka's LogConfig (fromProps, validate), KafkaConfig.extractLogConfigMap, KafkaConfigSchema.
"""

from collections.abc import Mapping
from types import MappingProxyType

from wirekafka.metadata.configs.definition import ConfigError, ConfigSource, ConfigValue
from wirekafka.metadata.configs.settings import Settings, Source
from wirekafka.metadata.configs.topic import TOPIC_CONFIGS, TOPIC_SYNONYMS
from wirekafka.protocol.apis.create_topics import CreatableTopicConfigs
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_TOLD_SOURCES = {
    Source.THIS_BROKER: ConfigSource.DYNAMIC_BROKER,
    Source.ALL_BROKERS: ConfigSource.DYNAMIC_DEFAULT_BROKER,
}


class TopicSettings:
    """The settings of topics on a broker with certain settings of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.defaults: Mapping[str, ConfigValue] = MappingProxyType(
            {name: self._default(name) for name in TOPIC_CONFIGS}
        )
        """What holds for a topic without settings of its own, by topic setting."""

    def effective(self, own: Mapping[str, str]) -> Mapping[str, ConfigValue]:
        """What holds for a topic with `own` settings, which were validated when they were made."""
        if not own:
            return self.defaults
        return dict(self.defaults) | {name: TOPIC_CONFIGS[name].parse(text) for name, text in own.items()}

    def validate(self, own: Mapping[str, str]) -> None:
        """Raise INVALID_CONFIG for an unknown name, a bad value, or values that contradict each other."""
        for name in own:
            if name not in TOPIC_CONFIGS:
                raise _invalid(f"Unknown topic config name: {name}")
        try:
            values = self.effective(own)
        except ConfigError as error:
            raise _invalid(error.message) from error
        _check_together(values)

    def describe(self, own: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        """Everything that holds for a topic with `own` settings, as CreateTopics tells it, by name."""
        values = self.effective(own)
        return [
            CreatableTopicConfigs(
                name=name,
                value=own.get(name, definition.format(values[name])),
                read_only=False,
                config_source=self._source(name, own),
                is_sensitive=definition.sensitive,
            )
            for name, definition in sorted(TOPIC_CONFIGS.items())
            if name in own or not definition.internal
        ]

    def _default(self, name: str) -> ConfigValue:
        for broker_name, factor in TOPIC_SYNONYMS.get(name, ()):
            value = self._settings[broker_name]
            if name == "retention.ms" and value is not None:
                # Any negative time is "for ever", which a topic has only one number for.
                return max(self._settings.get_int(broker_name) * factor, -1)
            if value is not None:
                return value if factor == 1 else self._settings.get_int(broker_name) * factor
        return TOPIC_CONFIGS[name].default

    def _source(self, name: str, own: Mapping[str, str]) -> ConfigSource:
        if name in own:
            return ConfigSource.DYNAMIC_TOPIC
        sources = {self._settings.source(broker_name) for broker_name, _ in TOPIC_SYNONYMS.get(name, ())}
        for source, told in _TOLD_SOURCES.items():
            if source in sources:
                return told
        return ConfigSource.STATIC_BROKER if sources - {Source.DEFAULT} else ConfigSource.DEFAULT


def _check_together(values: Mapping[str, ConfigValue]) -> None:
    shortest, longest = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    assert isinstance(shortest, int)
    assert isinstance(longest, int)
    if shortest > longest:
        raise _invalid(
            f"conflict topic config setting min.compaction.lag.ms ({shortest}) >"
            f" max.compaction.lag.ms ({longest})"
        )
    if values["remote.storage.enable"]:
        raise _invalid(
            "Tiered Storage functionality is disabled in the broker."
            " Topic cannot be configured with remote log storage."
        )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_CONFIG, message)
