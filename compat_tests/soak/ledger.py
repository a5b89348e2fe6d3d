"""What was written, read and committed, and what may not be: the judge of the soak.

Written to by `crew` and `watching` from many threads, asked by `__main__` in the end. A death, and a start
of the broker, after which sessions begin anew, may cost the group a session: what is waited for is timed from
the last of these.
Source: the issue's three sentences: every record at least once, no commit goes back, nobody is stuck.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from compat_tests.clients.adapter import Partition, Place

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run has to keep to."""

    session_seconds: float
    slack_seconds: float
    """For a machine that has more to do than it can: what else than the broker makes members wait."""
    least_sent: int = 0
    """Records, of which each has to be acknowledged."""
    least_looks: int = 0
    """How often what a group has committed has to be seen."""
    least_deaths: int = 0
    """How many members of each group have to be killed."""

    @property
    def wait_seconds(self) -> float:
        """For how long a member may have no partition, and a record of its partitions not be read."""
        return self.session_seconds + self.slack_seconds


@dataclass(slots=True)
class GroupPage:
    """What is known of one group."""

    read: set[Place] = field(default_factory=set)
    unread: dict[Place, float] = field(default_factory=dict)
    """When it was written, of each record that the group has still to read."""
    committed: dict[Partition, int] = field(default_factory=dict)
    looks: int = 0
    deaths: int = 0
    excused_at: float = 0.0
    """The last thing that may cost it a session."""
    longest_without: float = 0.0
    """For how long a living member had no partition, in seconds."""
    longest_unread: float = 0.0
    """The age of the oldest record that was not read, in seconds."""
    stuck: set[str] = field(default_factory=set)
    """The members, and the partitions, that wait for too long at present."""


@dataclass(slots=True)
class Ledger:
    """All that is known of a run. What is wrong is kept as sentences. Times are seconds of one clock."""

    limits: Limits
    groups: Collection[str]
    sent: int = 0
    written: set[Place] = field(default_factory=set)
    ends: dict[int, int] = field(default_factory=dict)
    """The offset behind the last record that was written, by partition."""
    pages: defaultdict[str, GroupPage] = field(default_factory=lambda: defaultdict(GroupPage))
    events: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note_sent(self) -> None:
        with self.lock:
            self.sent += 1

    def note_written(self, place: Place, now: float) -> None:
        partition, offset = place
        with self.lock:
            self.written.add(place)
            self.ends[partition] = max(offset + 1, self.ends.get(partition, 0))
            for group in self.groups:
                page = self.pages[group]
                if place not in page.read:
                    page.unread[place] = now

    def note_read(self, group: str, places: Iterable[Place]) -> None:
        with self.lock:
            page = self.pages[group]
            for place in places:
                page.read.add(place)
                page.unread.pop(place, None)

    def note_event(self, what: str) -> None:
        with self.lock:
            self.events[what] += 1

    def note_refusal(self, group: str, text: str) -> None:
        with self.lock:
            self.refusals[f"{group}: {text[:100]}"] += 1

    def note_wrong(self, sentence: str) -> None:
        with self.lock:
            self.wrong.append(sentence)

    def note_death(self, group: str, now: float, *, is_reading: bool) -> None:
        """A member was killed, perhaps one whose JoinGroup waits.

        That one counts as alive until the wait is over, at most a session, and then for a session more.
        """
        with self.lock:
            self.events["killed"] += 1
            self.pages[group].deaths += 1
            self.pages[group].excused_at = now if is_reading else now + self.limits.session_seconds

    def note_late_leave(self, group: str, now: float) -> None:
        """A member needed so long to leave that it has perhaps not left, and its JoinGroup waits."""
        with self.lock:
            self.events["left late"] += 1
            self.pages[group].excused_at = now + self.limits.session_seconds

    def excuse_all(self, now: float) -> None:
        """The broker was killed, or is there again."""
        with self.lock:
            for group in self.groups:
                page = self.pages[group]
                page.excused_at = max(now, page.excused_at)

    def note_without(self, group: str, member: str, since: float, now: float) -> None:
        """A member has had no partition, or said nothing, since; nothing is amiss when that is now."""
        with self.lock:
            page = self.pages[group]
            seconds = max(0.0, now - max(since, page.excused_at))
            page.longest_without = max(seconds, page.longest_without)
            self._judge_wait(page, member, f"{member} had no partition, or said nothing,", seconds)

    def look_at_unread(self, now: float) -> None:
        """See for how long records have not been read."""
        with self.lock:
            for group in self.groups:
                page = self.pages[group]
                oldest: dict[int, float] = dict.fromkeys(self.ends, now)
                for (partition, _), written_at in page.unread.items():
                    oldest[partition] = min(written_at, oldest[partition])
                for partition, since in oldest.items():
                    seconds = max(0.0, now - max(since, page.excused_at))
                    page.longest_unread = max(seconds, page.longest_unread)
                    what = f"{group} did not read partition {partition}"
                    self._judge_wait(page, f"partition {partition}", what, seconds)

    def _judge_wait(self, page: GroupPage, who: str, what: str, seconds: float) -> None:
        limit = self.limits.wait_seconds
        if seconds <= limit:
            page.stuck.discard(who)
        elif who not in page.stuck:
            page.stuck.add(who)
            self.wrong.append(f"{what} for more than {limit:.0f} s")

    def note_committed(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """See what a group has committed now; none may be less than it was, nor be gone."""
        with self.lock:
            page = self.pages[group]
            page.looks += 1
            for partition, offset in page.committed.items():
                now = offsets.get(partition, -1)
                if now < offset:
                    self.wrong.append(f"{group}: {partition} was committed up to {offset}, now {now}")
            page.committed = dict(offsets)

    def unread_count(self, group: str) -> int:
        """How many records the group has still to read."""
        with self.lock:
            return len(self.pages[group].unread)

    def uncommitted(self, group: str) -> dict[int, int]:
        """What is committed of the partitions that are not committed up to their ends."""
        with self.lock:
            committed = {partition: offset for (_, partition), offset in self.pages[group].committed.items()}
            found = {partition: committed.get(partition, -1) for partition in self.ends}
            return {each: offset for each, offset in found.items() if offset < self.ends[each]}

    def faults(self) -> list[str]:
        """Everything that is wrong, a sentence each."""
        found = list(self.wrong[:SHOWN])
        if len(self.wrong) > SHOWN:
            found.append(f"and {len(self.wrong) - SHOWN} more of these")
        found += self._too_little()
        for group in self.groups:
            if missing := sorted(self.pages[group].unread):
                found.append(f"{group} has not read {len(missing)} records: {missing[:5]} ...")
            if behind := self.uncommitted(group):
                found.append(f"{group} has not committed up to the ends: {behind}")
        return found

    def _too_little(self) -> Iterator[str]:
        """What was not done often enough for the rest to mean something."""
        limits = self.limits
        if self.sent < limits.least_sent:
            yield f"only {self.sent} records were sent, less than {limits.least_sent}"
        if len(self.written) < self.sent:
            yield f"of {self.sent} records that were sent only {len(self.written)} were acknowledged"
        for group in self.groups:
            page = self.pages[group]
            if page.looks < limits.least_looks:
                yield f"{group}: commits were seen only {page.looks} times, less than {limits.least_looks}"
            if page.deaths < limits.least_deaths:
                yield f"{group}: only {page.deaths} members were killed, less than {limits.least_deaths}"
