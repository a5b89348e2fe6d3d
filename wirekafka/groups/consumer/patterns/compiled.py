"""`Compiled`: the automata of the patterns that were asked about of late, within a bound of memory.

Used by `patterns`, which every group of the broker asks; what was not asked about for longest is dropped.
An automaton grows while it is used, so its weight is taken anew after each use.

Source: no one's; Kafka compiles each pattern for each look-up.
"""

from wirekafka.groups.consumer.patterns.automaton import Automaton
from wirekafka.groups.consumer.patterns.parsing import parse

MOST_BYTES = 32_000_000


class Compiled:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[str, tuple[Automaton, int]] = {}
        """With their weights; the one used last is the last."""
        self._bytes = 0

    @property
    def weight_bytes(self) -> int:
        """About how much memory all of them take."""
        return self._bytes

    def of(self, pattern: str) -> Automaton:
        """Give a pattern's automaton. Raises Invalid."""
        if pattern not in self._kept:
            self._keep(pattern, Automaton(parse(pattern)))
        return self._kept[pattern][0]

    def used(self, pattern: str) -> None:
        """Take note that it was used just now."""
        self._keep(pattern, self._drop(pattern))

    def _keep(self, pattern: str, automaton: Automaton) -> None:
        weight_bytes = automaton.weight_bytes
        self._kept[pattern] = (automaton, weight_bytes)
        self._bytes += weight_bytes
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, pattern: str) -> Automaton:
        automaton, weight_bytes = self._kept.pop(pattern)
        self._bytes -= weight_bytes
        return automaton


COMPILED = Compiled()
