"""Opens a partition's folder after a clean or an unclean stop, and gives a trustworthy PartitionLog.

Called by `directory`. After a clean stop the files are taken at their word, as far as it makes sense.
After an unclean one every batch from the segment of the recovery point on is checked. A torn end is
cut off; damage with good batches behind it is not touched but refused, for it may be somebody's data.
The recovery point is never advanced here: a second crash finds the same work to do, and does the same.

Source: Kafka's LogLoader and LogSegment.recover; the refusal is our own.
"""

from dataclasses import dataclass, field

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import RecordBatch
from wirekafka.protocol.records.batch import NO_PRODUCER_ID
from wirekafka.storage.checkpoints import LEADER_EPOCHS, decode_epochs
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk import Disk
from wirekafka.storage.epochs import LeaderEpochs
from wirekafka.storage.files import Files, read_file, unlink_if_there
from wirekafka.storage.log import PartitionLog, Recovered
from wirekafka.storage.producer_snapshot import decode_snapshot
from wirekafka.storage.producer_state import ProducerState
from wirekafka.storage.scan import Damaged, valid_batch_from
from wirekafka.storage.segment import Segment

_INDEX_SUFFIXES = (".index", ".timeindex", ".txnindex")
_OFFSET_DIGITS = 20


@dataclass(slots=True, kw_only=True)
class Stopped:
    """How the last stop left a partition, by the data folder's marker and checkpoints."""

    clean: bool = False
    recovery_point: int = 0
    log_start_offset: int = 0
    is_new_folder: bool = False


@dataclass(slots=True)
class _Recovery:
    """One folder on its way to being a log."""

    disk: Disk
    folder: str
    topic_partition: TopicPartition
    config: LogConfig
    now_ms: int
    notices: list[str]
    segments: list[Segment] = field(default_factory=list)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    epochs_known: bool = True

    @property
    def files(self) -> Files:
        return self.disk.files

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def notice(self, text: str) -> None:
        self.notices.append(f"{self.topic_partition}: {text}")


def open_partition(
    disk: Disk,
    folder: str,
    topic_partition: TopicPartition,
    topic_id: bytes,
    config: LogConfig,
    *,
    stopped: Stopped,
    now_ms: int,
    notices: list[str],
) -> PartitionLog:
    """Open the log in a folder that exists, or begin one in it.

    What was repaired is said in `notices`. Raises KAFKA_STORAGE_ERROR for damage that may not be
    repaired by cutting. OSErrors come through.
    """
    recovery = _Recovery(disk, folder, topic_partition, config, now_ms, notices)
    names = [] if stopped.is_new_folder else _tidy(disk.files, folder)
    bases = _offsets_of(names, ".log")
    for base, next_base in zip(bases, [*bases[1:], *bases[-1:]], strict=True):
        recovery.segments.append(
            Segment.existing(disk, folder, base, config=config, created_ms=now_ms, next_offset=next_base)
        )
    _load_epochs(recovery)
    _check_segments(recovery, stopped)
    log_start_offset = _settle_start(recovery, stopped.log_start_offset)
    log_end_offset = recovery.segments[-1].next_offset
    _settle_epochs(recovery, log_start_offset, log_end_offset)
    producers, snapshot_offsets = _rebuild_producers(recovery, names, log_start_offset)
    recovered = Recovered(
        segments=recovery.segments,
        epochs=recovery.epochs,
        producers=producers,
        snapshot_offsets=snapshot_offsets,
        log_start_offset=log_start_offset,
        recovery_point=log_end_offset if stopped.clean else min(stopped.recovery_point, log_end_offset),
        is_new_folder=not bases,
    )
    return PartitionLog(disk, folder, topic_partition, topic_id, config, recovered=recovered)


def _tidy(files: Files, folder: str) -> list[str]:
    """Remove what a crash left half done, and index files without their log; give the other names."""
    names = files.list_folder(folder)
    logs = {name[:_OFFSET_DIGITS] for name in names if name.endswith(".log")}
    kept = []
    for name in names:
        orphan = name.endswith(_INDEX_SUFFIXES) and name[:_OFFSET_DIGITS] not in logs
        if orphan or name.endswith((".deleted", ".tmp")):
            unlink_if_there(files, f"{folder}/{name}")
        else:
            kept.append(name)
    return kept


def _offsets_of(names: list[str], suffix: str) -> list[int]:
    stems = (name[: -len(suffix)] for name in names if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if len(stem) == _OFFSET_DIGITS and stem.isdecimal())


def _load_epochs(recovery: _Recovery) -> None:
    if not recovery.segments:
        return
    data = read_file(recovery.files, recovery.path(LEADER_EPOCHS))
    if data is None:
        recovery.epochs_known = False
        return
    try:
        recovery.epochs = LeaderEpochs(decode_epochs(data))
    except ValueError as error:
        recovery.epochs_known = False
        recovery.notice(f"the leader epochs are read from the batches anew: {error}")


def _check_segments(recovery: _Recovery, stopped: Stopped) -> None:
    """See that the segments are what they should be, as far as the last stop leaves that in doubt."""
    if not recovery.segments:
        return
    if stopped.clean:
        try:
            recovery.segments[-1].load()
        except Damaged as error:
            recovery.notice(f"checked in spite of a clean stop: {error.strerror}")
        else:
            return
    point = stopped.recovery_point
    first = max((i for i, segment in enumerate(recovery.segments) if segment.base_offset <= point), default=0)
    if stopped.clean:
        first = len(recovery.segments) - 1
    for slot in range(first, len(recovery.segments)):
        if _rescan(recovery, recovery.segments[slot]):
            continue
        _cut(recovery, slot)
        return


def _rescan(recovery: _Recovery, segment: Segment) -> bool:
    """Check every batch of a segment; whether they fill its file."""

    def on_batch(batch: RecordBatch) -> None:
        if batch.partition_leader_epoch > recovery.epochs.latest:
            recovery.epochs.assign(batch.partition_leader_epoch, batch.base_offset)

    return segment.rescan(on_batch) == segment.size


def _cut(recovery: _Recovery, slot: int) -> None:
    """Cut the log at the first wrong byte of a segment, if nothing right is behind it."""
    damaged = recovery.segments[slot]
    _refuse_if_valid_batches_follow(recovery, slot)
    while len(recovery.segments) > slot + 1:
        # The last first: if this is interrupted, the next start finds the same damage to cut.
        recovery.segments.pop().delete()
    lost = damaged.file.size() - damaged.size
    damaged.cut()
    recovery.notice(
        f"cut {lost} bytes of an unfinished write off {damaged.file_name}, which ends at {damaged.size} now"
    )


def _refuse_if_valid_batches_follow(recovery: _Recovery, slot: int) -> None:
    damaged = recovery.segments[slot]
    file_name, position = damaged.file_name, damaged.size
    for segment in recovery.segments[slot:]:
        start = position if segment is damaged else 0
        found = valid_batch_from(segment.file, start, segment.file.size(), damaged.next_offset)
        if found is not None:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"The log of {recovery.topic_partition} is damaged: {file_name} has no batch at position "
                f"{position}, where one has to begin, and there are batches behind it ({segment.file_name}, "
                f"position {found}). It is left as it is.",
            )


def _settle_start(recovery: _Recovery, checkpointed: int) -> int:
    """The log's start offset; sees to it that there is a segment to append to."""
    segments = recovery.segments
    if segments and segments[-1].next_offset < checkpointed:
        recovery.notice(f"ended before its start offset {checkpointed}, and begins there anew")
        while segments:
            segments.pop().delete()
    if not segments:
        segments.append(
            Segment.create(
                recovery.disk,
                recovery.folder,
                checkpointed,
                config=recovery.config,
                created_ms=recovery.now_ms,
            )
        )
    return max(checkpointed, segments[0].base_offset)


def _settle_epochs(recovery: _Recovery, log_start_offset: int, log_end_offset: int) -> None:
    """Hold the leader epochs to the log: to what its batches say, and to its range."""
    epochs = recovery.epochs
    if not recovery.epochs_known:
        for segment in recovery.segments:
            for _, batch in segment.headers():
                if batch.partition_leader_epoch > epochs.latest:
                    epochs.assign(batch.partition_leader_epoch, batch.base_offset)
    epochs.truncate_from_end(log_end_offset)
    epochs.truncate_from_start(log_start_offset)


def _rebuild_producers(
    recovery: _Recovery, names: list[str], log_start_offset: int
) -> tuple[ProducerState, list[int]]:
    """Load the newest good snapshot within the log, and replay the batches behind it."""
    log_end_offset = recovery.segments[-1].next_offset
    producers = ProducerState(recovery.topic_partition)
    offsets = _kept_snapshots(recovery, _offsets_of(names, ".snapshot"), log_end_offset)
    start = log_start_offset
    for offset in reversed(offsets):
        loaded = decode_snapshot(read_file(recovery.files, recovery.path(f"{offset:020d}.snapshot")) or b"")
        if loaded is not None:
            producers.load(loaded)
            # Not those of the replay: a record's time may be long past, and its producer still retrying.
            producers.expire(recovery.now_ms, recovery.config.producer_id_expiration_ms)
            start = offset
            break
        recovery.notice(f"the producer snapshot at offset {offset} is damaged and removed")
        unlink_if_there(recovery.files, recovery.path(f"{offset:020d}.snapshot"))
        offsets.remove(offset)
    _replay(recovery.segments, producers, start)
    return producers, offsets


def _kept_snapshots(recovery: _Recovery, offsets: list[int], log_end_offset: int) -> list[int]:
    """Remove snapshots behind the log's end, and those of no segment but the newest."""
    bases = {segment.base_offset for segment in recovery.segments}
    within = [offset for offset in offsets if offset <= log_end_offset]
    kept = [offset for offset in within if offset in bases or offset == within[-1]]
    for offset in offsets:
        if offset not in kept:
            unlink_if_there(recovery.files, recovery.path(f"{offset:020d}.snapshot"))
    return kept


def _replay(segments: list[Segment], producers: ProducerState, start: int) -> None:
    for segment in segments:
        found = segment.find(start) if segment.next_offset > start else None
        if found is None:
            continue
        for position, header in segment.headers(found[0]):
            if header.producer_id <= NO_PRODUCER_ID or header.base_offset < start:
                continue
            # Of a control batch the record is needed as well, which says how the transaction ended.
            whole = segment.batch_at(position, header.size_in_bytes) if header.is_control else header
            producers.replay(whole)
