"""Two brokers' exchanges, compared field by field.

Called by `run`; calls the list in `purpose`. Source: KIPs' word "compatible": the same request, the same
answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compat_tests.differential.fields import Plain
from compat_tests.differential.plain import naming
from compat_tests.differential.purpose import OnPurpose
from compat_tests.differential.side import Exchange

ANSWER = "answer"
"""The field that differs when one broker is silent, or its answer cannot be read."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field of one exchange that differs."""

    exchange: str
    field: str
    place: str
    kafka: Plain
    ours: Plain


@dataclass(slots=True)
class Comparison:
    """What came of comparing."""

    exchanges: list[Exchange] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    unexplained: list[Difference] = field(default_factory=list)
    explained: dict[OnPurpose, int] = field(default_factory=dict)
    explained_exchanges: set[str] = field(default_factory=set)

    def add(
        self, kafka: Sequence[Exchange], ours: Sequence[Exchange], purposes: Sequence[OnPurpose]
    ) -> list[Difference]:
        """Compare one scenario's exchanges, and give its differences that are not on purpose.

        Raises ValueError when two exchanges have one name: the lists go by names.
        """
        found: list[Difference] = []
        for theirs, own in itertools.zip_longest(kafka, ours):
            if theirs is None or own is None or theirs.name != own.name:
                found.append(_out_of_step(theirs, own))
                break
            if theirs.name in self.names:
                raise ValueError(f"two exchanges are called {theirs.name}")
            self.names.add(theirs.name)
            self.exchanges.append(theirs)
            found += self._compare(theirs, own, purposes)
        self.unexplained += found
        return found

    def stale(self, purposes: Sequence[OnPurpose], scenarios: Sequence[str], whole: bool) -> list[OnPurpose]:
        """Give the entries that match no difference any more, of the scenarios that ran."""
        due = (p for p in purposes if whole or p.exchanges.partition(":")[0] in scenarios)
        return [purpose for purpose in due if purpose not in self.explained]

    def _compare(self, theirs: Exchange, own: Exchange, purposes: Sequence[OnPurpose]) -> list[Difference]:
        differences = list(_differences(theirs.name, theirs.answer, own.answer))
        known = [purpose for purpose in purposes if purpose.is_about(theirs.name)]
        for purpose in known:
            matched = [d for d in differences if purpose.explains(d.field, d.place, d.kafka, d.ours)]
            if matched:
                self.explained[purpose] = self.explained.get(purpose, 0) + 1
                self.explained_exchanges.add(theirs.name)
                differences = [
                    d for d in differences if d not in matched and not purpose.entails_field(d.field)
                ]
        return differences


def _out_of_step(theirs: Exchange | None, own: Exchange | None) -> Difference:
    name = theirs.name if theirs else own.name if own else ""
    return Difference(
        name, "exchange", "exchange", theirs.name if theirs else None, own.name if own else None
    )


def _differences(
    exchange: str, kafka: Plain, ours: Plain, name: str = "", place: str = ""
) -> Iterator[Difference]:
    if isinstance(kafka, dict) and isinstance(ours, dict):
        for key in kafka.keys() | ours.keys():
            yield from _differences(
                exchange, kafka.get(key), ours.get(key), f"{name}.{key}".lstrip("."), f"{place}.{key}"
            )
    elif isinstance(kafka, list) and isinstance(ours, list) and len(kafka) == len(ours):
        for one, other in zip(kafka, ours, strict=True):
            yield from _differences(exchange, one, other, name, f"{place}[{'/'.join(naming(one))}]")
    elif kafka != ours:
        yield Difference(exchange, name or ANSWER, place or ANSWER, _told(kafka, ours), _told(ours, kafka))


def _told(value: Plain, other: Plain) -> Plain:
    """Of two lists, what the other lacks."""
    if isinstance(value, list) and isinstance(other, list):
        others = [naming(item) for item in other]
        only: list[Plain] = ["/".join(naming(item)) for item in value if naming(item) not in others]
        return [f"{len(value)} entries, of them alone here:", *only]
    return value
