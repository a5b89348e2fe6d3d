"""`Positions`: an expression written out, as the places where a name that is being matched may stand.

Made by `automaton`. A position takes one character out of some, and others follow it; a set of positions
is a number with a bit for each. Position 0 is the end of a name that matches. Some positions take nothing:
the beginning of a loop, and what holds only at some place, such as `\\b`. It is built from the end to the
beginning, so what is in a row in the expression has numbers in a row, downwards.

Source: Glushkov's automaton.
"""

from wirekafka.groups.consumer.patterns.tree import (
    LONGEST_NAME,
    TOPIC_CHARACTERS,
    Choice,
    Invalid,
    Node,
    OneOf,
    Place,
    Repetition,
    Sequence,
)

MATCH = 1
"""The set of nothing but the end of a name that matches."""
MOST_STEPS = 10_000
_ENOUGH_REPETITIONS = LONGEST_NAME + 1


class Positions:
    """Raises Invalid when there would be too many."""

    def __init__(self, tree: Node) -> None:
        self._characters: list[frozenset[str]] = [frozenset()]
        self._steps_left = MOST_STEPS
        self.following: dict[int, int] = {}
        """By position the set that follows, but for those `in_a_row`."""
        self.places: dict[int, Place] = {}
        self.passing = 0
        """Those that take no character."""
        self.everything = 0
        """Those whence any name matches, whatever comes."""
        self.weight_bytes = 0
        """What the sets in `following` take."""
        self._in_a_row: list[int] = []
        self.first = self._build(tree, MATCH)
        self.in_a_row = _set(self._in_a_row)
        """Those followed by the position one lower, and nothing else."""

    @property
    def count(self) -> int:
        return len(self._characters)

    @property
    def has_places(self) -> bool:
        """Whether it matters between what characters a name stands."""
        return bool(self.places)

    def taking(self, character: str) -> int:
        """Give the set of those that take a character."""
        return _set([number for number, taken in enumerate(self._characters) if character in taken])

    # --- building, from the end to the beginning ---

    def _new(self, characters: frozenset[str], following: int) -> int:
        number = self.count
        self._characters.append(characters)
        self._follow(number, following)
        return number

    def _follow(self, number: int, following: int) -> None:
        if following == 1 << (number - 1):
            self._in_a_row.append(number)
        else:
            self.following[number] = following
            self.weight_bytes += following.bit_length() // 8

    def _pass(self, following: int) -> int:
        number = self.count
        self._characters.append(frozenset())
        self.following[number] = following
        self.passing |= 1 << number
        return number

    def _build(self, node: Node, then: int) -> int:
        """Add the positions of a part behind which `then` follows; give the set of its first."""
        self._steps_left -= 1
        if self._steps_left < 0:
            raise Invalid(f"it is too large, with its repetitions written out: more than {MOST_STEPS} steps")
        match node:
            case OneOf(characters):
                # What takes no character of topic names leads nowhere.
                return 1 << self._new(characters, then) if characters and then else 0
            case Place():
                return self._build_place(node, then)
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._build(part, then)
                return then
            case Choice(alternatives):
                first = 0
                for alternative in alternatives:
                    first |= self._build(alternative, then)
                return first
            case Repetition(part, least, most):
                return self._build_repetition(part, least, most, then)

    def _build_place(self, place: Place, then: int) -> int:
        # A name that matches is at its end.
        if not then or (place is Place.END and then == MATCH):
            return then
        number = self._pass(then)
        self.places[number] = place
        return 1 << number

    def _build_repetition(self, part: Node, least: int, most: int | None, then: int) -> int:
        least = min(least, _ENOUGH_REPETITIONS)
        if most is None:
            first = self._build_loop(part, then)
        else:
            first = self._build_often(part, min(most, _ENOUGH_REPETITIONS) - least, then, or_else=then)
        return self._build_often(part, least, first, or_else=0)

    def _build_often(self, part: Node, times: int, then: int, *, or_else: int) -> int:
        for _ in range(times):
            first = self._build(part, then) | or_else
            if first == then:
                # It takes nothing, and will not the next time.
                break
            then = first
        return then

    def _build_loop(self, part: Node, then: int) -> int:
        if isinstance(part, OneOf):
            return self._build_short_loop(part.characters, then) if part.characters else then
        beginning = self._pass(0)
        self.following[beginning] = self._build(part, 1 << beginning) | then
        self.weight_bytes += self.following[beginning].bit_length() // 8
        return 1 << beginning

    def _build_short_loop(self, characters: frozenset[str], then: int) -> int:
        number = self.count
        first = then | 1 << number
        self._new(characters, first)
        if characters == TOPIC_CHARACTERS and then & MATCH:
            self.everything |= 1 << number
        return first


def _set(numbers: list[int]) -> int:
    written = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        written[number // 8] |= 1 << number % 8
    return int.from_bytes(written, "little")
