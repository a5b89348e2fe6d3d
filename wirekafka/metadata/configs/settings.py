"""The settings of a broker: Kafka's defaults, a profile, a file and the command line, one over the other.

Made by the command line and by tests with `Settings.load`; read everywhere. What is changed at run time
lies over all of these: `broker_settings` of the metadata room makes that with `changed`.

Source: Kafka's server.properties and KafkaConfig. Kafka only warns of a name it does not know; here
it is refused, because a misspelt setting is worth an error at start.
"""

import difflib
from collections.abc import Iterator, Mapping
from enum import Enum

from wirekafka.metadata.configs.broker import BROKER_CONFIGS, broker_definition
from wirekafka.metadata.configs.consistency import check_consistency
from wirekafka.metadata.configs.definition import ConfigDefinition, ConfigError, ConfigType, ConfigValue
from wirekafka.metadata.configs.profiles import PROFILES
from wirekafka.metadata.configs.properties import parse_properties


class Source(Enum):
    """Who gave a setting its value."""

    DEFAULT = "default"
    PROFILE = "profile"
    FILE = "file"
    COMMAND_LINE = "command line"
    ALL_BROKERS = "changed at run time, for all brokers"
    THIS_BROKER = "changed at run time, for this broker"

    @property
    def is_dynamic(self) -> bool:
        """Whether the value was given while the broker ran."""
        return self in (Source.ALL_BROKERS, Source.THIS_BROKER)


class Settings(Mapping[str, ConfigValue]):
    """Every broker setting with its typed value; never changed once made.

    `settings[name]` may be None for a setting without a value; the getters are for those that always
    have one. An unknown name is a KeyError.
    """

    __slots__ = ("_definitions", "_given", "_values")

    def __init__(self, given: Mapping[str, tuple[str, Source]]) -> None:
        """Take the texts that differ from Kafka's defaults; `load` is the way to get them.

        Raises ConfigError for an unknown name, an ill-typed value or two that contradict each other.
        """
        given = _with_node_id(given)
        known = {name: _known(name, source) for name, (_, source) in given.items()}
        self._definitions = dict(BROKER_CONFIGS) | known
        self._values = {name: definition.default for name, definition in self._definitions.items()}
        self._values |= {name: self._definitions[name].parse(text) for name, (text, _) in given.items()}
        self._given = given
        check_consistency(self._values)

    @classmethod
    def load(
        cls,
        file_text: str | None = None,
        overrides: Mapping[str, str] | None = None,
        profile: str = "dev",
    ) -> "Settings":
        """Read a server.properties (its text) and overrides by name on top of a profile.

        Raises ConfigError, whose message names the setting, the value and what is allowed; for an
        unknown name also the nearest known one.
        """
        if profile not in PROFILES:
            raise ConfigError("profile", f"Unknown profile {profile}: must be one of {', '.join(PROFILES)}.")
        given: dict[str, tuple[str, Source]] = {}
        for source, pairs in (
            (Source.PROFILE, PROFILES[profile]),
            (Source.FILE, parse_properties(file_text or "")),
            (Source.COMMAND_LINE, overrides or {}),
        ):
            given |= {name: (text, source) for name, text in pairs.items()}
        return cls(given)

    def changed(self, all_brokers: Mapping[str, str], this_broker: Mapping[str, str]) -> "Settings":
        """Lay what was given at run time over these, the settings of this broker above those of all.

        A name that nobody knows is kept, as in Kafka. Raises ConfigError as the constructor does.
        """
        given = dict(self._given)
        for source, pairs in ((Source.ALL_BROKERS, all_brokers), (Source.THIS_BROKER, this_broker)):
            given |= {name: (text, source) for name, text in pairs.items()}
        return Settings(given)

    def __getitem__(self, name: str) -> ConfigValue:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.text(name)!r}" for name in self._given)
        return f"Settings({shown})"

    def definition(self, name: str) -> ConfigDefinition:
        """The row of the table that a setting was read by."""
        return self._definitions[name]

    def source(self, name: str) -> Source:
        """Who gave a setting its value."""
        return self._given[name][1] if name in self._given else Source.DEFAULT

    def text(self, name: str) -> str | None:
        """The value as Kafka writes it; None for a setting without one and for a secret."""
        definition = self._definitions[name]
        return None if definition.sensitive else definition.format(self._values[name])

    def get_bool(self, name: str) -> bool:
        """The value of a BOOLEAN setting."""
        value = self._values[name]
        if not isinstance(value, bool):
            raise _wrong_type(name, value)
        return value

    def get_int(self, name: str) -> int:
        """The value of a SHORT, INT or LONG setting."""
        value = self._values[name]
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong_type(name, value)
        return value

    def get_float(self, name: str) -> float:
        """The value of a DOUBLE setting."""
        value = self._values[name]
        if not isinstance(value, float):
            raise _wrong_type(name, value)
        return value

    def get_str(self, name: str) -> str:
        """The value of a STRING, CLASS or PASSWORD setting."""
        value = self._values[name]
        if not isinstance(value, str):
            raise _wrong_type(name, value)
        return value

    def get_list(self, name: str) -> tuple[str, ...]:
        """The value of a LIST setting."""
        value = self._values[name]
        if not isinstance(value, tuple):
            raise _wrong_type(name, value)
        return value

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """The data folders: log.dirs, or log.dir where that is not set."""
        return self.get_list("log.dir" if self["log.dirs"] is None else "log.dirs")


def _known(name: str, source: Source) -> ConfigDefinition:
    definition = broker_definition(name)
    if definition is None and source.is_dynamic:
        return ConfigDefinition(name, ConfigType.UNKNOWN, None)
    if definition is None:
        near = difflib.get_close_matches(name, BROKER_CONFIGS, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ConfigError(name, f"Unknown configuration {name}.{hint}")
    return definition


def _with_node_id(given: Mapping[str, tuple[str, Source]]) -> dict[str, tuple[str, Source]]:
    """broker.id and node.id are one number under two names; node.id has the last word."""
    both = dict(given)
    number = both.get("node.id") or both.get("broker.id") or ("1", Source.DEFAULT)
    return both | {"node.id": number, "broker.id": both.get("broker.id", number)}


def _wrong_type(name: str, value: ConfigValue) -> TypeError:
    return TypeError(f"{name} was asked for as another type than it is: {type(value).__name__}")
