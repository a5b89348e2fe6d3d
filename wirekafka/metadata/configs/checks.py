"""What a value must satisfy beyond its type, each check with the words that say so.

Used by the tables of settings through `ConfigDefinition.check`. Source: the validators of Kafka's
ConfigDef.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_THROTTLED = re.compile(r"([0-9]+:[0-9]+)?", re.ASCII)
_BY_DURATION = re.compile(
    r"by_duration:P(?=.)([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Check:
    """A predicate over a typed value, and what it allows, to stand behind "must be".

    `distinct`: of a list, an entry that stands twice counts once.
    """

    allowed: str
    # Any: what the setting's type makes of the text, so an int for at_least, a tuple for a list.
    holds: Callable[[Any], bool]
    distinct: bool = False


def at_least(minimum: int) -> Check:
    """A number not below `minimum`."""
    return Check(f"at least {minimum}", lambda value: bool(value >= minimum))


def between(minimum: float, maximum: float) -> Check:
    """A number from `minimum` to `maximum`, both included."""
    return Check(f"from {minimum} to {maximum}", lambda value: minimum <= value <= maximum)


def one_of(*names: str) -> Check:
    """One of a few words."""
    return Check(f"one of {', '.join(names)}", lambda value: value in names)


def one_of_any_case(*names: str) -> Check:
    """One of a few words, in capitals or not."""
    upper = {name.upper() for name in names}
    return Check(f"one of {', '.join(names)}", lambda value: value.upper() in upper)


def entries(*names: str, empty: bool = True) -> Check:
    """A list without blank entries, of `names` alone if any are given."""
    of_what = f" of {', '.join(names)}" if names else ""
    how_long = "" if empty else ", not empty"

    def holds(value: tuple[str, ...]) -> bool:
        return (empty or bool(value)) and "" not in value and (not names or set(value) <= set(names))

    return Check(f"a list{of_what} without blank entries{how_long}", holds, distinct=True)


def each(pattern: str, words: str) -> Check:
    """A list whose every entry matches `pattern`, which `words` puts for people."""
    compiled = re.compile(pattern, re.ASCII)
    return Check(f"a list of {words}", lambda value: all(compiled.fullmatch(entry) for entry in value))


DURABILITY = one_of("os", "fsync")
NOT_EMPTY = Check("a non-empty string", lambda value: value != "")
GZIP_LEVEL = Check("from 1 to 9, or -1", lambda value: value == -1 or 1 <= value <= 9)
THROTTLED_REPLICAS = Check(
    "* or a list of partition:broker",
    lambda value: value == ("*",) or all(_THROTTLED.fullmatch(entry.strip()) for entry in value),
)
SHARE_OFFSET_RESET = Check(
    "latest, earliest or by_duration:<ISO 8601 duration>",
    lambda value: value.lower() in ("latest", "earliest") or _BY_DURATION.fullmatch(value) is not None,
)
