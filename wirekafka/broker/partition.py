"""`Partition`: a log, how far readers may see, and who waits for it to grow.

Made by `partitions`; called by whatever appends to a log, reads it or looks after it. Calls
`storage.PartitionLog`, `flushing`, `preparing`. Page-cache reads and writes are done here, inline on the
event loop.

In the mode `os` what is written is acknowledged and may be read at once. In the mode `fsync` it may be
read when it has been flushed, and acks=all waits for that.

Source: Kafka's Partition and ReplicaManager, as far as they concern a leader without followers.
"""

from typing import NamedTuple, Protocol

from wirekafka.broker.flushing import NEVER, AwaitedFlush, Flusher
from wirekafka.broker.preparing import prepared
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, NotOneBatch
from wirekafka.protocol.records import HEADER_BYTES, Codec, RecordBatch
from wirekafka.protocol.records.batch import MAGIC_V2, TRANSACTIONAL_FLAG
from wirekafka.storage import (
    FSYNC,
    NOT_PLAIN,
    PRODUCER_COMPRESSION,
    Appended,
    Buffer,
    FileSlice,
    LogConfig,
    Origin,
    PartitionLog,
    Run,
    append_plainly,
    begin_run,
    needs_preparation,
)

ANY_LEADER_EPOCH = -1
_IN_SYNC_REPLICAS = 1
_MAGIC_POSITION = 16
_ATTRIBUTES_LOW_BYTE = 22
_NOTHING = b""
_NO_TIME = -1


class Bell(Protocol):
    """What is rung when there is more to see: a trio.Event, or who remembers where it was."""

    def set(self) -> None: ...


class ListedOffset(NamedTuple):
    """What ListOffsets tells of a partition; -1 for what there is not."""

    timestamp_ms: int = -1
    offset: int = -1
    leader_epoch: int = -1


class Partition:
    """One partition that this broker leads."""

    def __init__(self, log: PartitionLog, leader_epoch: int, flusher: Flusher | None = None) -> None:
        self.log = log
        self.leader_epoch = leader_epoch
        self._flusher = flusher
        self._waiting: set[Bell] = set()
        self._deleted = False
        self._shown_offset = 0
        """What readers were shown in the mode `os`: it stays so when the mode changes."""
        self._shows_flushed = self._flushes_at_append = self._prepares = False
        self._follow_config()
        log.assign_leader_epoch(leader_epoch)
        self._flush_what_is_left()

    @property
    def topic_partition(self) -> TopicPartition:
        return self.log.topic_partition

    @property
    def high_watermark(self) -> int:
        """The end of what readers may see: all that is written, or in the mode `fsync` all that lasts."""
        if self._shows_flushed:
            return max(self._shown_offset, self.log.recovery_point)
        return self.log.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        """The end of what readers of committed records may see."""
        return min(self.log.last_stable_offset, self.high_watermark)

    def visible_end(self, *, committed_only: bool) -> int:
        """The offset below which a reader may see."""
        return self.last_stable_offset if committed_only else self.high_watermark

    def reconfigure(self, config: LogConfig) -> None:
        """Take up the settings that now hold for the topic; what is written by then follows them too."""
        if not self._shows_flushed:
            self._shown_offset = self.log.log_end_offset
        self.log.config = config
        self._follow_config()
        self._flush_what_is_left()
        self.ring()

    def _follow_config(self) -> None:
        """Find out once what else every append would ask."""
        config = self.log.config
        self._prepares = config.compression_type != PRODUCER_COMPRESSION or config.looks_into_records
        self._shows_flushed = self._flusher is not None and config.durability == FSYNC
        self._flushes_at_append = self._flusher is not None and (
            self._shows_flushed or config.flush_messages != NEVER or config.flush_ms != NEVER
        )

    def _flush_what_is_left(self) -> None:
        if self._flushes_at_append and self.log.recovery_point < self.log.log_end_offset:
            self._see_to_flush()

    def append(
        self, records: Buffer, *, now_ms: int, origin: Origin = Origin.CLIENT, looked_inside: bool = False
    ) -> Appended:
        """Write one batch, patched in place; wake the fetches that wait here, or have it flushed first.

        `looked_inside` says that `prepared` has seen the records. Raises what `PartitionLog.append` does.
        """
        self._check_present()
        appended = self.log.append(
            records,
            leader_epoch=self.leader_epoch,
            now_ms=now_ms,
            origin=origin,
            looked_inside=looked_inside,
        )
        if self._flushes_at_append:
            self._see_to_flush()
        if self._waiting and not self._shows_flushed:
            self.ring()
        return appended

    def _see_to_flush(self) -> None:
        """Have the log flushed now or in time, as its settings want it."""
        assert self._flusher is not None
        if self._shows_flushed or self._has_too_much_unflushed():
            self._flusher.ask(self.log, self.ring)
        elif self.log.config.flush_ms != NEVER:
            self._flusher.ask_within(self.log, self.log.config.flush_ms)

    def _has_too_much_unflushed(self) -> bool:
        log = self.log
        return log.log_end_offset - log.recovery_point >= log.config.flush_messages

    def awaited_flush(self, end_offset: int, *, acks_all: bool) -> AwaitedFlush | None:
        """What has to be waited for before records below `end_offset` are acknowledged; None: nothing.

        Asked right after the append. As in Kafka, an append that makes flush.messages full is answered
        after the flush, whatever its acks.
        """
        if not self._flushes_at_append or self.log.recovery_point >= end_offset:
            return None
        if not ((acks_all and self._shows_flushed) or self._has_too_much_unflushed()):
            return None
        assert self._flusher is not None
        return AwaitedFlush(self.log, end_offset, self._flusher.ask(self.log, self.ring))

    @property
    def prepares(self) -> bool:
        """Whether batches may have to be looked into or compressed anew before they are written."""
        return self._prepares

    def append_at_once(
        self, records: memoryview | None, *, now_ms: int, zstd_allowed: bool, acks_all: bool = False
    ) -> Appended:
        """Write one batch as a producer sent it, where none is prepared. Raises as `append_from_client`."""
        if zstd_allowed and records is not None:
            base_offset = self.append_plainly(records, now_ms=now_ms, acks_all=acks_all)
            if base_offset != NOT_PLAIN:
                log = self.log
                return Appended(base_offset, log.log_end_offset - 1, _NO_TIME, log.log_start_offset, False)
        return self.append(self._checked(records, zstd_allowed, acks_all), now_ms=now_ms)

    async def append_from_client(
        self, records: memoryview | None, *, now_ms: int, zstd_allowed: bool, acks_all: bool = False
    ) -> Appended:
        """Write one batch as a producer sent it, prepared if it has to be.

        Raises INVALID_RECORD for no records, UNSUPPORTED_COMPRESSION_TYPE for zstd from a client too
        old to know it (KIP-110), INVALID_PRODUCER_ID_MAPPING for a batch of a transaction, since there is
        no coordinator yet that could know its producer, NOT_ENOUGH_REPLICAS for acks=all where the topic
        wants more copies than there are, and what `append` does.
        """
        records = self._checked(records, zstd_allowed, acks_all)
        config = self.log.config
        if not (self._prepares and needs_preparation(records, config)):
            return self.append(records, now_ms=now_ms)
        ready = await prepared(records, self.topic_partition, config, now_ms=now_ms)
        return self.append(ready, now_ms=now_ms, looked_inside=config is self.log.config)

    def _checked(self, records: memoryview | None, zstd_allowed: bool, acks_all: bool) -> memoryview:
        """Check what is no matter of the log, and give the records."""
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
        if acks_all:
            self._check_replicas()
        return records

    def append_plainly(self, records: memoryview, *, now_ms: int, acks_all: bool) -> int:
        """Write one batch as a producer sent it; give its base offset, and wake the fetches that wait here.

        NOT_PLAIN, and nothing has been changed, where that takes more than to write it, or is refused; what
        is plain needs no wait before it is acknowledged. Raises KAFKA_STORAGE_ERROR.
        """
        if self._prepares or self._flushes_at_append or self._deleted:
            return NOT_PLAIN
        if acks_all and self.log.config.min_insync_replicas > _IN_SYNC_REPLICAS:
            return NOT_PLAIN
        base_offset = append_plainly(self.log, records, self.leader_epoch, now_ms)
        if self._waiting and base_offset != NOT_PLAIN:
            self.ring()
        return base_offset

    def begin_run(self, *, now_ms: int, acks_all: bool) -> Run | None:
        """Begin to append several batches by one call, within this step of the event loop.

        None where an append of this partition takes more than to write it, or is refused.
        """
        if self._prepares or self._flushes_at_append or self._deleted:
            return None
        if acks_all and self.log.config.min_insync_replicas > _IN_SYNC_REPLICAS:
            return None
        return begin_run(self.log, self.leader_epoch, now_ms)

    def end_run(self, run: Run) -> None:
        """Write what the run has taken in; wake the fetches that wait here. Raises KAFKA_STORAGE_ERROR."""
        run.write()
        if self._waiting:
            self.ring()

    def _check_replicas(self) -> None:
        """Refuse to promise more copies than there are: this broker is alone."""
        wanted = self.log.config.min_insync_replicas
        if wanted > _IN_SYNC_REPLICAS:
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"{self.topic_partition} has {_IN_SYNC_REPLICAS} replica in sync, and "
                f"min.insync.replicas={wanted} for acks=all.",
            )

    def latest_offset(self, *, committed_only: bool) -> ListedOffset:
        end = self.visible_end(committed_only=committed_only)
        return ListedOffset(offset=end, leader_epoch=self.leader_epoch)

    def earliest_offset(self) -> ListedOffset:
        start = self.log.log_start_offset
        return ListedOffset(offset=start, leader_epoch=self.log.epoch_of(start))

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The last epoch at or below `epoch` and its end offset; (-1, -1) when unknown."""
        return self.log.end_offset_for_epoch(epoch)

    def read(
        self, offset: int, max_bytes: int, *, committed_only: bool, at_least_one_batch: bool
    ) -> FileSlice | bytes:
        """Give the batches from `offset` on as a slice of a file. Raises OFFSET_OUT_OF_RANGE."""
        self._check_present()
        end = self.visible_end(committed_only=committed_only)
        if max(end, self.log.log_start_offset) <= offset <= self.log.log_end_offset:
            return _NOTHING  # without a look at the file, which need not even be open
        return self.log.read(offset, max_bytes, up_to_offset=end, at_least_one_batch=at_least_one_batch)

    def aborted_transactions(self, from_offset: int, records: FileSlice) -> list[tuple[int, int]]:
        """Producer id and first offset of each transaction that a reader of `records` has to leave out."""
        up_to_offset = min(self.log.upper_bound(records), self.last_stable_offset)
        return self.log.aborted_transactions(from_offset, up_to_offset)

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

    def wait_with(self, bell: Bell) -> None:
        """Ring `bell` once: when there is more to see, the log begins later, or the partition goes."""
        self._waiting.add(bell)

    def wait_no_more(self, bell: Bell) -> None:
        self._waiting.discard(bell)

    def ring(self) -> None:
        """Ring the bells that wait; who wants to hear of the next thing waits again."""
        waiting, self._waiting = self._waiting, set()
        for bell in waiting:
            bell.set()

    def move_start(self, offset: int) -> bool:
        """Let the log begin at `offset`, as `PartitionLog.move_start` does; who waits here hears of it."""
        has_moved = self.log.move_start(offset)
        if has_moved:
            self.ring()
        return has_moved

    @property
    def is_deleted(self) -> bool:
        return self._deleted

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
    """Whether the batch that `records` begins with belongs to a transaction.

    Asked twice of every batch produced, so that the two bytes are looked at where they lie.
    """
    if records is None or len(records) < HEADER_BYTES:
        return False
    is_v2 = records[_MAGIC_POSITION] == MAGIC_V2
    return is_v2 and bool(records[_ATTRIBUTES_LOW_BYTE] & TRANSACTIONAL_FLAG)
