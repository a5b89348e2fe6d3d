"""Which broker settings may change while the broker runs: for it alone, or for all brokers at once.

Asked by `broker_settings`, which passes over what may not, and by `altering`, which refuses it.

Source: Kafka's DynamicBrokerConfig, SslConfigs.RECONFIGURABLE_CONFIGS, DynamicListenerConfig.
"""

import re
from collections.abc import Callable, Mapping

from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.definition import ConfigError

_LISTENER = re.compile(r"listener\.name\.[^.]*\.(?P<base>.*)")
_ONLY_PER_LISTENER = frozenset(
    {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
_PER_BROKER_PREFIXES = ("sasl.", "ssl.")
_PER_BROKER = frozenset(
    {"cordoned.log.dirs", "listener.security.protocol.map", "listeners", "principal.builder.class"}
)
_OF_ALL_LISTENERS = frozenset({"max.connection.creation.rate", "max.connections", "num.network.threads"})


def check_updatable(given: Mapping[str, str], *, per_broker: bool) -> None:
    """Raise ConfigError for the first setting that may not be changed at run time, or not to this value.

    `per_broker`: the settings are one broker's; else they are meant for all. A name that nobody knows
    may have any value, as in Kafka.
    """
    _refuse(given, _is_fixed, "Cannot update these configs dynamically")
    _refuse(
        given,
        _ONLY_PER_LISTENER.__contains__,
        "These security configs can be dynamically updated only per-listener using the listener prefix",
    )
    for name, text in given.items():
        _check_type(name, text)
    if not per_broker:
        _refuse(
            given,
            _is_per_broker,
            "Cannot update these configs at default cluster level, broker id must be specified",
        )


def updatable_part(given: Mapping[str, str], *, per_broker: bool) -> Mapping[str, str]:
    """Give those of the settings that `check_updatable` lets pass."""
    return {name: text for name, text in given.items() if _may_be(name, text, per_broker)}


def _may_be(name: str, text: str, per_broker: bool) -> bool:
    try:
        check_updatable({name: text}, per_broker=per_broker)
    except ConfigError:
        return False
    return True


def _is_fixed(name: str) -> bool:
    return name in BROKER_CONFIGS and not BROKER_CONFIGS[name].updatable


def _is_per_broker(name: str) -> bool:
    match = _LISTENER.fullmatch(name)
    if match is not None:
        return match["base"] not in _OF_ALL_LISTENERS
    return name in _PER_BROKER or (name in BROKER_CONFIGS and name.startswith(_PER_BROKER_PREFIXES))


def _check_type(name: str, text: str) -> None:
    match = _LISTENER.fullmatch(name)
    definition = BROKER_CONFIGS.get(name if match is None else match["base"])
    if definition is not None and definition.updatable:
        definition.parse(text)


def _refuse(given: Mapping[str, str], is_meant: Callable[[str], bool], reason: str) -> None:
    names = [name for name in given if is_meant(name)]
    if names:
        raise ConfigError(names[0], f"{reason}: [{', '.join(names)}]")
