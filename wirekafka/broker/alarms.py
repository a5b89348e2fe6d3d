"""One task that wakes machines when they asked to be woken.

Called by `journal`, run by `broker`. There are as many sleepers as journals, a few dozen, so the
earliest is looked for rather than kept in order. Source: Kafka's timer wheel has this part.
"""

import math
from collections.abc import Callable

import trio

from wirekafka.broker.clock import Clock


class Alarms:
    """Calls `ring(now_ms)` of each sleeper at the time it last asked for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[int, tuple[int, Callable[[int], None]]] = {}
        self._sleep = trio.CancelScope()

    def set(self, sleeper: int, at_ms: int | None, ring: Callable[[int], None]) -> None:
        """Wake `sleeper` at `at_ms` and not at the time it asked for before; None: not at all."""
        if at_ms is None:
            self._due.pop(sleeper, None)
            return
        self._due[sleeper] = (at_ms, ring)
        # A later time is left to the next look, which is made when the earlier one has come.
        self._sleep.deadline = min(self._sleep.deadline, self._clock.trio_time(at_ms))

    async def run(self) -> None:
        """Ring what is due, forever."""
        while True:
            self._ring_due()
            earliest_ms = min((at_ms for at_ms, _ in self._due.values()), default=None)
            deadline = math.inf if earliest_ms is None else self._clock.trio_time(earliest_ms)
            with trio.CancelScope(deadline=deadline) as self._sleep:
                await trio.sleep_forever()

    def _ring_due(self) -> None:
        now_ms = self._clock.now_ms()
        due = [(at_ms, sleeper) for sleeper, (at_ms, _) in self._due.items() if at_ms <= now_ms]
        for at_ms, sleeper in sorted(due):
            asked = self._due.get(sleeper)
            if asked is not None and asked[0] == at_ms:  # nobody who rang before has changed it
                del self._due[sleeper]
                asked[1](now_ms)
