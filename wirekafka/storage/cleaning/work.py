"""What one compaction works on, and how it gets along with what goes on beside it.

Made by `cleaner`, used by all it calls. They run in a thread; what has to be looked up in the log, or done
to it, is handed to the event loop.

Source: Kafka's Cleaner, whose `checkDone` and `throttler` `pace` is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.cleaning.reading import whole_batches
from wirekafka.storage.cleaning.transactions import CleanedTransactions
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.producers.aborted import aborted_transactions
from wirekafka.storage.segments.segment import Segment

T = TypeVar("T")


class LogChanged(Exception):
    """The log has other segments than those that were compacted, or is closed: the work is thrown away."""


class OnLoop(Protocol):
    """Calls a function where the log is appended to and read, and gives what it gives."""

    def __call__(self, function: Callable[[], T], /) -> T: ...


def at_once(function: Callable[[], T], /) -> T:
    """Call a function here: for who has no loop beside the compaction."""
    return function()


def unhurried(size_bytes: int) -> None:
    """Let the compaction go on, whatever it has read or written."""


@dataclass(frozen=True, slots=True)
class Work:
    """A log that is being compacted."""

    log: PartitionLog
    on_loop: OnLoop
    pace: Callable[[int], None]
    """Told of the bytes read or written, and before each batch; may wait, or raise to end it all."""
    drop: Callable[[list[str]], None]
    """Given the files that are the log's no longer, on the loop."""
    now_ms: int

    def batches(self, segment: Segment) -> Iterator[tuple[int, RecordBatch]]:
        """Position and batch of a sealed segment. Raises Unreadable, LogChanged, OSError."""
        end_offset = self.on_loop(lambda: self._end_of(segment))
        try:
            for position, batch in whole_batches(segment, end_offset, self.pace):
                self.pace(0)
                yield position, batch
        except FileNotFoundError as error:
            if self.log.has_segment(segment):
                raise
            raise LogChanged from error

    def _end_of(self, segment: Segment) -> int:
        """Where the segment behind a sealed one begins. Raises LogChanged when the log has it no more."""
        for one, following in pairwise(self.log.segments.all()):
            if one is segment and not self.log.closed:
                return following.base_offset
        raise LogChanged

    def end_of_segments(self, offset: int) -> int:
        """Where the first segment begins that has nothing before an offset; else the log's end."""
        log = self.log
        ends = (segment.base_offset for segment in self.on_loop(log.segments.all))
        return next((end for end in ends if end >= offset), log.log_end_offset)

    def transactions(self, from_offset: int, up_to_offset: int) -> CleanedTransactions:
        """The state of transactions at an offset, with those that were aborted from there on."""
        transactions = CleanedTransactions()
        if up_to_offset > from_offset:
            log = self.log
            aborted = self.on_loop(lambda: aborted_transactions(log, from_offset, up_to_offset))
            transactions.add_aborted(aborted)
        return transactions
