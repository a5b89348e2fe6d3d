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


def literal_prefix(tree: Node) -> str:
    """Give the characters with which every name that matches begins."""
    characters: list[str] = []
    for part in tree.parts if isinstance(tree, Sequence) else (tree,):
        if isinstance(part, OneOf) and len(part.characters) == 1:
            characters += part.characters
        elif part is not Place.BEGIN:
            break
    return "".join(characters)


def names_listed(tree: Node) -> frozenset[str] | None:
    """Give the names that match, of an expression that does nothing but to list them; else None."""
    if isinstance(tree, Sequence):
        tree = _without_ends(tree)
    names: set[str] = set()
    for alternative in tree.alternatives if isinstance(tree, Choice) else (tree,):
        parts = alternative.parts if isinstance(alternative, Sequence) else (alternative,)
        name = literal_prefix(alternative)
        if Place.BEGIN in parts or len(name) != len(parts):
            return None
        names.add(name)
    return frozenset(names)


def _without_ends(sequence: Sequence) -> Node:
    parts = sequence.parts
    if parts and parts[0] is Place.BEGIN:
        parts = parts[1:]
    if parts and parts[-1] is Place.END:
        parts = parts[:-1]
    return parts[0] if len(parts) == 1 else Sequence(parts)
