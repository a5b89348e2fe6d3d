"""Reads a regular expression of RE2.

Called by `patterns`. Escapes and classes in brackets are read by `reading` and `classes`; here are groups,
alternatives and repetitions, with a stack of open groups. What is refused is what RE2/J refuses, and besides
groups that are nested deeper, and expressions that are longer, than anybody writes them.

Source: RE2's syntax, with the limits and refusals of RE2/J 1.8.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from wirekafka.groups.consumer.patterns.characters import between
from wirekafka.groups.consumer.patterns.classes import read_class
from wirekafka.groups.consumer.patterns.reading import Reader
from wirekafka.groups.consumer.patterns.tree import (
    TOPIC_CHARACTERS,
    Choice,
    Invalid,
    Node,
    OneOf,
    Place,
    Repetition,
    Sequence,
)

MOST_CHARACTERS = 10_000
MOST_REPETITIONS = 1000
DEEPEST_GROUP = 100

_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_PLACES = {"^": Place.BEGIN, "$": Place.END}
_ESCAPED_PLACES = {
    r"\A": Place.BEGIN,
    r"\z": Place.END,
    r"\b": Place.WORD_BOUNDARY,
    r"\B": Place.NO_WORD_BOUNDARY,
}
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_COUNT = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")
_GROUP_NAME = re.compile(r"\(\?P?<([A-Za-z0-9_]+)>")
_FLAGS = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])")

_Bounds = tuple[int, int | None]


def parse(text: str) -> Node:
    """Read an expression. Raises Invalid, with what is wrong and where."""
    if len(text) > MOST_CHARACTERS:
        raise Invalid(f"it has {len(text)} characters, of {MOST_CHARACTERS} at most")
    return _Parser(text).parse()


def _count(digits: str) -> int:
    # Python refuses to read numbers of thousands of digits.
    return int(digits) if len(digits) <= len(str(MOST_REPETITIONS)) else MOST_REPETITIONS + 1


@lru_cache(maxsize=512)
def _literal(code: int, ignore_case: bool) -> OneOf:
    return OneOf(between(code, code, ignore_case=ignore_case))


@dataclass(slots=True)
class _Group:
    """A group whose end is not reached yet."""

    ignore_case_after: bool
    alternatives: list[Node] = field(default_factory=list)
    parts: list[Node] = field(default_factory=list)

    def end_alternative(self) -> None:
        self.alternatives.append(self.parts[0] if len(self.parts) == 1 else Sequence(tuple(self.parts)))
        self.parts = []

    def node(self) -> Node:
        self.end_alternative()
        return self.alternatives[0] if len(self.alternatives) == 1 else Choice(tuple(self.alternatives))


class _Parser:
    def __init__(self, text: str) -> None:
        self._reader = Reader(text)
        self._groups = [_Group(False)]
        self._names: set[str] = set()
        self._after_repetition = -1
        """Where the last repetition ended."""

    def parse(self) -> Node:
        reader = self._reader
        while reader.rest:
            self._read_next(reader.text[reader.position])
        if len(self._groups) > 1:
            raise Invalid("missing closing )")
        return self._groups[0].node()

    def _read_next(self, character: str) -> None:
        match character:
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self._reader.position += 1
                self._groups[-1].end_alternative()
            case "*" | "+" | "?" | "{":
                self._repeat(character)
            case "\\":
                self._escape()
            case _:
                if not self._read_plain():
                    self._add(self._one(character))

    def _read_plain(self) -> bool:
        """Read a run of characters that mean themselves everywhere, as most do."""
        reader = self._reader
        found = _PLAIN.match(reader.text, reader.position)
        if found is None:
            return False
        reader.position = found.end()
        self._groups[-1].parts += [_literal(ord(character), reader.ignore_case) for character in found[0]]
        return True

    def _add(self, node: Node) -> None:
        self._groups[-1].parts.append(node)

    def _one(self, character: str) -> Node:
        if character == "[":
            return OneOf(read_class(self._reader))
        self._reader.position += 1
        if character == ".":
            return OneOf(TOPIC_CHARACTERS)
        return _PLACES.get(character) or self._literal(ord(character))

    def _literal(self, code: int) -> Node:
        return _literal(code, self._reader.ignore_case)

    # --- groups ---

    def _open(self) -> None:
        reader = self._reader
        before = reader.ignore_case
        if not reader.sees("(?"):
            reader.position += 1
        elif reader.sees("(?P<") or reader.sees("(?<"):
            self._read_name()
        elif not self._read_flags():
            return
        if len(self._groups) > DEEPEST_GROUP:
            raise Invalid(f"groups are nested deeper than {DEEPEST_GROUP}")
        self._groups.append(_Group(before))

    def _read_name(self) -> None:
        reader = self._reader
        found = _GROUP_NAME.match(reader.text, reader.position)
        if found is None:
            raise Invalid(f"invalid named capture: `{reader.text[reader.position :]}`")
        name = found[1]
        if name in self._names:
            raise Invalid(f"duplicate capture group name: `{name}`")
        self._names.add(name)
        reader.position = found.end()

    def _read_flags(self) -> bool:
        """Read flags; tell whether they open a group. Of all flags only `i` decides about a match."""
        reader = self._reader
        found = _FLAGS.match(reader.text, reader.position)
        if found is None:
            raise Invalid(
                f"invalid or unsupported Perl syntax: `{reader.text[reader.position : reader.position + 3]}`"
            )
        reader.position = found.end()
        if "i" in found[1]:
            reader.ignore_case = True
        if "i" in (found[2] or ""):
            reader.ignore_case = False
        return found[3] == ":"

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise Invalid(f"unexpected ) at character {self._reader.position + 1}")
        self._reader.position += 1
        group = self._groups.pop()
        self._reader.ignore_case = group.ignore_case_after
        self._add(group.node())

    # --- repetitions ---

    def _repeat(self, character: str) -> None:
        start = self._reader.position
        bounds = self._bounds(character)
        if bounds is None:
            self._add(self._one(character))
            # RE2/J does not let a brace that is meant itself be repeated either.
            self._after_repetition = self._reader.position
            return
        self._reader.skip("?")
        if start == self._after_repetition:
            raise Invalid(f"invalid nested repetition operator: {self._reader.since(start)}")
        parts = self._groups[-1].parts
        if not parts:
            raise Invalid(f"missing argument to repetition operator: {self._reader.since(start)}")
        parts[-1] = Repetition(parts[-1], *bounds)
        self._after_repetition = self._reader.position

    def _bounds(self, character: str) -> _Bounds | None:
        """Read how often; None for a brace that does not say so, which is then meant itself."""
        reader = self._reader
        if character != "{":
            reader.position += 1
            return _SIMPLE[character]
        found = _COUNT.match(reader.text, reader.position)
        if found is None:
            return None
        start = reader.position
        reader.position = found.end()
        least = _count(found[1])
        most = _count(found[3]) if found[3] else least if found[2] is None else None
        largest = least if most is None else most
        if not least <= largest <= MOST_REPETITIONS:
            raise Invalid(f"invalid repeat count: {reader.since(start)}")
        return least, most

    # --- escapes ---

    def _escape(self) -> None:
        reader = self._reader
        place = _ESCAPED_PLACES.get(reader.text[reader.position : reader.position + 2])
        if place is not None:
            reader.position += 2
            self._add(place)
        elif reader.skip("\\Q"):
            self._quote()
        else:
            named = reader.named_class()
            self._add(self._literal(reader.escaped()) if named is None else OneOf(named))

    def _quote(self) -> None:
        r"""Take all up to `\E`, or to the end, as it stands."""
        reader = self._reader
        quoted, ending, _ = reader.text[reader.position :].partition("\\E")
        reader.position += len(quoted) + len(ending)
        for character in quoted:
            self._add(self._literal(ord(character)))
