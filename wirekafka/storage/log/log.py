"""`PartitionLog`: the ordered segments of one partition; append, read, flush.

`broker.partition` calls it; `recovery` makes it. `append` and `read` run on the event loop and wait
for no disk: what is written is in the page cache (it outlives the process, not the machine) until
`flush`. `flush` may run in a thread beside the other two; nothing else may.

An OSError becomes KAFKA_STORAGE_ERROR here. A failed append leaves nothing behind, and may be tried again.
After a failed sync no log of the folder takes appends (`Health`): what the page cache says and what the disk
has may differ then, and only a restart finds out. Bytes that cannot be removed stop this log alone.

Source: Kafka's UnifiedLog and LocalLog.
"""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import RecordBatch, batches_in
from wirekafka.storage.acceptance.validation import Buffer, Origin, validate
from wirekafka.storage.config import LOG_APPEND_TIME, LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FileSlice
from wirekafka.storage.log.flushing import flush_logs
from wirekafka.storage.log.opening import Recovered
from wirekafka.storage.log.unflushed import Flush, Unflushed
from wirekafka.storage.producers.aborted import aborted_transactions, load_transaction_index, upper_bound
from wirekafka.storage.producers.snapshots import ProducerSnapshots
from wirekafka.storage.producers.state import AppendedBatch
from wirekafka.storage.segments.segment import CutBackFailed, Segment
from wirekafka.storage.segments.segments import Segments

_NO_PRODUCER_ID = -1
_NO_LOG_APPEND_TIME = -1
_READ_AHEAD_BYTES = 1024 * 1024


class Appended(NamedTuple):
    """Where a batch went. `log_append_time_ms` is -1 unless stamped by the broker, or a duplicate's."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool


class PartitionLog:
    """The log of one partition. `config` may be replaced at any time."""

    def __init__(
        self,
        disk: Disk,
        folder: str,
        topic_partition: TopicPartition,
        topic_id: bytes,
        config: LogConfig,
        *,
        recovered: Recovered,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.config = config
        self.folder = folder
        self.log_start_offset = recovered.log_start_offset
        self.segments = Segments(recovered.segments)
        self.log_end_offset = self.segments.active.next_offset
        self.disk = disk
        self.epochs = recovered.epochs
        self.producers = recovered.producers
        self.snapshots = ProducerSnapshots(disk, folder, recovered.snapshot_offsets)
        self.unflushed = Unflushed(disk, folder, recovered.epochs, recovery_point=recovered.recovery_point)
        if recovered.is_new_folder:
            self.unflushed.add_new_folder()
        self.failed = False
        """Set when bytes may be at the end that belong to no batch; appends are refused from then on."""
        self.closed = False
        load_transaction_index(self, self.segments.active)

    # --- what it holds

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def latest_epoch(self) -> int:
        """The newest leader epoch that wrote here; -1 when there is none."""
        return self.epochs.latest

    @property
    def last_stable_offset(self) -> int:
        """The end of what read_committed may see: where the oldest open transaction began."""
        first_unstable = self.producers.first_unstable_offset
        return self.log_end_offset if first_unstable is None else max(first_unstable, self.log_start_offset)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The last epoch at or below `epoch` and its end offset; (-1, -1) when unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def epoch_of(self, offset: int) -> int:
        """The leader epoch that wrote an offset; -1 when that is not known."""
        return self.epochs.epoch_of(offset)

    # --- appending

    def assign_leader_epoch(self, leader_epoch: int) -> None:
        """Say that a leader of this epoch appends from here on."""
        if leader_epoch > self.epochs.latest:
            self.epochs.assign(leader_epoch, self.log_end_offset)

    def append(
        self,
        records: Buffer,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        looked_inside: bool = False,
    ) -> Appended:
        """Append one batch; it is readable, and outlives the process, when this returns.

        `records` is rewritten in place (offset, epoch) and not kept. A batch that its producer sent
        before is answered with where it went then, and not written again. `looked_inside` is handed on to
        `validate`. Raises what that and `ProducerState.check` raise, and KAFKA_STORAGE_ERROR.
        """
        if self.failed or self.disk.health.failure:
            self._refuse()
        config = self.config
        batch = validate(
            records,
            self.topic_partition,
            config,
            origin=origin,
            now_ms=now_ms,
            looked_inside=looked_inside,
        )
        if batch.producer_id > _NO_PRODUCER_ID:
            repeated = self.producers.check(batch, from_client=origin is Origin.CLIENT)
            if repeated is not None:
                return self._already_appended(repeated)
        base_offset = self.log_end_offset
        last_offset = base_offset + batch.last_offset_delta
        self._write(records, batch, leader_epoch, now_ms)
        if leader_epoch != self.epochs.latest:
            self.epochs.assign(leader_epoch, base_offset)
        if batch.producer_id > _NO_PRODUCER_ID:
            aborted = self.producers.update(batch)
            if aborted is not None:  # the index was read when the log was opened: this cannot fail
                self.segments.active.transactions.add(aborted)
        self.log_end_offset = last_offset + 1
        if self.unflushed.since_ms < 0:
            self.unflushed.since_ms = now_ms
        stamped = config.message_timestamp_type == LOG_APPEND_TIME
        append_time_ms = now_ms if stamped else _NO_LOG_APPEND_TIME
        return Appended(base_offset, last_offset, append_time_ms, self.log_start_offset, False)

    def _write(self, records: Buffer, batch: RecordBatch, leader_epoch: int, now_ms: int) -> None:
        base_offset = self.log_end_offset
        last_offset = base_offset + batch.last_offset_delta
        size = batch.size_in_bytes
        if size != len(records):
            records = memoryview(records)[:size]
        segment = self.segments.active
        try:
            if segment.should_roll(self.config, batch, last_offset=last_offset, now_ms=now_ms):
                segment = self._roll(now_ms)
            batch.assign(base_offset, leader_epoch)
            segment.append(records, batch)
        except OSError as error:
            raise self.storage_error("could not be appended to", error) from error

    def _already_appended(self, repeated: AppendedBatch) -> Appended:
        # As in Kafka the time is told whatever its type: that of the batch which was kept.
        return Appended(
            repeated.base_offset, repeated.last_offset, repeated.timestamp_ms, self.log_start_offset, True
        )

    def expire_producers(self, now_ms: int) -> None:
        """Forget the producers that were idle for producer.id.expiration.ms."""
        self.producers.expire(now_ms, self.config.producer_id_expiration_ms)

    def _roll(self, now_ms: int) -> Segment:
        """Seal the last segment and begin the next at the log's end."""
        sealed = self.segments.active
        if sealed.base_offset == self.log_end_offset:
            return sealed
        sealed.seal()
        self._take_snapshot()
        segment = Segment.create(
            self.disk, self.folder, self.log_end_offset, config=self.config, created_ms=now_ms
        )
        self.unflushed.add_files(segment.index_paths())
        self.segments.add(segment)
        return segment

    def _take_snapshot(self) -> None:
        path = self.snapshots.take(
            self.log_end_offset, self.producers.producers, log_start_offset=self.log_start_offset
        )
        if path is not None:
            self.unflushed.add_files([path])

    # --- reading

    def read(self, offset: int, max_bytes: int, *, up_to_offset: int, at_least_one_batch: bool) -> FileSlice:
        """Give the batches from the one that holds `offset` on, as a slice of one segment.

        It may begin before `offset` and end on any byte, but not behind the last whole batch below
        `up_to_offset`. With `at_least_one_batch` the first comes whole, however large (KIP-74). Empty
        where nothing below `up_to_offset` is left. Raises OFFSET_OUT_OF_RANGE before the start or
        behind the end of the log, KAFKA_STORAGE_ERROR.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Offset {offset} is not within {self.topic_partition}, which has the offsets from "
                f"{self.log_start_offset} to {self.log_end_offset}.",
            )
        try:
            if offset < up_to_offset and offset < self.log_end_offset:
                return self.segments.slice(offset, max_bytes, up_to_offset, at_least_one_batch)
            active = self.segments.active
            return FileSlice(active.file, active.size, 0)
        except OSError as error:
            raise self.storage_error("could not be read", error) from error

    def batches(self, from_offset: int) -> Iterator[RecordBatch]:
        """Every batch from the one that holds `from_offset` up to the end, with its bytes."""
        offset = max(from_offset, self.log_start_offset)
        while offset < self.log_end_offset:
            piece = self.read(
                offset, _READ_AHEAD_BYTES, up_to_offset=self.log_end_offset, at_least_one_batch=True
            )
            next_offset = offset
            for batch in batches_in(piece.read()):
                yield batch
                next_offset = batch.last_offset + 1
            if next_offset == offset:
                return
            offset = next_offset

    def aborted_transactions(self, from_offset: int, up_to_offset: int) -> list[tuple[int, int]]:
        """Producer id and first offset of each transaction to leave out of a read of the range.

        Raises KAFKA_STORAGE_ERROR.
        """
        try:
            found = aborted_transactions(self, from_offset, up_to_offset)
        except OSError as error:
            raise self.storage_error("could not be read", error) from error
        return [(aborted.producer_id, aborted.first_offset) for aborted in found]

    def upper_bound(self, records: FileSlice) -> int:
        """An offset that no batch of what was read reaches, and that is not far behind them."""
        return upper_bound(self, records)

    # --- shortening

    def move_start(self, offset: int) -> bool:
        """Let the log begin at `offset`, and say whether that is news; a checkpoint makes it last.

        An offset before the start changes nothing. Raises OFFSET_OUT_OF_RANGE behind the end.
        """
        if not 0 <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Records of {self.topic_partition} cannot be deleted up to offset {offset}: the log ends at "
                f"{self.log_end_offset}.",
            )
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.epochs.truncate_from_start(offset)
        return True

    def delete_records_before(self, offset: int) -> list[str]:
        """Move the start of the log to `offset`, and set aside the segments that end before it.

        Gives the paths of the files that may be unlinked when nobody can want them any more; they are
        passed over by every later start. Raises what `move_start` does, and KAFKA_STORAGE_ERROR.
        """
        self.move_start(offset)
        removed: list[str] = []
        failure = None
        for shorten in (self._remove_passed, self._replace_passed_active, self._remove_snapshots):
            try:
                removed += shorten()
            except OSError as error:
                failure = self.storage_error("could not be shortened", error)
        if failure is not None and not removed:
            raise failure
        # Else what was freed is to be unlinked first: the disk may be full. Asked again, this tries the rest.
        with contextlib.suppress(OSError):  # on a full disk this must not be in the way; a flush writes them
            self.unflushed.write_epochs()
        return removed

    def _remove_passed(self) -> list[str]:
        return self.segments.remove_before(self.log_start_offset)

    def _replace_passed_active(self) -> list[str]:
        if self.log_start_offset < self.log_end_offset or not self.segments.active.size:
            return []
        self._roll(self.segments.active.created_ms)
        return self._remove_passed()

    def _remove_snapshots(self) -> list[str]:
        return self.snapshots.set_aside(self.snapshots.before(self.segments.first_offset))

    def roll(self, now_ms: int) -> None:
        """Begin a new segment, unless nothing is in the last. Raises KAFKA_STORAGE_ERROR."""
        try:
            self._roll(now_ms)
        except OSError as error:
            raise self.storage_error("could not be rolled", error) from error

    # --- lasting

    @property
    def recovery_point(self) -> int:
        """The offset up to which a flush has made everything last."""
        return self.unflushed.recovery_point

    def flush(self) -> None:
        """Make everything appended so far last, and advance the recovery point.

        Raises KAFKA_STORAGE_ERROR, as `flush_logs` does.
        """
        flush_logs(self.disk, self.folder.rpartition("/")[0], [self])

    def begin_flush(self) -> Flush | None:
        """Write what is kept in memory only, and say what is to be synced; None when nothing is."""
        if self.closed:
            return None
        since_ms = self.unflushed.take_since_ms()
        return self.unflushed.begin(self.log_end_offset, self.segments, since_ms)

    def has_segment(self, segment: Segment) -> bool:
        """Whether the log is open and the segment is still one of it."""
        return not self.closed and segment in self.segments.all()

    def write_out(self) -> None:
        """Write what is kept in memory as a clean start needs it; a flush after it makes that last.

        Raises KAFKA_STORAGE_ERROR, always so when the log or the folder has failed before.
        """
        if self.failed or self.disk.health.failure:
            self._refuse()
        try:
            self._take_snapshot()
            for segment in self.segments.all():  # those that were made anew as well
                if segment.seal():
                    self.unflushed.add_files(segment.index_paths())
            self.unflushed.write_epochs()
        except OSError as error:
            raise self.storage_error("could not be closed", error) from error

    def close(self) -> None:
        """Flush, leave everything behind as a start needs it, and let go of the files.

        Raises KAFKA_STORAGE_ERROR; the files are let go of all the same.
        """
        if self.closed:
            return
        try:
            self.write_out()
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the files and write nothing."""
        self.failed = self.closed = True
        self.segments.release()

    def _refuse(self) -> NoReturn:
        self.disk.health.check()
        why = "it is closed" if self.closed else "bytes of a failed write could not be removed"
        raise KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR, f"The log of {self.topic_partition} takes no records: {why}."
        )

    def storage_error(self, what: str, error: OSError) -> KafkaError:
        """Make of a failed call what a client is told; the log may have failed with it."""
        self.failed = self.failed or isinstance(error, CutBackFailed)
        return self.disk.storage_error(f"The log of {self.topic_partition} {what}", error)
