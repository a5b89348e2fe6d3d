"""Opens a partition's folder after a clean or an unclean stop, and gives a trustworthy PartitionLog.

Called by `directory`. After a clean stop the files are taken at their word where it agrees with the
checkpoint. After an unclean one every batch from the segment of the recovery point on is checked. A torn
end is cut off; damage below the recovery point, or with good batches behind it, is not touched but refused,
for it is somebody's data. The recovery point is never advanced here: a second crash finds the same work to
do, and does the same.

Source: Kafka's LogLoader and LogSegment.recover; the refusal is our own.
"""

from wirekafka.ids import TopicPartition
from wirekafka.protocol.records import RecordBatch
from wirekafka.protocol.records.batch import NO_PRODUCER_ID
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import Files, unlink_if_there
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.log.opening import Opening, Recovered, Stopped
from wirekafka.storage.log.progress import OpeningProgress
from wirekafka.storage.recovery.leftovers import name_for_damaged, offsets_of, tidy
from wirekafka.storage.recovery.rebuilding import (
    first_wrong_transactions,
    load_epochs,
    rebuild_producers,
    settle_epochs,
)
from wirekafka.storage.segments.scan import Damaged, only_zeros, valid_batch_from
from wirekafka.storage.segments.segment import SUFFIXES, Segment

_TOLD_AT_LEAST_BYTES = 4 * 1024 * 1024


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
    progress: OpeningProgress,
) -> PartitionLog:
    """Open the log in a folder that exists, or begin one in it; no file of it is held open.

    What was repaired is said in `notices`. Raises KAFKA_STORAGE_ERROR for damage that may not be
    repaired by cutting. OSErrors come through.
    """
    opening = Opening(disk, folder, topic_partition, config, now_ms, stopped, notices, progress)
    orphans: set[int] = set()
    names = [] if stopped.is_new_folder else tidy(disk.files, folder, topic_partition, orphans=orphans)
    bases = offsets_of(names, ".log")
    _tell_of_lost_segments(opening, bases, orphans)
    for base, next_base in zip(bases, [*bases[1:], *bases[-1:]], strict=True):
        opening.segments.append(
            Segment.existing(disk, folder, base, config=config, created_ms=now_ms, next_offset=next_base)
        )
    epochs_known = not bases or load_epochs(opening)
    if bases:
        _check_segments(opening)
    log_start_offset = _settle_start(opening)
    settle_epochs(opening, log_start_offset, known=epochs_known)
    _check_transactions(opening, names)
    producers, snapshot_offsets = rebuild_producers(opening, names)
    end = opening.log_end_offset
    recovered = Recovered(
        segments=opening.segments,
        epochs=opening.epochs,
        producers=producers,
        snapshot_offsets=snapshot_offsets,
        log_start_offset=log_start_offset,
        recovery_point=end if stopped.clean else min(opening.recovery_point, end),
        is_new_folder=not bases,
    )
    log = PartitionLog(disk, folder, topic_partition, topic_id, config, recovered=recovered)
    log.unflushed.add_files(_write_sealed_indexes(opening))
    for segment in opening.segments:
        segment.release()
    return log


def _tell_of_lost_segments(opening: Opening, bases: list[int], orphans: set[int]) -> None:
    """Say which segments are gone that have left their indexes, but for those that were let go of.

    Where a log begins is written before a file goes, and a cut takes the last first.
    """
    for offset in sorted(orphans):
        if opening.stopped.log_start_offset <= offset < max(bases, default=0):
            name = f"{offset:020d}"
            opening.notice(f"{name}.log is gone, though its index was there, and with it its records")


def _write_sealed_indexes(opening: Opening) -> list[str]:
    """Write the indexes that were made anew; give their files, which are to be synced with the log.

    On a full disk they are left to the next flush, or to who reads there: the log is right without.
    """
    written: list[str] = []
    for segment in opening.segments[:-1]:
        if opening.checked_from is None or segment.base_offset < opening.checked_from:
            continue
        try:
            segment.write_indexes(final=True)
        except OSError as error:
            opening.notice(f"indexes that were made anew could not be written: {error.strerror or error}")
            break
        written += segment.index_paths()
    return written


def unchecked_bytes(files: Files, folder: str, stopped: Stopped) -> int:
    """How much of a folder's log has to be read to check it after an unclean stop."""
    bases = offsets_of(files.list_folder(folder), ".log")
    first = _slot_of(bases, stopped.recovery_point or 0)
    return sum(files.size_of(f"{folder}/{base:020d}.log") for base in bases[first:])


def _slot_of(bases: list[int], offset: int) -> int:
    return max((slot for slot, base in enumerate(bases) if base <= offset), default=0)


def _check_segments(opening: Opening) -> None:
    """See that the segments are what they should be, as far as the last stop leaves that in doubt."""
    if not opening.stopped.clean:
        bases = [segment.base_offset for segment in opening.segments]
        _check_from(opening, _slot_of(bases, opening.recovery_point))
    elif (doubt := _doubt_after_clean_stop(opening)) is not None:
        opening.notice(f"checked in spite of a clean stop: {doubt}")
        _check_from(opening, len(opening.segments) - 1)
        _refuse_wrong_last_offset(opening)
    ends_at = opening.log_end_offset
    if ends_at < opening.recovery_point:
        opening.notice(
            f"ends at offset {ends_at}, though its records up to {opening.recovery_point} were made to last"
        )


def _doubt_after_clean_stop(opening: Opening) -> str | None:
    """What in the last segment does not agree with a clean stop; None when all does."""
    last = opening.segments[-1]
    try:
        last.load()
    except Damaged as error:
        return str(error.strerror)
    noted = opening.stopped.recovery_point
    if noted is not None and noted != last.next_offset:
        return f"it ends at offset {last.next_offset}, not at {noted}"
    return None


def _check_transactions(opening: Opening, names: list[str]) -> None:
    """Have aborted transactions told anew where their index is wrong; if the batches are, refuse the log."""
    slot = first_wrong_transactions(opening, names)
    if slot is None:
        return
    segment = opening.segments[slot]
    name = f"{segment.base_offset:020d}.txnindex"
    _check_from(opening, slot)
    opening.notice(f"{name} is damaged, and is made anew of the batches")
    opening.replay_from(segment.base_offset)


def _refuse_wrong_last_offset(opening: Opening) -> None:
    """Refuse a last batch whose offset, which no checksum covers, alone keeps the log from its noted end."""
    segment = opening.segments[-1]
    position = before = base_offset = delta = end = 0
    for position, header in segment.headers():  # noqa: B007
        before = end or segment.base_offset
        base_offset, delta, end = header.base_offset, header.last_offset_delta, header.last_offset + 1
    if end and base_offset != before and before + delta + 1 == opening.stopped.recovery_point:
        raise opening.damage(
            f"{segment.file_name} has a batch at position {position} with the offset {base_offset} instead "
            f"of {before}"
        )


def _check_from(opening: Opening, first: int) -> None:
    """Check every batch of the segments from the `first`th on, and cut off an unfinished end."""
    opening.checked_from = opening.segments[first].base_offset
    for slot in range(first, len(opening.segments)):
        segment = opening.segments[slot]
        segment.file.drop_cache()
        whole = _rescan(opening, segment)
        if not whole or _a_hole_follows(opening, slot):
            _cut(opening, slot)
            return


def _a_hole_follows(opening: Opening, slot: int) -> bool:
    """Whether records are missing between two segments, which no flush has told to last."""
    segment = opening.segments[slot]
    if slot + 1 == len(opening.segments):
        return False
    following = opening.segments[slot + 1].base_offset
    if segment.next_offset > following:
        position = max(position for position, _ in segment.headers())
        raise opening.damage(
            f"{segment.file_name} has offsets up to {segment.next_offset - 1} in its batch at position "
            f"{position}, and the next segment begins with {following}"
        )
    return segment.next_offset < following and following > opening.recovery_point and not opening.is_compacted


def _rescan(opening: Opening, segment: Segment) -> bool:
    """Check every batch of a segment; whether they fill its file."""
    expected, untold_bytes = segment.base_offset, 0

    def on_batch(batch: RecordBatch) -> None:
        nonlocal expected, untold_bytes
        if batch.partition_leader_epoch > opening.epochs.latest:
            opening.epochs.assign(batch.partition_leader_epoch, batch.base_offset)
        if batch.producer_id > NO_PRODUCER_ID:
            opening.replay_from(segment.base_offset)
        if batch.base_offset != expected and not opening.is_compacted:
            _judge_gap(opening, segment, expected, batch)
        expected = batch.last_offset + 1
        untold_bytes += batch.size_in_bytes
        if untold_bytes >= _TOLD_AT_LEAST_BYTES:
            opening.progress.checked(untold_bytes)
            untold_bytes = 0

    size = segment.rescan(on_batch)
    opening.progress.checked(untold_bytes + size - segment.size)
    return size == segment.size


def _judge_gap(opening: Opening, segment: Segment, expected: int, batch: RecordBatch) -> None:
    """Refuse a log whose offsets skip some: no checksum covers them.

    Where everything was made to last a repair may have left the gap.
    """
    if batch.base_offset <= opening.recovery_point:
        missing = f"{expected} to {batch.base_offset - 1}"
        opening.notice(f"the offsets from {missing} are missing in {segment.file_name}")
        return
    raise opening.damage(
        f"{segment.file_name} has a batch at position {segment.size - batch.size_in_bytes} with the offset "
        f"{batch.base_offset} instead of {expected}"
    )


def _cut(opening: Opening, slot: int) -> None:
    """Cut the log at the first wrong byte of a segment, or behind it, if nothing right is behind that."""
    damaged = opening.segments[slot]
    _refuse_if_it_was_flushed(opening, damaged)
    _refuse_if_valid_batches_follow(opening, slot)
    while len(opening.segments) > slot + 1:
        # The last first: if this is interrupted, the next start finds the same damage to cut.
        opening.segments.pop().delete()
    lost = damaged.file.size() - damaged.size
    if not lost:
        opening.notice(f"removed the empty segments behind {damaged.file_name}")
        return
    what = f"{lost} bytes of an unfinished write"
    if opening.config.preallocate and only_zeros(damaged.file, damaged.size, damaged.size + lost):
        what = f"{lost} zero bytes, room that was preallocated and not written to,"
    damaged.cut()
    opening.notice(f"cut {what} off {damaged.file_name}, which ends at {damaged.size} now")


def _refuse_if_it_was_flushed(opening: Opening, damaged: Segment) -> None:
    if damaged.next_offset < opening.recovery_point:
        raise opening.damage(
            f"{damaged.file_name} has no batch at position {damaged.size}, where offset "
            f"{damaged.next_offset} has to begin, and the records up to offset {opening.recovery_point} were "
            f"made to last"
        )


def _refuse_if_valid_batches_follow(opening: Opening, slot: int) -> None:
    damaged = opening.segments[slot]
    file_name, position = damaged.file_name, damaged.size
    what = f"{file_name} has no batch at position {position}, where one has to begin"
    if position == damaged.file.size():
        following = opening.segments[slot + 1].base_offset
        what = (
            f"{file_name} has no batch at position {position}, where the offsets {damaged.next_offset} to "
            f"{following - 1} have to be"
        )
    for segment in opening.segments[slot:]:
        start = position if segment is damaged else 0
        found = valid_batch_from(segment.file, start, segment.file.size(), damaged.next_offset)
        if found is not None:
            raise opening.damage(
                f"{what}, and there are batches behind it ({segment.file_name}, position {found})"
            )


def _settle_start(opening: Opening) -> int:
    """The log's start offset; sees to it that there is a segment to append to."""
    segments, checkpointed = opening.segments, _checkpointed_start(opening)
    if segments and opening.log_end_offset < checkpointed:
        if opening.stopped.clean and opening.stopped.recovery_point == opening.log_end_offset:
            opening.notice(f"begins at its first record, not at {checkpointed}, which is behind its end")
            checkpointed = 0
        else:
            _set_all_aside(opening, checkpointed)
    if not segments:
        segments.append(
            Segment.create(
                opening.disk, opening.folder, checkpointed, config=opening.config, created_ms=opening.now_ms
            )
        )
    return max(checkpointed, segments[0].base_offset)


def _checkpointed_start(opening: Opening) -> int:
    """The start offset by the checkpoint, which has no checksum; the leader epochs are written before it."""
    checkpointed = opening.stopped.log_start_offset
    first_epochs_start = next((start for _, start in opening.epochs.entries()), checkpointed)
    if checkpointed <= first_epochs_start:
        return checkpointed
    opening.notice(
        f"begins at offset {first_epochs_start}, as its leader epochs do, though {checkpointed} was noted"
    )
    return first_epochs_start


def _set_all_aside(opening: Opening, start_offset: int) -> None:
    """Begin anew at the start offset; the records below it had been deleted, if the checkpoint is right.

    The files are kept under other names all the same: that checkpoint has no checksum.
    """
    names = []
    while opening.segments:
        segment = opening.segments.pop()
        segment.release()
        for suffix in SUFFIXES[1:]:
            unlink_if_there(opening.files, opening.path(segment.file_name.removesuffix(".log") + suffix))
        aside = name_for_damaged(opening.files, opening.folder, segment.file_name)
        opening.files.rename(opening.path(segment.file_name), opening.path(aside))
        names.append(aside)
    opening.notice(
        f"ended before its start offset {start_offset}, and begins there anew; what was there is now named "
        f"{', '.join(names)}"
    )
