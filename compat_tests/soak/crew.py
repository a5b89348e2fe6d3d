"""The groups, and the life of each place in them: a member joins, reads, goes, and another comes.

Started by `__main__`. A place is a thread that has one member process after another.
Source: the issue: 30 members of mixed kinds.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compat_tests.clients import installed_clients
from compat_tests.clients.adapter import ConsumerSettings
from compat_tests.clients.driver import DriverClient
from compat_tests.soak.ledger import Ledger
from compat_tests.soak.member import LEAVE_SECONDS, MemberProcess, Post, Told

SESSION_SECONDS = 10.0
LIFE_SECONDS = (8.0, 45.0)
PAUSE_SECONDS = (0.5, 3.0)
KILLED_SHARE = 0.7
SECONDS_BETWEEN_DEATHS = 3.0 * SESSION_SECONDS
READING_SECONDS = 1.0
"""A member leaves when it had partitions so short a time ago, so not in the middle of a rebalance.

confluent-kafka 2.16 sends no LeaveGroup while its JoinGroup waits, or gives it up after 5 s, and is then gone
before the broker reads it, with Kafka too: it would be one more that has died.
"""
LATE_SECONDS = 2.0
"""When leaving takes longer, a rebalance has begun just before, and it may have been so after all."""
DIES_ALONG_FROM = 5
"""A group with so many members loses two at a time."""
_TELL_SECONDS = 0.5

KINDS = (
    ("eager", (("kafka-python", "range", 3), ("aiokafka", "range", 3), ("confluent-kafka", "range", 2))),
    ("cooperative", (("confluent-kafka", "cooperative-sticky", 5),)),
    ("consumer", (("confluent-kafka", "consumer", 5), ("java", "consumer", 2))),
    ("migrating", (("confluent-kafka", "range", 3), ("confluent-kafka", "consumer", 3))),
    ("roundrobin", (("aiokafka", "roundrobin", 2), ("kafka-python", "roundrobin", 2))),
)
"""Group, and its members: client, assignor (`consumer` is KIP-848), how many. 30 together."""


@dataclass(slots=True)
class Group:
    """One group. Deaths are apart by more than they may cost, or it could not be told what cost more."""

    name: str
    deaths_until: float
    members_die_along: int
    """How many die at the same moment as another."""
    next_death: float = 0.0
    doomed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def may_die(self, chance: float) -> bool:
        """Whether a member is to be killed now, by a chance of 0 to 1; the first that goes always is."""
        now = time.monotonic()
        with self.lock:
            if not self.next_death <= now < self.deaths_until:
                return False
            if self.next_death and chance >= KILLED_SHARE:
                return False
            self.next_death = now + SECONDS_BETWEEN_DEATHS
            self.doomed = self.members_die_along
            return True

    def dies_along(self) -> bool:
        """Whether this member is to be killed with the one that was."""
        with self.lock:
            if not self.doomed:
                return False
            self.doomed -= 1
            return True


class Place(threading.Thread):
    """One place of a group, filled by one member after another until the run is over."""

    def __init__(self, name: str, group: Group, post: Post, ledger: Ledger) -> None:
        super().__init__(name=name, daemon=True)
        self._group = group
        self._post = post
        self._ledger = ledger
        self._chance = random.Random(name)
        self.settled = threading.Event()
        """Its first member has a partition."""
        self.no_more_changes = threading.Event()
        self.over = threading.Event()

    @property
    def group_name(self) -> str:
        return self._group.name

    def run(self) -> None:
        while not self.over.is_set():
            self._one_life()
            self.over.wait(0.0 if self.over.is_set() else self._chance.uniform(*PAUSE_SECONDS))

    def _one_life(self) -> None:
        member = MemberProcess(self._post)
        self._ledger.note_event("joined")
        ends_at = time.monotonic() + self._chance.uniform(*LIFE_SECONDS)
        is_killed = self._watch(member, ends_at)
        if not member.is_alive:
            self._ledger.note_wrong(f"{self.name} ended by itself")
        elif is_killed:
            member.kill()
        else:
            self._ledger.note_event("left")
            member.leave()
        begun = time.monotonic()
        self._hear_out(member)
        now = time.monotonic()
        if now - begun > LATE_SECONDS and not self.over.is_set():
            self._ledger.note_late_leave(self.group_name, now)
        if not member.ended():
            self._ledger.note_wrong(f"{self.name} did not leave in time")

    def _watch(self, member: MemberProcess, ends_at: float) -> bool:
        """Hear a member until its time has come, and note for how long it has nothing.

        Gives whether it is to be killed; else it is to leave.
        """
        held_last: float | None = None
        chance = self._chance.random()
        while member.is_alive and not self.over.is_set():
            now = time.monotonic()
            may_go = self.settled.is_set() and not self.no_more_changes.is_set()
            is_reading = held_last is not None and now - held_last < READING_SECONDS
            if may_go and self._is_killed(chance, is_old=now > ends_at):
                self._ledger.note_death(self.group_name, now, is_reading=is_reading)
                return True
            if may_go and now > ends_at and is_reading:
                return False
            told = self._hear(member, _TELL_SECONDS)
            now = time.monotonic()
            if held_last is None and told is not None:
                held_last = now  # from the first poll on it asks for partitions
            if told is not None and told.holds:
                self.settled.set()
                held_last = now
            if held_last is not None:
                self._ledger.note_without(self.group_name, self.name, held_last, now)
        return False

    def _hear_out(self, member: MemberProcess) -> None:
        """Hear a member to its end: what it tells last, it may have committed."""
        deadline = time.monotonic() + LEAVE_SECONDS
        while time.monotonic() < deadline:
            is_alive = member.is_alive
            if self._hear(member, _TELL_SECONDS) is None and not is_alive:
                return

    def _hear(self, member: MemberProcess, timeout_seconds: float) -> Told | None:
        told = member.told(timeout_seconds)
        if told is not None:
            self._ledger.note_read(self.group_name, told.read)
            if told.refused is not None:
                self._ledger.note_refusal(self.group_name, told.refused)
        return told

    def _is_killed(self, chance: float, *, is_old: bool) -> bool:
        if issubclass(self._post.client_class, DriverClient):
            return False  # a driver would close its consumers when the process that started it is gone
        return self._group.dies_along() or (is_old and self._group.may_die(chance))


def make_places(
    bootstrap: str, topic: str, ledger: Ledger, *, seed: int, deaths_until: float, log: Path
) -> tuple[list[Place], Sequence[str]]:
    """The places of the ledger's groups, and what is left out because its client is not here."""
    by_name = {client.name: client for client in installed_clients()}
    places, left_out = [], []
    for name, kinds in ((name, kinds) for name, kinds in KINDS if name in ledger.groups):
        members_die_along = int(sum(count for _, _, count in kinds) >= DIES_ALONG_FROM)
        group = Group(name, deaths_until, members_die_along)
        for client_name, assignor, count in kinds:
            if client_name not in by_name:
                left_out.append(f"{count} of {client_name} in {name}")
                continue
            settings = ConsumerSettings(
                group=name, assignor=assignor, session_timeout_ms=int(SESSION_SECONDS * 1000)
            )
            post = Post(by_name[client_name], bootstrap, settings, topic, log)
            names = (f"{name}-{client_name}-{assignor}-{seed}-{number}" for number in range(count))
            places += [Place(each, group, post, ledger) for each in names]
    return places, left_out
