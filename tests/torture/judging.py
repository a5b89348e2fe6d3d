"""Holds what a broker gives back to what its producers were told.

`found_wrong` is pure: records read and acknowledgements in, sentences out, none when all is right.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from tests.torture.oracle import Acknowledged, Source


class Rule(Enum):
    """What a topic may have forgotten on purpose."""

    KEPT = "nothing"
    RETAINED = "what lies before its start offset"
    COMPACTED = "records with a later one of their key"


@dataclass(slots=True)
class Read:
    """All records of a topic as one consumer got them."""

    records: dict[int, list[tuple[int, int, int]]] = field(default_factory=lambda: defaultdict(list))
    """By partition: (offset, producer, sequence) in the order of delivery."""
    start_offsets: dict[int, int] = field(default_factory=dict)
    forged: list[str] = field(default_factory=list)
    """Values that nobody sent, each as a sentence."""

    @property
    def count(self) -> int:
        return sum(len(records) for records in self.records.values())

    def sources(self) -> dict[Source, list[tuple[int, int]]]:
        """(sequence, offset) of every source in the order of delivery."""
        sources: dict[Source, list[tuple[int, int]]] = defaultdict(list)
        for partition, records in self.records.items():
            for offset, producer, sequence in records:
                sources[producer, partition].append((sequence, offset))
        return sources


def found_wrong(acknowledged: Acknowledged, read: Read, rule: Rule, *, keys: int = 0) -> list[str]:
    """A sentence for every record lost, doubled, out of order, at another offset, or never sent.

    `keys` is how many keys each producer has, for COMPACTED.
    """
    findings = list(read.forged)
    for partition, records in read.records.items():
        offsets = [offset for offset, _, _ in records]
        if offsets != sorted(set(offsets)):
            findings.append(f"partition {partition} was delivered out of the order of offsets")
    there = read.sources()
    for source in sorted(acknowledged.offsets.keys() | there.keys()):
        told = acknowledged.offsets.get(source, {})
        start = read.start_offsets.get(source[1], 0)
        name = f"producer {source[0]}, partition {source[1]}"
        found = _wrong_of_source(told, there.get(source, []), start, rule, keys=keys)
        findings += [f"{name}: {finding}" for finding in found]
    return findings


def _wrong_of_source(
    told: dict[int, int], there: list[tuple[int, int]], start: int, rule: Rule, *, keys: int
) -> Iterator[str]:
    yield from _misordered(there, has_gaps=rule is Rule.COMPACTED)
    yield from _misplaced(told, there)
    match rule:
        case Rule.COMPACTED:
            yield from _lost_latest(told, there, keys)
        case Rule.RETAINED:
            yield from _lost(told, there, start)
        case Rule.KEPT:
            yield from _lost(told, there, 0)
            if there and there[0][0] != 0:
                yield f"begins with sequence {there[0][0]}"


def _misordered(there: list[tuple[int, int]], *, has_gaps: bool) -> Iterator[str]:
    for (before, offset), (after, next_offset) in pairwise(there):
        if after <= before:
            yield f"sequence {after} at offset {next_offset} stands behind {before} at {offset}"
        elif after != before + 1 and not has_gaps:
            yield f"a hole between sequence {before} at offset {offset} and {after} at {next_offset}"


def _misplaced(told: dict[int, int], there: list[tuple[int, int]]) -> Iterator[str]:
    for sequence, offset in there:
        acknowledged = told.get(sequence, offset)
        if acknowledged not in (offset, -1):
            yield f"sequence {sequence} was acknowledged at offset {acknowledged}, and stands at {offset}"


def _lost(told: dict[int, int], there: list[tuple[int, int]], start: int) -> Iterator[str]:
    here = {sequence for sequence, _ in there}
    first_kept = there[0][0] if there else 0
    lost = []
    for sequence, offset in told.items():
        dropped = offset < start if offset >= 0 else start > 0 and sequence < first_kept
        if sequence not in here and not dropped:
            lost.append(sequence)
    if lost:
        yield f"{len(lost)} acknowledged records lost, sequences {min(lost)} to {max(lost)}"


def _lost_latest(told: dict[int, int], there: list[tuple[int, int]], keys: int) -> Iterator[str]:
    latest: dict[int, int] = {}
    for sequence, _ in there:
        latest[sequence % keys] = max(sequence, latest.get(sequence % keys, -1))
    wanted: dict[int, int] = {}
    for sequence in told:
        wanted[sequence % keys] = max(sequence, wanted.get(sequence % keys, -1))
    for key, sequence in sorted(wanted.items()):
        if latest.get(key, -1) < sequence:
            yield f"key {key}: acknowledged up to sequence {sequence}, there is {latest.get(key)}"
