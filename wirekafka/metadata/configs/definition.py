"""What a setting is: its name, type, default, check and text, and how its value is read and written.

The tables of this folder are made of `ConfigDefinition`; `settings` and the metadata machine read
and write values through it.

Source: Kafka's ConfigDef, and the type and source codes of DescribeConfigs (KIP-226, KIP-569).
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

from wirekafka.metadata.configs.checks import Check
from wirekafka.metadata.configs.documentation import DOCUMENTATION, NOT_YET, PENDING, WITHOUT_EFFECT

ConfigValue = bool | int | float | str | tuple[str, ...] | None


class ConfigType(IntEnum):
    """The type of a setting, by the code that DescribeConfigs gives it."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSource(IntEnum):
    """Where a value comes from, by the code that DescribeConfigs gives it."""

    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


BOOLEAN, STRING, INT, SHORT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT, ConfigType.SHORT
LONG, DOUBLE, LIST = ConfigType.LONG, ConfigType.DOUBLE, ConfigType.LIST
CLASS, PASSWORD = ConfigType.CLASS, ConfigType.PASSWORD

HIDDEN = "[hidden]"
_INTEGER_BITS = {SHORT: 16, INT: 32, LONG: 64}
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


class ConfigError(ValueError):
    """A setting that is unknown, or a value it may not have: the setting's name and a sentence."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(name, message)
        self.name, self.message = name, message

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class ConfigDefinition:
    """One row of a table of settings.

    `updatable`: Kafka lets it be changed while the broker runs (for DescribeConfigs: not read-only).
    `internal`: described only where somebody has set it.
    """

    name: str
    type: ConfigType
    default: ConfigValue
    check: Check | None = None
    updatable: bool = False
    internal: bool = False

    @property
    def sensitive(self) -> bool:
        """Whether the value is shown to nobody; one of unknown type may be a secret for all we know."""
        return self.type in (ConfigType.PASSWORD, ConfigType.UNKNOWN)

    @property
    def documentation(self) -> str:
        """What the setting does, for people."""
        sentence = DOCUMENTATION.get(self.name, WITHOUT_EFFECT)
        return f"{sentence} {PENDING}" if self.name in NOT_YET else sentence

    def parse(self, text: str) -> ConfigValue:
        """Read a value as written in a file or sent by a client.

        Raises ConfigError, which names the setting, the value and what is allowed.
        """
        value = self._typed(text.strip())
        if self.check is not None and not self.check.holds(value):
            raise self.refusal(text, self.check.allowed)
        return value

    def format(self, value: ConfigValue) -> str | None:
        """Write a value as Kafka does; None for a setting without one."""
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(value)
        return _format_double(value) if isinstance(value, float) else str(value)

    def refusal(self, text: str, allowed: str) -> ConfigError:
        """The error that says `text` is not `allowed` here."""
        shown = HIDDEN if self.sensitive else text
        return ConfigError(
            self.name, f"Invalid value {shown} for configuration {self.name}: must be {allowed}."
        )

    def _typed(self, text: str) -> ConfigValue:
        match self.type:
            case ConfigType.BOOLEAN:
                if text.lower() not in ("true", "false"):
                    raise self.refusal(text, "true or false")
                return text.lower() == "true"
            case ConfigType.SHORT | ConfigType.INT | ConfigType.LONG:
                return self._integer(text, _INTEGER_BITS[self.type])
            case ConfigType.DOUBLE:
                if not _DECIMAL.fullmatch(text) or math.isinf(float(text)):
                    raise self.refusal(text, "a number")
                return float(text)
            case ConfigType.LIST:
                return self._list(text) if text else ()
            case _:
                return text

    def _list(self, text: str) -> tuple[str, ...]:
        entries = re.split(r"\s*,\s*", text)
        return tuple(dict.fromkeys(entries) if self.check and self.check.distinct else entries)

    def _integer(self, text: str, bits: int) -> int:
        limit = 1 << (bits - 1)
        # Longer than any 64-bit number: not even tried, Python refuses very long ones by itself.
        if not _INTEGER.fullmatch(text) or len(text) > 40 or not -limit <= int(text) < limit:
            raise self.refusal(text, f"a {bits}-bit integer")
        return int(text)


def table(*rows: ConfigDefinition) -> dict[str, ConfigDefinition]:
    """Put definitions under their names. A name that stands twice is our own mistake."""
    by_name = {row.name: row for row in rows}
    assert len(by_name) == len(rows), "a setting is defined twice"
    return by_name


def _format_double(value: float) -> str:
    """As Java prints a double: without exponent from a thousandth to ten million."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    exponent = Decimal(repr(value)).adjusted()
    rest = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{rest}E{exponent}"
