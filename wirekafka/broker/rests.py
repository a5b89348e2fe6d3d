"""`Rests`: what has failed is left alone for a while, for longer each time.

Used by `cleaning`: a compaction that meets a full disk has taken the last of it before, which every append
of the broker feels, so it is not to come back every second.
Source: ours; Kafka gives the whole data folder up.
"""

from typing import NamedTuple

import trio

from wirekafka.storage import PartitionLog

_FIRST_SECONDS = 15.0
_LONGEST_SECONDS = 900.0


class _Rest(NamedTuple):
    seconds: float
    until: float


class Rests:
    """The logs that rest, and until when."""

    def __init__(self) -> None:
        self._rests: dict[PartitionLog, _Rest] = {}

    def __bool__(self) -> bool:
        """Whether any log has failed, and has not succeeded since."""
        return bool(self._rests)

    def is_resting(self, log: PartitionLog) -> bool:
        rest = self._rests.get(log)
        return rest is not None and trio.current_time() < rest.until

    def begin(self, log: PartitionLog) -> None:
        """Let a log rest, for twice as long as the last time if that was a failure too."""
        before = self._rests.get(log)
        seconds = _FIRST_SECONDS if before is None else min(2 * before.seconds, _LONGEST_SECONDS)
        self._rests[log] = _Rest(seconds, trio.current_time() + seconds)

    def end(self, log: PartitionLog) -> None:
        """Forget the failures of a log, which has succeeded or is no more."""
        self._rests.pop(log, None)

    def forget_closed(self) -> None:
        """Forget the failures of the logs that are no more."""
        for log in [log for log in self._rests if log.closed]:
            self.end(log)
