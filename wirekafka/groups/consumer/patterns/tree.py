"""What a regular expression says, once it is read.

Made by `parsing`, run by `automaton`. Greed makes no difference to whether a name matches, so a repetition
does not have it.

Source: RE2's syntax; Kafka's Topic.validate for the characters of names.
"""

import string
from dataclasses import dataclass
from enum import Enum

TOPIC_CHARACTERS = frozenset(string.ascii_letters + string.digits + "._-")
"""All that occur in names of topics; what an expression says of others makes no difference."""

LONGEST_NAME = 249


class Invalid(ValueError):
    """Not a regular expression of RE2; its text says why, and where."""


class Place(Enum):
    """What must hold between two characters, of which neither is taken."""

    BEGIN = "^"
    END = "$"
    WORD_BOUNDARY = r"\b"
    NO_WORD_BOUNDARY = r"\B"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character out of these, of which there may be none."""

    characters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    alternatives: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    part: "Node"
    least: int
    most: int | None
    """None: as often as you like."""


Node = OneOf | Place | Sequence | Choice | Repetition
