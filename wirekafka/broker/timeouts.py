"""When the time of those is up who wait for records: one task for the deadlines of all.

Called by `fetching`, run by `broker`. A reader at the end of a log waits anew for every record, and its time
is hardly ever up: with a scope of trio's for each wait, the scopes were an eighth of what such a record costs
the processor. Here a wait is an entry in a heap; when it is over, the entry stays until its time has come, or
until there are too many such.

Source: Kafka's DelayedOperationPurgatory has this part, by a timer wheel and a reaper.
"""

import heapq
import math
from collections.abc import Callable

import trio

_MOST_OVER = 1000
"""More entries whose waits are over are not kept, if they are more than the others."""


class Timeout:
    """One entry: a deadline, and what is to be called then."""

    __slots__ = ("deadline", "ring")

    def __init__(self, deadline: float, ring: Callable[[], object]) -> None:
        self.deadline = deadline
        self.ring: Callable[[], object] | None = ring
        """None when the wait is over."""

    def __lt__(self, other: "Timeout") -> bool:
        return self.deadline < other.deadline


class Timeouts:
    """Calls what was set when its time has come, unless it has been taken back."""

    def __init__(self) -> None:
        self._entries: list[Timeout] = []
        self._over = 0
        self._sleep = trio.CancelScope()
        self._sleeps_until = -math.inf

    def set(self, deadline: float, ring: Callable[[], object]) -> Timeout:
        """Have `ring` called once trio's clock shows the deadline, in seconds."""
        timeout = Timeout(deadline, ring)
        heapq.heappush(self._entries, timeout)
        if deadline < self._sleeps_until:
            self._sleeps_until = self._sleep.deadline = deadline
        return timeout

    def take_back(self, timeout: Timeout) -> None:
        """Not call it any more, if it has not been called."""
        if timeout.ring is None:
            return
        timeout.ring = None
        self._over += 1
        if self._over > _MOST_OVER and 2 * self._over > len(self._entries):
            self._entries = [one for one in self._entries if one.ring is not None]
            heapq.heapify(self._entries)
            self._over = 0

    def __len__(self) -> int:
        """How many entries there are, with those whose waits are over."""
        return len(self._entries)

    async def run(self) -> None:
        """Ring what is due, forever."""
        while True:
            self._ring_due()
            self._sleeps_until = self._entries[0].deadline if self._entries else math.inf
            with trio.CancelScope(deadline=self._sleeps_until) as self._sleep:
                await trio.sleep_forever()

    def _ring_due(self) -> None:
        """Ring those whose time has come, and forget those before the next that is waited for."""
        now = trio.current_time()
        while self._entries and (self._entries[0].ring is None or self._entries[0].deadline <= now):
            timeout = heapq.heappop(self._entries)
            ring, timeout.ring = timeout.ring, None
            if ring is None:
                self._over -= 1
            else:
                ring()
