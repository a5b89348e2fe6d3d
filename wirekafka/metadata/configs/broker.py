"""Every setting of a broker in one table, and the definition behind a name with a prefix.

`settings` reads files by it; the metadata machine describes the broker by it.

Source: Kafka's AbstractKafkaConfig and DynamicBrokerConfig (listener prefixes, synonyms).
"""

import re
from dataclasses import replace

from wirekafka.metadata.configs.broker_cluster import CLUSTER_CONFIGS
from wirekafka.metadata.configs.broker_groups import GROUPS_CONFIGS
from wirekafka.metadata.configs.broker_log import LOG_CONFIGS
from wirekafka.metadata.configs.broker_security import SECURITY_CONFIGS
from wirekafka.metadata.configs.broker_server import SERVER_CONFIGS
from wirekafka.metadata.configs.broker_share_groups import SHARE_GROUPS_CONFIGS
from wirekafka.metadata.configs.broker_wirekafka import WIREKAFKA_CONFIGS
from wirekafka.metadata.configs.definition import ConfigDefinition, ConfigType

BROKER_CONFIGS: dict[str, ConfigDefinition] = {
    **SERVER_CONFIGS,
    **LOG_CONFIGS,
    **GROUPS_CONFIGS,
    **SHARE_GROUPS_CONFIGS,
    **SECURITY_CONFIGS,
    **CLUSTER_CONFIGS,
    **WIREKAFKA_CONFIGS,
}

_LISTENER = re.compile(r"listener\.name\.[^.]+\.(?P<base>.+)")
# What plugins and distributions of Kafka put into the same file; nothing here reads it.
_FOREIGN_PREFIXES = ("config.providers.", "confluent.", "log4j.", "rlmm.config.", "rsm.config.")

_RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
_ROLL = ("log.roll.ms", "log.roll.hours")
_JITTER = ("log.roll.jitter.ms", "log.roll.jitter.hours")
_SYNONYM_CHAINS = {
    **dict.fromkeys(_RETENTION, _RETENTION),
    **dict.fromkeys(_ROLL, _ROLL),
    **dict.fromkeys(_JITTER, _JITTER),
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
}


def broker_definition(name: str) -> ConfigDefinition | None:
    """The definition of a broker setting; None for a name nobody knows.

    `listener.name.<listener>.<setting>` and `listener.name.<listener>.<mechanism>.<setting>` have the
    type of the setting they override; a foreign name is a string of unknown meaning.
    """
    if name in BROKER_CONFIGS:
        return BROKER_CONFIGS[name]
    base = _overridden(name)
    if base is not None:
        return replace(BROKER_CONFIGS[base], name=name, default=None, updatable=False)
    if name.startswith(_FOREIGN_PREFIXES):
        return ConfigDefinition(name, ConfigType.UNKNOWN, None)
    return None


def broker_synonyms(name: str) -> tuple[str, ...]:
    """The settings that may speak for `name`, itself among them, the strongest first."""
    base = _overridden(name)
    return _SYNONYM_CHAINS.get(name, (name,)) if base is None else (name, base)


def _overridden(name: str) -> str | None:
    match = _LISTENER.fullmatch(name)
    if match is None:
        return None
    base = match["base"]
    _, _, below_mechanism = base.partition(".")
    return next((known for known in (base, below_mechanism) if known in BROKER_CONFIGS), None)
