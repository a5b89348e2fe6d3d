"""`PartitionLog`: the ordered segments of one partition; append, read, search by time, flush.

`broker.partition` calls it; `recovery` makes it. `append` and `read` run on the event loop and wait
for no disk: what is written is in the page cache (it outlives the process, not the machine) until
`flush`. `flush` may run in a thread beside the other two; nothing else may.

An OSError becomes KAFKA_STORAGE_ERROR here. A failed append leaves nothing behind. After a failed
flush, or bytes that cannot be removed, the log takes no more appends: what the page cache says and
what the disk has may differ then, and only a restart finds out.

Source: Kafka's UnifiedLog and LocalLog.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import RecordBatch, batches_in
from wirekafka.storage.checkpoints import LEADER_EPOCHS, PARTITION_METADATA, encode_epochs
from wirekafka.storage.config import LOG_APPEND_TIME, LogConfig
from wirekafka.storage.disk import Disk
from wirekafka.storage.epochs import LeaderEpochs
from wirekafka.storage.files import FileSlice, OpenFile, replace_file, unlink_if_there, write_file
from wirekafka.storage.producer_snapshot import encode_snapshot
from wirekafka.storage.producer_state import AppendedBatch, ProducerState
from wirekafka.storage.segment import CutBackFailed, Segment
from wirekafka.storage.segments import Segments
from wirekafka.storage.timestamps import TimestampOffset, first_at_or_after, first_with_largest
from wirekafka.storage.validation import Buffer, Origin, validate

_NO_PRODUCER_ID = -1
_NO_LOG_APPEND_TIME = -1
_READ_AHEAD_BYTES = 1024 * 1024
_PRODUCER_EXPIRY_INTERVAL_MS = 10 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a batch went. `log_append_time_ms` is -1 unless stamped by the broker, or a duplicate's."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool


@dataclass(slots=True, kw_only=True)
class Recovered:
    """What `recovery` found in a folder, and a `PartitionLog` is made of."""

    segments: list[Segment]
    epochs: LeaderEpochs
    producers: ProducerState
    snapshot_offsets: list[int]
    log_start_offset: int
    recovery_point: int
    is_new_folder: bool


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
        self.recovery_point = recovered.recovery_point
        """The offset up to which a flush has made everything last."""
        self.segments = Segments(recovered.segments)
        self.log_end_offset = self.segments.active.next_offset
        self._disk = disk
        self._files = disk.files
        self.epochs = recovered.epochs
        self.producers = recovered.producers
        self._snapshot_offsets = recovered.snapshot_offsets
        self._folder_is_new = recovered.is_new_folder
        self._names_changed = recovered.is_new_folder
        self._expire_producers_at_ms: int | None = None  # first looked at one interval after the first append
        self.failed = False
        """Set when bytes and disk may differ; appends and flushes are refused from then on."""
        self.closed = False

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

    def append(
        self, records: Buffer, *, leader_epoch: int, now_ms: int, origin: Origin = Origin.CLIENT
    ) -> Appended:
        """Append one batch; it is readable, and outlives the process, when this returns.

        `records` is rewritten in place (offset, epoch) and not kept. A batch that its producer sent
        before is answered with where it went then, and not written again. Raises what `validate` and
        `ProducerState.check` raise, and KAFKA_STORAGE_ERROR.
        """
        if self.failed:
            raise self._storage_error("takes no appends since an earlier write or flush failed")
        config = self.config
        batch = validate(records, self.topic_partition, config, origin=origin, now_ms=now_ms)
        if batch.producer_id > _NO_PRODUCER_ID:
            self._expire_producers(now_ms)
            repeated = self.producers.check(batch, from_client=origin is Origin.CLIENT)
            if repeated is not None:
                return self._already_appended(repeated)
        base_offset = self.log_end_offset
        last_offset = base_offset + batch.last_offset_delta
        self._write(records, batch, leader_epoch, now_ms)
        self.log_end_offset = last_offset + 1
        if leader_epoch != self.epochs.latest:
            self.epochs.assign(leader_epoch, base_offset)
        if batch.producer_id > _NO_PRODUCER_ID:
            self.producers.update(batch)
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
            self.failed = isinstance(error, CutBackFailed)
            raise self._storage_error("could not be appended to", error) from error

    def _already_appended(self, repeated: AppendedBatch) -> Appended:
        # As in Kafka the time is told whatever its type: that of the batch which was kept.
        return Appended(
            repeated.base_offset, repeated.last_offset, repeated.timestamp_ms, self.log_start_offset, True
        )

    def _expire_producers(self, now_ms: int) -> None:
        if self._expire_producers_at_ms is None:
            self._expire_producers_at_ms = now_ms + _PRODUCER_EXPIRY_INTERVAL_MS
        elif now_ms >= self._expire_producers_at_ms:
            self._expire_producers_at_ms = now_ms + _PRODUCER_EXPIRY_INTERVAL_MS
            self.producers.expire(now_ms, self.config.producer_id_expiration_ms)

    def _roll(self, now_ms: int) -> Segment:
        """Seal the last segment and begin the next at the log's end."""
        sealed = self.segments.active
        if sealed.base_offset == self.log_end_offset:
            return sealed
        sealed.write_indexes(final=True)
        self._take_snapshot()
        segment = Segment.create(
            self._disk, self.folder, self.log_end_offset, config=self.config, created_ms=now_ms
        )
        self._names_changed = True
        self.segments.add(segment)
        return segment

    def _take_snapshot(self) -> None:
        """Write the producers as of the log's end, unless that is done. A torn one is told by its CRC."""
        offset = self.log_end_offset
        if offset > (self._snapshot_offsets[-1] if self._snapshot_offsets else 0):
            write_file(self._files, self._snapshot_path(offset), encode_snapshot(self.producers.producers))
            self._snapshot_offsets.append(offset)

    def _snapshot_path(self, offset: int) -> str:
        return f"{self.folder}/{offset:020d}.snapshot"

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
            raise self._storage_error("could not be read", error) from error

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

    def offset_for_timestamp(self, timestamp_ms: int) -> TimestampOffset | None:
        """The first record at or after a time; None when every record is older.

        Looks inside the one batch that has it, also when compressed. Raises CORRUPT_MESSAGE,
        KAFKA_STORAGE_ERROR.
        """
        try:
            for segment in self.segments.all():
                if segment.max_timestamp >= timestamp_ms:
                    found = first_at_or_after(segment, timestamp_ms, self.log_start_offset)
                    if found is not None:
                        return found
        except OSError as error:
            raise self._storage_error("could not be read", error) from error
        return None

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """The first record with the largest timestamp of all, which may be -1; None in an empty log."""
        try:
            return first_with_largest(max(self.segments.all(), key=_max_timestamp))
        except OSError as error:
            raise self._storage_error("could not be read", error) from error

    # --- shortening

    def delete_records_before(self, offset: int) -> None:
        """Move the start of the log to `offset`, and remove the segments that end before it.

        An offset before the start changes nothing. Raises OFFSET_OUT_OF_RANGE behind the end.
        """
        if not 0 <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Records of {self.topic_partition} cannot be deleted up to offset {offset}: the log ends at "
                f"{self.log_end_offset}.",
            )
        if offset <= self.log_start_offset:
            return
        self.log_start_offset = offset
        self.epochs.truncate_from_start(offset)
        try:
            if offset == self.log_end_offset:
                self._roll(self.segments.active.created_ms)
            self._remove_segments_before(offset)
        except OSError as error:
            raise self._storage_error("could not be shortened", error) from error

    def _remove_segments_before(self, offset: int) -> None:
        self.segments.remove_before(offset)
        first = self.segments.first_offset
        while self._snapshot_offsets and self._snapshot_offsets[0] < first:
            unlink_if_there(self._files, self._snapshot_path(self._snapshot_offsets[0]))
            del self._snapshot_offsets[0]

    # --- lasting

    def flush(self) -> None:
        """Make everything appended so far last, and advance the recovery point.

        Raises KAFKA_STORAGE_ERROR; a failed sync is never tried again, as the kernel then calls lost
        bytes clean.
        """
        if self.failed:
            raise self._storage_error("is not flushed since an earlier write or flush failed")
        end, active = self.log_end_offset, self.segments.active
        if end <= self.recovery_point and not self.epochs.dirty:
            return
        try:
            for segment in [s for s in self.segments.all() if s.next_offset > self.recovery_point]:
                self._sync(segment, sealed=segment is not active)
            self._sync_names()
        except OSError as error:
            self.failed = True
            raise self._storage_error("could not be flushed", error) from error
        self.recovery_point = max(end, self.recovery_point)

    def _sync(self, segment: Segment, *, sealed: bool) -> None:
        try:
            segment.file.sync()
            if sealed:
                segment.write_indexes(final=True)
                segment.sync_indexes()
        except FileNotFoundError:
            # Removed while the flush ran, in another thread.
            if segment in self.segments.all():
                raise

    def _sync_names(self) -> None:
        if self.epochs.dirty:
            self._write_epochs(sync=True)
        if self._names_changed:
            self._names_changed = False
            self._files.sync_folder(self.folder)
        if self._folder_is_new:
            self._folder_is_new = False
            OpenFile(self._files, f"{self.folder}/{PARTITION_METADATA}").sync()
            self._files.sync_folder(self.folder.rpartition("/")[0])

    def _write_epochs(self, *, sync: bool) -> None:
        self.epochs.dirty = False
        data = encode_epochs(self.epochs.entries())
        replace_file(self._files, f"{self.folder}/{LEADER_EPOCHS}", data, sync=sync)

    def close(self) -> None:
        """Flush, leave everything behind as a start needs it, and let go of the files.

        Raises KAFKA_STORAGE_ERROR; the files are let go of all the same.
        """
        if self.closed:
            return
        try:
            self.flush()
            self.write_out()
            self.segments.active.sync_indexes()
        except OSError as error:
            raise self._storage_error("could not be closed", error) from error
        finally:
            self.abandon()

    def write_out(self) -> None:
        """Write what is kept in memory as a clean start needs it; nothing is synced.

        Raises KAFKA_STORAGE_ERROR, always so when the log has failed before.
        """
        if self.failed:
            raise self._storage_error("is not closed cleanly since an earlier write or flush failed")
        try:
            self._take_snapshot()
            for segment in self.segments.all():
                segment.write_indexes(final=True)
            if self.epochs.dirty:
                self._write_epochs(sync=False)
        except OSError as error:
            raise self._storage_error("could not be closed", error) from error

    def close_synced(self) -> None:
        """Let go of the files, after `write_out` and a sync of the whole filesystem."""
        self.recovery_point = self.log_end_offset
        self.abandon()

    def abandon(self) -> None:
        """Let go of the files and write nothing."""
        self.failed = self.closed = True
        self.segments.release()

    def _storage_error(self, what: str, error: OSError | None = None) -> KafkaError:
        why = f": {error.strerror or error}" if error is not None else ""
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"The log of {self.topic_partition} {what}{why}.")


def _max_timestamp(segment: Segment) -> int:
    return segment.max_timestamp
