"""Deadlines by key: a min-heap from which a key can be taken back or moved.

Held by `classic.volatile.Volatile`. A key has at most one deadline; what was moved or cancelled
stays in the heap until it comes to the top, or until such leftovers outnumber the living.

Source: what Kafka's CoordinatorTimer offers (schedule and cancel by key).
"""

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_LEFTOVERS_ALLOWED = 64


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
