"""Settings by Kafka's names: the tables of broker, topic and group settings, and the broker's values."""

from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.definition import ConfigDefinition, ConfigError, ConfigType, ConfigValue
from wirekafka.metadata.configs.group import GROUP_CONFIGS
from wirekafka.metadata.configs.profiles import PROFILES
from wirekafka.metadata.configs.settings import Settings, Source
from wirekafka.metadata.configs.topic import TOPIC_CONFIGS

__all__ = [
    "BROKER_CONFIGS",
    "GROUP_CONFIGS",
    "PROFILES",
    "TOPIC_CONFIGS",
    "ConfigDefinition",
    "ConfigError",
    "ConfigType",
    "ConfigValue",
    "Settings",
    "Source",
]
