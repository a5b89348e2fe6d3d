"""`Partition`: a log, how far readers may see, and who waits for it to grow.

Called by `partitions`, `fetching` and `journal`; calls `storage.PartitionLog`. Page-cache reads and
writes are done here, inline on the event loop.

Source: Kafka's Partition and ReplicaManager, as far as they concern a leader without followers.
"""

from typing import NamedTuple

import trio

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, NotOneBatch
from wirekafka.protocol.records import HEADER_BYTES, Codec, RecordBatch
from wirekafka.protocol.records.batch import MAGIC_V2
from wirekafka.storage import Appended, FileSlice, Origin, PartitionLog, TimestampOffset

ANY_LEADER_EPOCH = -1
NO_EPOCH = -1


class ListedOffset(NamedTuple):
    """What ListOffsets tells of a partition; -1 for what there is not."""

    timestamp_ms: int = -1
    offset: int = -1
    leader_epoch: int = -1


class Partition:
    """One partition that this broker leads."""

    def __init__(self, log: PartitionLog, leader_epoch: int) -> None:
        self.log = log
        self.leader_epoch = leader_epoch
        self._waiting: set[trio.Event] = set()
        self._deleted = False

    @property
    def topic_partition(self) -> TopicPartition:
        return self.log.topic_partition

    @property
    def high_watermark(self) -> int:
        """What is written to the page cache is acknowledged, so readers may see all of it."""
        return self.log.log_end_offset

    def visible_end(self, *, committed_only: bool) -> int:
        """The offset below which a reader may see."""
        return self.log.last_stable_offset if committed_only else self.high_watermark

    def append(
        self, records: bytearray | memoryview, *, now_ms: int, origin: Origin = Origin.CLIENT
    ) -> Appended:
        """Write one batch, patched in place, and wake the fetches that wait here.

        Raises what `PartitionLog.append` does.
        """
        self._check_present()
        appended = self.log.append(records, leader_epoch=self.leader_epoch, now_ms=now_ms, origin=origin)
        if self._waiting:
            self.ring()
        return appended

    def append_from_client(
        self,
        records: memoryview | None,
        *,
        now_ms: int,
        zstd_allowed: bool,
    ) -> Appended:
        """Write one batch as a producer sent it.

        Raises INVALID_RECORD for no records, UNSUPPORTED_COMPRESSION_TYPE for zstd from a client too
        old to know it (KIP-110), INVALID_PRODUCER_ID_MAPPING for a batch of a transaction, since there is
        no coordinator yet that could know its producer, and what `append` does.
        """
        if records is None or len(records) == 0:
            raise NotOneBatch(
                ErrorCode.INVALID_RECORD, f"A produce request to {self.topic_partition} holds no batch."
            )
        if not zstd_allowed and len(records) >= HEADER_BYTES and RecordBatch(records).codec == Codec.ZSTD:
            raise NotOneBatch(
                ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
                "Produce requests before v7 carry no zstd batches.",
            )
        if is_transactional(records):
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_ID_MAPPING,
                f"{self.topic_partition} is in no transaction: wirekafka does not serve transactions yet.",
            )
        return self.append(records, now_ms=now_ms)

    def latest_offset(self, *, committed_only: bool) -> ListedOffset:
        end = self.visible_end(committed_only=committed_only)
        return ListedOffset(offset=end, leader_epoch=self.leader_epoch)

    def earliest_offset(self) -> ListedOffset:
        start = self.log.log_start_offset
        epoch = self.log.epoch_of(start)
        if epoch == NO_EPOCH and start == self.high_watermark:
            epoch = self.leader_epoch  # nothing is written yet; what will be, is of this epoch
        return ListedOffset(offset=start, leader_epoch=epoch)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The last epoch at or below `epoch` and its end offset; (-1, -1) when unknown.

        The epoch of this leader ends where the log does, also when it has written nothing.
        """
        if epoch == self.leader_epoch:
            return epoch, self.log.log_end_offset
        return self.log.end_offset_for_epoch(epoch)

    def offset_for_timestamp(self, timestamp_ms: int, *, committed_only: bool) -> ListedOffset:
        """The first record with this timestamp or a later one; all -1 when there is none to see."""
        return self._listed(self.log.offset_for_timestamp(timestamp_ms), committed_only=committed_only)

    def offset_of_max_timestamp(self, *, committed_only: bool) -> ListedOffset:
        """The record with the largest timestamp (KIP-734); all -1 in an empty log."""
        return self._listed(self.log.offset_of_max_timestamp(), committed_only=committed_only)

    def _listed(self, found: TimestampOffset | None, *, committed_only: bool) -> ListedOffset:
        if found is None or found.offset >= self.visible_end(committed_only=committed_only):
            return ListedOffset()
        return ListedOffset(found.timestamp_ms, found.offset, found.leader_epoch)

    def read(
        self, offset: int, max_bytes: int, *, committed_only: bool, at_least_one_batch: bool
    ) -> FileSlice:
        """Give the batches from `offset` on as a slice of a file. Raises OFFSET_OUT_OF_RANGE."""
        self._check_present()
        end = self.visible_end(committed_only=committed_only)
        return self.log.read(offset, max_bytes, up_to_offset=end, at_least_one_batch=at_least_one_batch)

    def check_leader_epoch(self, leader_epoch: int) -> None:
        """Refuse a client whose metadata is older (74) or newer (75) than this leader (KIP-320)."""
        self._check_present()
        if leader_epoch == self.leader_epoch or leader_epoch <= ANY_LEADER_EPOCH:
            return
        if leader_epoch < self.leader_epoch:
            code, word = ErrorCode.FENCED_LEADER_EPOCH, "older"
        else:
            code, word = ErrorCode.UNKNOWN_LEADER_EPOCH, "newer"
        raise KafkaError(
            code, f"{self.topic_partition} is led in epoch {self.leader_epoch}; {leader_epoch} is {word}."
        )

    def wait_with(self, bell: trio.Event) -> None:
        """Ring `bell` at the next append, or when the partition goes."""
        self._waiting.add(bell)

    def wait_no_more(self, bell: trio.Event) -> None:
        self._waiting.discard(bell)

    def ring(self) -> None:
        for bell in self._waiting:
            bell.set()

    def mark_deleted(self) -> None:
        """Answer every later use with UNKNOWN_TOPIC_OR_PARTITION, and wake who waits."""
        self._deleted = True
        self.ring()

    def _check_present(self) -> None:
        if self._deleted:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self.topic_partition} has been deleted."
            )


def is_transactional(records: memoryview | None) -> bool:
    """Whether the batch that `records` begins with belongs to a transaction."""
    if records is None or len(records) < HEADER_BYTES:
        return False
    batch = RecordBatch(records)
    return batch.magic == MAGIC_V2 and batch.is_transactional
