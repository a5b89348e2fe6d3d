"""`Automaton`: finds whether names match, in time that grows with their length alone.

Made by `patterns` for each expression. Each character class of the expression is a position, and a bit of
a number; a set of positions is such a number. From a set and a character to the next set takes a few
operations on whole numbers, and it is kept where each character led: names have much in common, so nearly
always a character costs one look-up.

Who writes an expression may be hostile, so all work is counted: what is built, empty parts too, and what is
worked out for one list of names. What takes more than an expression in use ever does is refused.

A name has 249 characters at most, so no part is repeated more often than 250 times to tell whether one
matches: of 251 repetitions two take nothing, and one of these is as good as both.

Source: Glushkov's automaton, followed as in Baeza-Yates' and Gonnet's Shift-And; the lazy DFA of RE2.
"""

from collections.abc import Iterable
from functools import reduce
from operator import getitem

from wirekafka.groups.consumer.patterns.characters import WORD
from wirekafka.groups.consumer.patterns.positions import MATCH, Positions
from wirekafka.groups.consumer.patterns.tree import Invalid, Node, Place, literal_prefix, names_listed

MOST_WORK = 150_000
"""For one list of names, beside the walk through them; a unit is less than half a microsecond."""
MOST_WORK_OF_ONE_POSITION = 50
"""So much more, for each: long expressions are lists, whose names go each a way of its own."""
MOST_KEPT_BYTES = 1_000_000
_NEW_TRANSITION, _NEW_STATE, _ONE_NAME = 10, 10, 4
"""In such units; a unit is what it takes to read one bit of a set."""
_LARGE_FOR_A_STATE, _LARGE_FOR_A_BIT = 5_000, 2_000
"""With so many positions these take twice the time, the numbers being larger."""
_SOON = 4
_STATE_BYTES, _TRANSITION_BYTES, _POSITION_BYTES = 600, 100, 300


class _State(dict[str, "_State"]):
    """A set of positions that a name may have reached, and where each character leads from it."""

    __slots__ = ("automaton", "before", "opened", "positions")

    def __init__(self, automaton: "Automaton", positions: int, before: str) -> None:
        self.automaton = automaton
        self.positions = positions
        self.before = before
        """The kind of character that led here: "w" of a word, "-" another, or "" at the beginning."""
        self.opened: dict[str, int] = {}
        """By the kind of character that comes next, the positions with all that takes no character."""

    def __missing__(self, character: str) -> "_State":
        following = self[character] = self.automaton.following(self, character)
        return following


class Automaton:
    def __init__(self, tree: Node) -> None:
        """Raises Invalid for one that is too large."""
        self._positions = Positions(tree)
        self._listed = names_listed(tree)
        self._prefix = literal_prefix(tree)
        self._most_work = MOST_WORK + MOST_WORK_OF_ONE_POSITION * self._positions.count
        self._unit_of_states = 1 + self._positions.count // _LARGE_FOR_A_STATE
        self._unit_of_bits = 1 + self._positions.count // _LARGE_FOR_A_BIT
        self._taking: dict[str, int] = {}
        self._forget()

    @property
    def weight_bytes(self) -> int:
        """About how much memory it takes."""
        return self._kept_bytes + self._positions.count * _POSITION_BYTES + self._positions.weight_bytes

    def matching(self, names: Iterable[str]) -> tuple[frozenset[str], int]:
        """Give the names that match from beginning to end, and how much work that was.

        Raises Invalid when it is more than `MOST_WORK` and what the expression's length adds to it.
        """
        self._work = 0
        names = [*names]
        try:
            matched = frozenset(filter(self._matches, names))
        except Invalid:
            # Else it would depend on how often it was asked whether it is refused.
            self._forget()
            raise
        work = self._work + len(names) * _ONE_NAME
        if self._kept_bytes > MOST_KEPT_BYTES:
            self._forget()
        return matched, work

    def _matches(self, name: str) -> bool:
        if self._listed is not None:
            return name in self._listed
        if not name.startswith(self._prefix):
            return False
        state: _State = reduce(getitem, name[:_SOON], self._start)
        # Most names that do not match are found not to very soon.
        if not state.positions:
            return False
        state = reduce(getitem, name[_SOON:], state)
        return bool(self._open(state, "") & MATCH)

    def following(self, state: _State, character: str) -> _State:
        """Work out where a character leads; the states ask."""
        self._spend(_NEW_TRANSITION * self._unit_of_states)
        self._kept_bytes += _TRANSITION_BYTES
        if state.positions & self._positions.everything:
            return state
        kind = ("w" if character in WORD else "-") if self._positions.has_places else ""
        return self._state(self._after(self._open(state, kind) & self._takers(character)), kind)

    # --- sets of positions ---

    def _forget(self) -> None:
        self._states: dict[tuple[int, str], _State] = {}
        self._kept_bytes = 0
        self._work = 0
        self._start = self._state(self._positions.first, "")

    def _state(self, positions: int, before: str) -> _State:
        found = self._states.get((positions, before))
        if found is None:
            self._spend(_NEW_STATE * self._unit_of_states)
            found = self._states[positions, before] = _State(self, positions, before)
            self._kept_bytes += _STATE_BYTES + self._positions.count // 2
        return found

    def _takers(self, character: str) -> int:
        found = self._taking.get(character)
        if found is None:
            self._spend(self._positions.count // 20)
            found = self._taking[character] = self._positions.taking(character)
        return found

    def _after(self, taken: int) -> int:
        """Unite what follows these positions."""
        following = (taken & self._positions.in_a_row) >> 1
        for position in self._bits(taken & ~self._positions.in_a_row):
            following |= self._positions.following[position]
        return following

    def _open(self, state: _State, kind: str) -> int:
        """Add all that takes no character between what came before and the kind that comes next."""
        if kind not in state.opened:
            state.opened[kind] = self._opened(state.positions, state.before, kind)
        return state.opened[kind]

    def _opened(self, reached: int, before: str, after: str) -> int:
        seen = 0
        while new := reached & self._positions.passing & ~seen:
            seen |= new
            for position in self._bits(new):
                place = self._positions.places.get(position)
                if place is None or _holds(place, before, after):
                    reached |= self._positions.following[position]
        return reached

    def _bits(self, positions: int) -> list[int]:
        self._spend(positions.bit_count() * self._unit_of_bits)
        numbers = []
        while positions:
            lowest = positions & -positions
            numbers.append(lowest.bit_length() - 1)
            positions ^= lowest
        return numbers

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > self._most_work:
            raise Invalid("it takes too much work to match the names of the topics")


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
