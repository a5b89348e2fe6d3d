"""`Unlinking`: removes files that were set aside, some time after, in a thread.

Run by `broker`; told by `retention` and `cleaning`. What is left at a stop goes at the next start.

Source: Kafka's LocalLog.deleteSegmentFiles and file.delete.delay.ms.
"""

import heapq
import math
from collections.abc import Callable, Sequence

import trio

from wirekafka.observability import get_logger

logger = get_logger("broker")

Unlink = Callable[[Sequence[str]], None]


class Unlinking:
    """The files that are still to go, by the time at which they are due."""

    def __init__(self, unlink: Unlink) -> None:
        self._unlink = unlink
        self._due: list[tuple[float, Sequence[str]]] = []
        self._sleep = trio.CancelScope()

    def later(self, paths: Sequence[str], delay_ms: int) -> None:
        """Have files removed in some time."""
        if not paths:
            return
        due = trio.current_time() + delay_ms / 1000
        heapq.heappush(self._due, (due, paths))
        self._sleep.deadline = min(self._sleep.deadline, due)

    async def run(self) -> None:
        """Remove what is due, forever. What cannot be removed is left for the next start."""
        while True:
            with trio.CancelScope(deadline=self._due[0][0] if self._due else math.inf) as self._sleep:
                await trio.sleep_forever()
            paths: list[str] = []
            while self._due and self._due[0][0] <= trio.current_time():
                paths += heapq.heappop(self._due)[1]
            await self.now(paths)

    async def now(self, paths: Sequence[str]) -> None:
        """Remove files. What cannot be removed is left for the next start."""
        try:
            await trio.to_thread.run_sync(self._unlink, paths)
        except OSError as error:
            logger.warning("files of dropped segments are left until the next start: %s", error)
