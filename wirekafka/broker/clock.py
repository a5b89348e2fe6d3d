"""The one clock of a running broker.

Machines get `now_ms` from here as an argument; nothing below reads a clock.
"""

from time import time as _wall_seconds  # noqa: TID251  # the one place where the clock is read

import trio


class Clock:
    """Two readings of the time, for two uses.

    Made inside a trio run, whose clock it follows: under trio's MockClock a test moves time.
    """

    def __init__(self) -> None:
        self._wall_minus_trio_ms = _wall_seconds() * 1000 - trio.current_time() * 1000

    def now_ms(self) -> int:
        """Time that never jumps, for deadlines: the wall clock's at the start, carried on by trio's.

        So neither a corrected system clock nor a laptop that slept expires a session.
        """
        return int(trio.current_time() * 1000 + self._wall_minus_trio_ms)

    def wall_ms(self) -> int:
        """What clients' clocks say, as far as this machine knows: what timestamps are held against."""
        return int(_wall_seconds() * 1000)

    def trio_time(self, at_ms: int) -> float:
        """The reading of trio's clock, in seconds, when `now_ms` will be `at_ms`."""
        return (at_ms - self._wall_minus_trio_ms) / 1000
