"""`Automaton`: finds whether names match, in time that grows with their length alone.

Made by `patterns` for each expression. The tree becomes a list of steps; a name is followed through all the
ways at once, as a set of steps (Thompson's algorithm). Each set that was reached, and where each character
leads from it, is kept: names have much in common, so most of the time a character costs one look-up.

A name has 249 characters at most, so no part is repeated more often than 250 times to tell whether one
matches: of 251 repetitions two take nothing, and one of these is as good as both.

Source: the NFA and the lazy DFA of RE2.
"""

from typing import NamedTuple

from wirekafka.groups.consumer.patterns.characters import WORD
from wirekafka.groups.consumer.patterns.tree import (
    LONGEST_NAME,
    Choice,
    Invalid,
    Node,
    OneOf,
    Place,
    Repetition,
    Sequence,
)

MOST_STEPS = 20_000
MOST_KEPT = 20_000
_ENOUGH_REPETITIONS = LONGEST_NAME + 1


class _Step(NamedTuple):
    """Goes on to `then`: after one of some characters, or at once, if the place is right."""

    takes: frozenset[str] | None
    place: Place | None
    then: tuple[int, ...]


class _Ways:
    """All steps that a name may have reached, and what came before them."""

    __slots__ = ("after", "before", "is_match", "steps")

    def __init__(self, steps: frozenset[int], before: str) -> None:
        self.steps = steps
        self.before = before
        """The kind of character that led here: "w" of a word, "-" another, or "" at the beginning."""
        self.after: dict[str, _Ways] = {}
        self.is_match: bool | None = None


class Automaton:
    def __init__(self, tree: Node) -> None:
        self._steps: list[_Step] = []
        self._match = self._new(None, None)
        self._beginning = self._build(tree, self._match)
        self._forget()

    def matches(self, name: str) -> bool:
        """Whether the expression matches the whole name."""
        if self._kept > MOST_KEPT:
            self._forget()
        ways = self._start
        for character in name:
            next_ways = ways.after.get(character)
            ways = self._advance(ways, character) if next_ways is None else next_ways
        if ways.is_match is None:
            ways.is_match = self._match in self._reached(ways, "")
        return ways.is_match

    # --- following a name ---

    def _forget(self) -> None:
        self._sets: dict[tuple[frozenset[int], str], _Ways] = {}
        self._kept = 0
        self._start = self._ways(frozenset([self._beginning]), "")

    def _ways(self, steps: frozenset[int], before: str) -> _Ways:
        found = self._sets.get((steps, before))
        if found is None:
            found = self._sets[steps, before] = _Ways(steps, before)
        return found

    def _advance(self, ways: _Ways, character: str) -> _Ways:
        kind = "w" if character in WORD else "-"
        taking = (self._steps[number] for number in self._reached(ways, kind))
        reached = frozenset(
            then
            for step in taking
            if step.takes is not None and character in step.takes
            for then in step.then
        )
        ways.after[character] = self._ways(reached, kind)
        self._kept += 1
        return ways.after[character]

    def _reached(self, ways: _Ways, next_kind: str) -> set[int]:
        """Follow all that takes no character, between what came before and the kind that comes next."""
        reached: set[int] = set()
        waiting = [*ways.steps]
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            step = self._steps[number]
            if step.takes is None and (step.place is None or _holds(step.place, ways.before, next_kind)):
                waiting += step.then
        return reached

    # --- building, from the end to the beginning ---

    def _new(self, takes: frozenset[str] | None, place: Place | None, *then: int) -> int:
        if len(self._steps) >= MOST_STEPS:
            raise Invalid(f"it is too large, with its repetitions written out: more than {MOST_STEPS} steps")
        self._steps.append(_Step(takes, place, then))
        return len(self._steps) - 1

    def _build(self, node: Node, then: int) -> int:
        """Add the steps of a part behind which `then` follows; give the number of its first."""
        match node:
            case OneOf(characters):
                return self._new(characters, None, then)
            case Place():
                return self._new(None, node, then)
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._build(part, then)
                return then
            case Choice(alternatives):
                return self._new(None, None, *[self._build(one, then) for one in alternatives])
            case Repetition(part, least, most):
                return self._build_repetition(part, least, most, then)

    def _build_repetition(self, part: Node, least: int, most: int | None, then: int) -> int:
        least = min(least, _ENOUGH_REPETITIONS)
        if most is None:
            first = self._build_loop(part, then)
        else:
            first = then
            for _ in range(min(most, _ENOUGH_REPETITIONS) - least):
                first = self._new(None, None, self._build(part, first), then)
        for _ in range(least):
            first = self._build(part, first)
        return first

    def _build_loop(self, part: Node, then: int) -> int:
        fork = self._new(None, None)
        again = self._build(part, fork)
        self._steps[fork] = _Step(None, None, (again, then))
        return fork


def _holds(place: Place, before: str, after: str) -> bool:
    match place:
        case Place.BEGIN:
            return before == ""
        case Place.END:
            return after == ""
        case Place.WORD_BOUNDARY:
            return (before == "w") != (after == "w")
        case Place.NO_WORD_BOUNDARY:
            return (before == "w") == (after == "w")
