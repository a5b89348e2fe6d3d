"""One task that wakes machines when they asked to be woken.

Called by `journal`, run by `broker`. Source: Kafka's timer wheel has this part; one heap serves here.
"""

import heapq
import math
from collections.abc import Callable

import trio

from wirekafka.broker.clock import Clock


class Alarms:
    """Calls `ring(now_ms)` of each sleeper at the time it last asked for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[int, tuple[int, Callable[[int], None]]] = {}
        self._heap: list[tuple[int, int]] = []
        self._sleep: trio.CancelScope | None = None

    def set(self, sleeper: int, at_ms: int | None, ring: Callable[[int], None]) -> None:
        """Wake `sleeper` at `at_ms` and not at the time it asked for before; None: not at all."""
        known = self._due.get(sleeper)
        if at_ms is None:
            self._due.pop(sleeper, None)
            return
        if known is not None and known[0] == at_ms:
            return
        self._due[sleeper] = (at_ms, ring)
        heapq.heappush(self._heap, (at_ms, sleeper))
        if self._sleep is not None and self._heap[0] == (at_ms, sleeper):
            self._sleep.deadline = self._clock.trio_time(at_ms)

    async def run(self) -> None:
        """Ring what is due, forever."""
        while True:
            self._ring_due()
            deadline = self._clock.trio_time(self._heap[0][0]) if self._heap else math.inf
            with trio.CancelScope(deadline=deadline) as self._sleep:
                await trio.sleep_forever()
            self._sleep = None

    def _ring_due(self) -> None:
        now_ms = self._clock.now_ms()
        while self._heap and self._heap[0][0] <= now_ms:
            at_ms, sleeper = heapq.heappop(self._heap)
            due = self._due.get(sleeper)
            if due is None or due[0] != at_ms:
                continue  # it has asked for another time since
            del self._due[sleeper]
            due[1](now_ms)
