"""What was written, read and committed, and what may not be: the judge of the soak.

Written to by `crew` from many threads, asked by `__main__` in the end.
Source: the issue's three sentences: every record at least once, no commit goes back, nobody is stuck.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from compat_tests.clients.adapter import Partition, Place

SHOWN = 20


@dataclass(slots=True)
class Ledger:
    """All that is known of a run. What is wrong is kept as sentences."""

    session_seconds: float
    slack_seconds: float
    """For a machine that has more to do than it can: what else than the broker makes members wait."""
    written: set[Place] = field(default_factory=set)
    read: dict[str, set[Place]] = field(default_factory=dict)
    committed: dict[str, dict[Partition, int]] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    longest_without: dict[str, float] = field(default_factory=dict)
    """By group: for how long a living member had no partition."""
    stuck: set[str] = field(default_factory=set)
    """The members that are without one for too long at present."""
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note_written(self, place: Place) -> None:
        with self.lock:
            self.written.add(place)

    def note_read(self, group: str, places: Iterable[Place]) -> None:
        with self.lock:
            self.read.setdefault(group, set()).update(places)

    def note_event(self, what: str) -> None:
        with self.lock:
            self.events[what] += 1

    def note_refusal(self, group: str, text: str) -> None:
        with self.lock:
            self.refusals[f"{group}: {text[:100]}"] += 1

    def note_wrong(self, sentence: str) -> None:
        with self.lock:
            self.wrong.append(sentence)

    def note_without(self, group: str, member: str, seconds: float) -> None:
        """A member has been without a partition for so long."""
        with self.lock:
            self.longest_without[group] = max(seconds, self.longest_without.get(group, 0.0))
            limit = self.session_seconds + self.slack_seconds
            if seconds > limit and member not in self.stuck:
                self.wrong.append(f"{member} had no partition for more than {limit:.0f} s")
                self.stuck.add(member)
            elif seconds == 0:
                self.stuck.discard(member)

    def note_committed(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """See what a group has committed now; none may be less than it was, nor be gone."""
        with self.lock:
            before = self.committed.get(group, {})
            for partition, offset in before.items():
                now = offsets.get(partition, -1)
                if now < offset:
                    self.wrong.append(f"{group}: {partition} was committed up to {offset}, now {now}")
            self.committed[group] = dict(offsets)

    def unread(self, group: str) -> set[Place]:
        """What was written and not yet read."""
        with self.lock:
            return self.written - self.read.get(group, set())

    def faults(self, groups: Iterable[str]) -> list[str]:
        """Everything that is wrong, a sentence each."""
        found = list(self.wrong[:SHOWN])
        if len(self.wrong) > SHOWN:
            found.append(f"and {len(self.wrong) - SHOWN} more of these")
        for group in groups:
            if missing := sorted(self.unread(group)):
                partitions = {partition for partition, _ in missing}
                known = self.committed.get(group, {})
                committed = {each: offset for each, offset in known.items() if each[1] in partitions}
                found.append(f"{group} has not read {len(missing)} records: {missing[:5]} ...; {committed=}")
        return found
