"""What falls due in a group shard, and when: keys, and a min-heap from which one can be taken back or moved.

Held by `classic.volatile.Volatile`; `groups.falling_due` says what is done about each. A key has at most one
deadline; what was moved or cancelled stays in the heap until it comes to the top, or until such leftovers
outnumber the living.

Source: the keys and operations of Kafka's CoordinatorTimer.
"""

import heapq
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_LEFTOVERS_ALLOWED = 64


@dataclass(frozen=True, slots=True)
class SessionDeadline:
    """A member, or a pending member, must be heard of."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class JoinDeadline:
    """The rebalance goes on without those who have not joined."""

    group_id: str


@dataclass(frozen=True, slots=True)
class SyncDeadline:
    """Members that have not asked for their assignment are dropped."""

    group_id: str


@dataclass(frozen=True, slots=True)
class HeldDeadline:
    """The answer to a member's Heartbeat has been held long enough."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class RevocationDeadline:
    """A member of a consumer group must have given up what it was told to."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class MemberJoinDeadline:
    """A classic member of a consumer group must have joined again."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class MemberSyncDeadline:
    """A classic member of a consumer group must have asked for what it was given."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class RetentionDeadline:
    """Expired offsets and groups are looked for."""


GroupDeadline = (
    SessionDeadline
    | JoinDeadline
    | SyncDeadline
    | HeldDeadline
    | RevocationDeadline
    | MemberJoinDeadline
    | MemberSyncDeadline
)
"""What is expected of a group or one of its members."""

Deadline = GroupDeadline | RetentionDeadline


class Deadlines(Generic[K]):
    """Keys in the order in which they fall due; those due together, in the order of scheduling."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, K]] = []
        self._current: dict[K, tuple[int, int]] = {}
        self._drawn = 0

    def __len__(self) -> int:
        return len(self._current)

    def __contains__(self, key: K) -> bool:
        return key in self._current

    def schedule(self, key: K, due_ms: int) -> None:
        """Let `key` fall due at `due_ms`, in place of any earlier word on it."""
        self._drawn += 1
        self._current[key] = (due_ms, self._drawn)
        heapq.heappush(self._heap, (due_ms, self._drawn, key))
        if len(self._heap) > 2 * len(self._current) + _LEFTOVERS_ALLOWED:
            self._heap = [(due, number, key) for key, (due, number) in self._current.items()]
            heapq.heapify(self._heap)

    def cancel(self, key: K) -> None:
        """Forget `key`; it need not be there."""
        self._current.pop(key, None)

    def next_due_ms(self) -> int | None:
        """Give the earliest deadline, None when there is none."""
        self._drop_leftovers()
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> K | None:
        """Take out the first key that is due by `now_ms`; None when nothing is."""
        self._drop_leftovers()
        if not self._heap or self._heap[0][0] > now_ms:
            return None
        key = heapq.heappop(self._heap)[2]
        del self._current[key]
        return key

    def _drop_leftovers(self) -> None:
        while self._heap:
            due, number, key = self._heap[0]
            if self._current.get(key) == (due, number):
                return
            heapq.heappop(self._heap)
