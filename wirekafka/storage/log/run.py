"""`Run`: plain batches for the end of one log, taken in one by one and written by one call.

What a plain batch is `plain` says. The offset is given when it is taken in, and when several have been they
are written together. The slow twin is one `PartitionLog.append` for each.

Begun, filled and written by way of `broker.partition`, within one step of the event loop: nothing else
happens to the log meanwhile.

Source: ours. Kafka's UnifiedLog.append writes a request at a time.
"""

from wirekafka.protocol.records.batch import LENGTH_PREFIX_BYTES, NO_PRODUCER_ID
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.log.plain import (
    NOT_PLAIN,
    appended_of,
    facts_of,
    limits_of,
    may_be_plain,
    pack_start,
)
from wirekafka.storage.producers.state import SEQUENCE_MASK, AppendedBatch
from wirekafka.storage.segments.segment import WrittenBatch

MOST_BATCHES = 64
_MOST_BYTES = 64 * 1024
"""More is written by itself: from here on a copy costs more than a call."""


def begin_run(log: PartitionLog, leader_epoch: int, now_ms: int) -> "Run | None":
    """Begin to append to a log whose settings do not ask to look into records.

    None where no batch would be plain.
    """
    return Run(log, leader_epoch, now_ms) if may_be_plain(log, leader_epoch) else None


class Run:
    """The batches taken in, which nobody sees before `write`."""

    __slots__ = (
        "_batches",
        "_by_producers",
        "_leader_epoch",
        "_left_bytes",
        "_limits",
        "_log",
        "_next_offset",
        "_next_sequences",
        "_now_ms",
        "_records",
        "_size",
    )

    def __init__(self, log: PartitionLog, leader_epoch: int, now_ms: int) -> None:
        self._log = log
        self._leader_epoch = leader_epoch
        self._now_ms = now_ms
        self._next_offset = log.log_end_offset
        self._left_bytes, self._limits = limits_of(log, now_ms, MOST_BATCHES)
        self._size = 0
        self._records: list[memoryview] = []
        self._batches: list[WrittenBatch] = []
        self._by_producers: list[tuple[int, AppendedBatch]] = []
        self._next_sequences: dict[int, tuple[int, int] | None] = {}

    def take(self, records: memoryview) -> int:
        """Take in one batch as a producer sent it, and give its base offset; NOT_PLAIN for one that is not.

        It must stay as it is until `write`, which patches it in place; before, nothing is changed.
        """
        base_offset = self._next_offset
        facts = facts_of(records, self._left_bytes, base_offset, self._limits)
        if facts is None:
            return NOT_PLAIN
        last_offset, newest, producer_id, producer_epoch, sequence = facts
        if producer_id > NO_PRODUCER_ID:
            if not self._is_next(producer_id, producer_epoch, sequence):
                return NOT_PLAIN
            following = (sequence + last_offset - base_offset + 1) & SEQUENCE_MASK
            self._next_sequences[producer_id] = producer_epoch, following
            self._by_producers.append((producer_id, appended_of(base_offset, facts)))
        size = len(records)
        self._records.append(records)
        self._batches.append((base_offset, last_offset, size, newest))
        self._next_offset = last_offset + 1
        self._size += size
        most = _MOST_BYTES - self._size if len(self._records) < MOST_BATCHES else 0
        self._left_bytes = min(self._left_bytes - size, most)
        return base_offset

    def _is_next(self, producer_id: int, producer_epoch: int, sequence: int) -> bool:
        """Whether a producer's batch is the one that comes after its last, in the log or in this run."""
        awaited = self._next_sequences.get(producer_id)
        if awaited is None:
            awaited = self._log.producers.next_sequence(producer_id)
        return awaited == (producer_epoch, sequence)

    def write(self) -> None:
        """Append what was taken in, all of it or nothing. Raises KAFKA_STORAGE_ERROR."""
        if not self._records:
            return
        log = self._log
        data, is_half_known = self._patched(), True
        try:
            log.segments.active.append_several(data, self._batches)
            for producer_id, appended in self._by_producers:
                log.producers.update_in_sequence(producer_id, appended)
            is_half_known = False
        except OSError as error:
            is_half_known = False
            raise log.storage_error("could not be appended to", error) from error
        finally:  # after a fault the file may have what the books have not: nothing may be written behind it
            log.failed = log.failed or is_half_known
        log.log_end_offset = self._next_offset
        if log.unflushed.since_ms < 0:
            log.unflushed.since_ms = self._now_ms

    def _patched(self) -> memoryview | bytes:
        """What is to be written: the batches with their offsets and the leader epoch."""
        for records, (base_offset, _, size, _) in zip(self._records, self._batches, strict=True):
            pack_start(records, 0, base_offset, size - LENGTH_PREFIX_BYTES, self._leader_epoch)
        return self._records[0] if len(self._records) == 1 else b"".join(self._records)
