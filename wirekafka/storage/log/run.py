"""`Run`: plain batches for the end of one log, taken in one by one and written by one call.

A small produce costs more for what is asked about its batch than for the bytes. A batch is plain when the
answer to all of that is the usual one: a sound header, a time that nobody objects to, the sequence number
that comes next, room in the segment. That is seen by one look at the header; the offset is given, and when
several have been taken in they are written together. `PartitionLog.append` is the slow twin: what is not
plain, and so whatever is to be refused, goes there, and a plain batch leaves the same bytes and the same
state either way.

Begun, filled and written by way of `broker.partition`, within one step of the event loop: nothing else
happens to the log meanwhile.

Source: ours. Kafka's UnifiedLog.append writes a request at a time.
"""

from wirekafka.protocol.records import HEADER_BYTES, Codec
from wirekafka.protocol.records.batch import HEADER, LENGTH_PREFIX_BYTES, MAGIC_V2, NO_PRODUCER_ID, START
from wirekafka.protocol.records.checksum import crc32c
from wirekafka.protocol.records.record import LEAST_RECORD_BYTES
from wirekafka.storage.acceptance.record_checks import accepted_timestamps
from wirekafka.storage.config import LOG_APPEND_TIME
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.producers.state import SEQUENCE_MASK, AppendedBatch
from wirekafka.storage.segments.segment import WrittenBatch

NOT_PLAIN = -1
MOST_BATCHES = 64
_MOST_BYTES = 64 * 1024
"""More is written by itself: from here on a copy costs more than a call."""
_CHECKED_FROM = 21
_HIGHEST_CODEC = max(Codec)
_unpack_header = HEADER.unpack_from
_pack_start = START.pack_into


def begin_run(log: PartitionLog, leader_epoch: int, now_ms: int) -> "Run | None":
    """Begin to append to a log whose settings do not ask to look into records.

    None where no batch would be plain.
    """
    if log.failed or log.disk.health.failure or leader_epoch != log.epochs.latest:
        return None
    if log.config.message_timestamp_type == LOG_APPEND_TIME:
        return None
    return Run(log, leader_epoch, now_ms)


class Run:
    """The batches taken in, which nobody sees before `write`."""

    __slots__ = (
        "_batches",
        "_by_producers",
        "_earliest",
        "_largest_offset",
        "_latest",
        "_leader_epoch",
        "_left_bytes",
        "_log",
        "_next_offset",
        "_next_sequences",
        "_now_ms",
        "_records",
        "_size",
    )

    def __init__(self, log: PartitionLog, leader_epoch: int, now_ms: int) -> None:
        config = log.config
        self._log = log
        self._leader_epoch = leader_epoch
        self._now_ms = now_ms
        self._next_offset = log.log_end_offset
        room, self._largest_offset, latest = log.segments.active.room(config, now_ms, MOST_BATCHES)
        self._left_bytes = min(room, config.max_message_bytes)
        earliest, self._latest = accepted_timestamps(config, now_ms)
        self._earliest = max(0, earliest)
        self._latest = min(self._latest, latest)
        self._size = 0
        self._records: list[memoryview] = []
        self._batches: list[WrittenBatch] = []
        self._by_producers: list[tuple[int, AppendedBatch]] = []
        self._next_sequences: dict[int, tuple[int, int] | None] = {}

    def take(self, records: memoryview) -> int:
        """Take in one batch as a producer sent it, and give its base offset; NOT_PLAIN for one that is not.

        It must stay as it is until `write`, which patches it in place; before, nothing is changed.
        """
        size = len(records)
        if not HEADER_BYTES <= size <= self._left_bytes:
            return NOT_PLAIN
        (
            base_offset, length, _, magic, crc, attributes, last_offset_delta, first_time, newest,
            producer_id, producer_epoch, sequence, count,
        ) = _unpack_header(records)  # fmt: skip
        last_offset = self._next_offset + last_offset_delta
        if (
            base_offset
            or length != size - LENGTH_PREFIX_BYTES
            or magic != MAGIC_V2
            or not 0 <= attributes <= _HIGHEST_CODEC
            or count <= 0
            or count != last_offset_delta + 1
            or (not attributes and count * LEAST_RECORD_BYTES > size - HEADER_BYTES)
            or not self._earliest <= first_time <= newest <= self._latest
            or last_offset > self._largest_offset
            or crc32c(records[_CHECKED_FROM:]) != crc
        ):
            return NOT_PLAIN
        if producer_id > NO_PRODUCER_ID:
            if not self._is_next(producer_id, producer_epoch, sequence):
                return NOT_PLAIN
            self._next_sequences[producer_id] = producer_epoch, (sequence + count) & SEQUENCE_MASK
            last_sequence = (sequence + last_offset_delta) & SEQUENCE_MASK
            appended = AppendedBatch(last_sequence, last_offset, last_offset_delta, newest)
            self._by_producers.append((producer_id, appended))
        base_offset = self._next_offset
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
            _pack_start(records, 0, base_offset, size - LENGTH_PREFIX_BYTES, self._leader_epoch)
        return self._records[0] if len(self._records) == 1 else b"".join(self._records)
