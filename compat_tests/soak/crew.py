"""The groups, and the life of each place in them: a member joins, reads, goes, and another comes.

Started by `__main__`. A place is a thread that has one member process after another.
Source: the issue: 30 members of mixed kinds.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from compat_tests.clients import installed_clients
from compat_tests.clients.adapter import Client, ConsumerSettings
from compat_tests.clients.driver import DriverClient
from compat_tests.soak.ledger import Ledger
from compat_tests.soak.member import LEAVE_SECONDS, MemberProcess, Told

SESSION_SECONDS = 10.0
LIFE_SECONDS = (8.0, 45.0)
PAUSE_SECONDS = (0.5, 3.0)
KILLED_SHARE = 0.7
SECONDS_BETWEEN_DEATHS = 2.0 * SESSION_SECONDS
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

    def may_die(self) -> bool:
        """Whether a member may be killed now; it then counts as killed."""
        now = time.monotonic()
        with self.lock:
            if not self.next_death <= now < self.deaths_until:
                return False
            self.next_death = now + SECONDS_BETWEEN_DEATHS
            self.doomed = self.members_die_along
            return True

    def dies_along(self) -> bool:
        """Whether a member is to be killed because another one was; asked by each, told to so many."""
        with self.lock:
            self.doomed -= self.doomed > 0
            return self.doomed >= 0
        

class Place(threading.Thread):
    """One place of a group, filled by one member after another until the run is over."""

    def __init__(
        self,
        group: Group,
        client_class: type[Client],
        assignor: str,
        *,
        bootstrap: str,
        topic: str,
        ledger: Ledger,
        seed: str,
    ) -> None:
        super().__init__(name=f"{group.name}-{client_class.name}-{seed}", daemon=True)
        self._group = group
        self._client_class = client_class
        self._settings = ConsumerSettings(
            group=group.name, assignor=assignor, session_timeout_ms=int(SESSION_SECONDS * 1000)
        )
        self._address = bootstrap
        self._topic = topic
        self._ledger = ledger
        self._chance = random.Random(seed)
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
        member = MemberProcess(self._client_class, self._address, self._settings, self._topic)
        self._ledger.note_event("joined")
        ends_at = time.monotonic() + self._chance.uniform(*LIFE_SECONDS)
        self._watch(member, ends_at)
        if not member.is_alive:
            self._ledger.note_wrong(f"{self.name} ended by itself")
        elif self._is_killed():
            self._ledger.note_event("killed")
            member.kill()
        else:
            self._ledger.note_event("left")
            member.leave()
        self._hear_out(member)
        if not member.ended():
            self._ledger.note_wrong(f"{self.name} did not leave in time")

    def _watch(self, member: MemberProcess, ends_at: float) -> None:
        """Hear a member until its time has come, and note for how long it has nothing."""
        held_last: float | None = None
        while member.is_alive and not self._is_time(ends_at):
            told = self._hear(member, _TELL_SECONDS)
            now = time.monotonic()
            if held_last is None and told is not None:
                held_last = now  # from the first poll on it asks for partitions
            if told is not None and told.holds:
                self.settled.set()
                held_last = now
            if held_last is not None:
                self._ledger.note_without(self._group.name, self.name, now - held_last)

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
            self._ledger.note_read(self._group.name, told.read)
            if told.refused is not None:
                self._ledger.note_refusal(self._group.name, told.refused)
        return told

    def _is_time(self, ends_at: float) -> bool:
        if self.over.is_set():
            return True
        return time.monotonic() > ends_at and self.settled.is_set() and not self.no_more_changes.is_set()

    def _is_killed(self) -> bool:
        if self.over.is_set() or issubclass(self._client_class, DriverClient):
            return False
        return self._chance.random() < KILLED_SHARE and self._group.may_die()


def make_places(
    bootstrap: str, topic: str, ledger: Ledger, seed: int, *, only: Collection[str] = ()
) -> tuple[list[Place], Sequence[str]]:
    """The places of all groups, and what is left out because its client is not here."""
    by_name = {client.name: client for client in installed_clients()}
    places, left_out = [], []
    for name, kinds in ((name, kinds) for name, kinds in KINDS if not only or name in only):
        group = Group(name)
        for client_name, assignor, count in kinds:
            if client_name not in by_name:
                left_out.append(f"{count} of {client_name} in {name}")
                continue
            places += [
                Place(
                    group,
                    by_name[client_name],
                    assignor,
                    bootstrap=bootstrap,
                    topic=topic,
                    ledger=ledger,
                    seed=f"{seed}-{assignor}-{number}",
                )
                for number in range(count)
            ]
    return places, left_out
