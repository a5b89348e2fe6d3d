"""Mends a partition's folder that a start refuses: cuts the log, or takes only the wrong bytes out.

Called by `stopped_folder`. Whatever is taken out of a log is kept beside it, in files named
`<segment>.log.damaged-<n>`. After a crash at any moment the folder can be repaired again, or is mended.

Source: ours. Kafka deletes what is behind the first wrong byte.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from wirekafka.ids import TopicPartition
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import Files, OpenFile, read_file, sync_names, unlink_if_there
from wirekafka.storage.disk.set_aside import CLEANED, SWAP
from wirekafka.storage.folder.partition_folder import topic_id_in
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.log.opening import Stopped
from wirekafka.storage.log.progress import OpeningProgress
from wirekafka.storage.producers.snapshot import decode_snapshot
from wirekafka.storage.recovery.leftovers import (
    INDEX_SUFFIXES,
    name_for_damaged,
    offsets_of,
    tidy,
)
from wirekafka.storage.recovery.recovery import open_partition
from wirekafka.storage.repair.survey import Stretch, survey

_COPIED_AT_A_TIME_BYTES = 1024 * 1024
_BEFORE_ANY_EXPIRY_MS = 0


@dataclass(slots=True)
class Repaired:
    """What a repair has done, or would do."""

    log_end_offset: int = 0
    wrong_bytes: int = 0
    """That were no batches."""
    given_up_records: int = 0
    """Good ones, behind the cut."""
    given_up_batches: int = 0
    given_up_bytes: int = 0
    moved_to: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Surveyed:
    base_offset: int
    stretches: list[Stretch]

    @property
    def is_good(self) -> bool:
        return all(stretch.is_good for stretch in self.stretches)


class _Cut(NamedTuple):
    """Where a log is cut: segment, position in its file, and the offset that it ends with then."""

    slot: int
    position: int
    offset: int


class PartitionRepair:
    """One partition's folder, read through. Raises OSError; KAFKA_STORAGE_ERROR as `tidy` does."""

    def __init__(self, disk: Disk, folder: str, topic_partition: TopicPartition, stopped: Stopped) -> None:
        self._disk = disk
        self._files: Files = disk.files
        self._folder = folder
        self._topic_partition = topic_partition
        self._stopped = stopped
        self._segments: list[_Surveyed] = []
        offset: int | None = None
        for base in offsets_of(tidy(disk.files, folder, topic_partition), ".log"):
            file = OpenFile(self._files, self._path(base))
            stretches = survey(file, base, next_offset=None if offset is None else max(base, offset))
            self._segments.append(_Surveyed(base, stretches))
            offset = stretches[-1].next_offset if stretches else offset

    def _path(self, base_offset: int) -> str:
        return f"{self._folder}/{_name(base_offset)}"

    # --- cutting

    def _cut(self) -> _Cut | None:
        """The first wrong byte, or the first batch behind offsets that are missing for no reason."""
        expected = self._segments[0].base_offset if self._segments else 0
        for slot, segment in enumerate(self._segments):
            for stretch in segment.stretches:
                if not stretch.is_good or self._is_a_hole(expected, stretch.first_offset):
                    return _Cut(slot, stretch.start, expected)
                expected = stretch.next_offset
        return None

    def _is_a_hole(self, expected: int, found: int) -> bool:
        return found > max(expected, self._stopped.recovery_point or 0) and not self._stopped.was_compacted

    def what_truncating_gives_up(self) -> Repaired:
        """What `truncate` would do; nothing is changed."""
        cut = self._cut()
        if cut is None:
            return Repaired(log_end_offset=self._end_offset())
        repaired = Repaired(log_end_offset=cut.offset)
        for slot, segment in enumerate(self._segments[cut.slot :]):
            for stretch in segment.stretches:
                if slot > 0 or stretch.start >= cut.position:
                    _count(stretch, repaired)
        return repaired

    def truncate(self) -> Repaired:
        """Cut the log at its first wrong byte, and move aside what is there and behind."""
        repaired = self.what_truncating_gives_up()
        cut = self._cut()
        if cut is None:
            return repaired
        # The last first: what is left is a log at any moment.
        for segment in reversed(self._segments[cut.slot + 1 :]):
            self._move_segment(segment.base_offset, repaired)
        damaged = self._segments[cut.slot]
        if cut.position == 0 and cut.slot > 0:
            self._move_segment(damaged.base_offset, repaired)
            return repaired
        file = OpenFile(self._files, self._path(damaged.base_offset))
        self._copy_aside(file, damaged.base_offset, [(cut.position, file.size())], repaired)
        file.truncate(cut.position)
        file.sync()
        self._remove_indexes(damaged.base_offset)
        return repaired

    def _move_segment(self, base_offset: int, repaired: Repaired) -> None:
        aside = name_for_damaged(self._files, self._folder, _name(base_offset))
        self._files.rename(self._path(base_offset), f"{self._folder}/{aside}")
        self._remove_indexes(base_offset)
        sync_names(self._files, self._folder)
        repaired.moved_to.append(aside)

    # --- taking out

    def skip(self) -> Repaired:
        """Take the wrong bytes out of every segment; the good batches behind them keep their offsets."""
        repaired = Repaired(log_end_offset=self._end_offset())
        for segment in self._segments:
            if segment.is_good:
                continue
            bad = [stretch for stretch in segment.stretches if not stretch.is_good]
            repaired.wrong_bytes += sum(stretch.size_bytes for stretch in bad)
            self._rewrite(segment, [(stretch.start, stretch.end) for stretch in bad], repaired)
        return repaired

    def _rewrite(self, segment: _Surveyed, bad: list[tuple[int, int]], repaired: Repaired) -> None:
        base_offset = segment.base_offset
        path = self._path(base_offset)
        file = OpenFile(self._files, path)
        self._copy_aside(file, base_offset, bad, repaired)
        good = [(stretch.start, stretch.end) for stretch in segment.stretches if stretch.is_good]
        rewritten = OpenFile(self._files, path + CLEANED, create=True, truncate=True)
        _copy(file, good, rewritten)
        rewritten.sync()
        # From here on a start finishes what is done here, as after a compaction.
        self._files.rename(path + CLEANED, path + SWAP)
        sync_names(self._files, self._folder)
        self._remove_indexes(base_offset)
        self._files.rename(path + SWAP, path)
        sync_names(self._files, self._folder)

    # --- both

    def rebuild(self) -> PartitionLog:
        """Make indexes, snapshots and epochs anew of the batches, and have all of the folder last.

        Gives the closed log, whose offsets a checkpoint may take up. Raises KAFKA_STORAGE_ERROR for a log
        that is damaged still.
        """
        self._remove_damaged_snapshots()
        notices: list[str] = []
        unchecked = Stopped(log_start_offset=self._stopped.log_start_offset, was_compacted=True)
        log = open_partition(
            self._disk,
            self._folder,
            self._topic_partition,
            topic_id_in(self._files, self._folder),
            LogConfig(),
            stopped=unchecked,
            now_ms=_BEFORE_ANY_EXPIRY_MS,
            notices=notices,
            progress=OpeningProgress(),
        )
        log.close()
        return log

    def _remove_damaged_snapshots(self) -> None:
        for offset in offsets_of(self._files.list_folder(self._folder), ".snapshot"):
            path = f"{self._folder}/{offset:020d}.snapshot"
            if decode_snapshot(read_file(self._files, path) or b"") is None:
                unlink_if_there(self._files, path)

    def _end_offset(self) -> int:
        ends = [segment.stretches[-1].next_offset for segment in self._segments if segment.stretches]
        return max(ends, default=self._segments[-1].base_offset if self._segments else 0)

    def _remove_indexes(self, base_offset: int) -> None:
        for suffix in INDEX_SUFFIXES:
            unlink_if_there(self._files, self._path(base_offset).removesuffix(".log") + suffix)

    def _copy_aside(
        self, file: OpenFile, base_offset: int, ranges: list[tuple[int, int]], repaired: Repaired
    ) -> None:
        aside = name_for_damaged(self._files, self._folder, _name(base_offset))
        kept = OpenFile(self._files, f"{self._folder}/{aside}", create=True, truncate=True)
        _copy(file, ranges, kept)
        kept.sync()
        sync_names(self._files, self._folder)
        repaired.moved_to.append(aside)


def _name(base_offset: int) -> str:
    return f"{base_offset:020d}.log"


def _count(stretch: Stretch, repaired: Repaired) -> None:
    if stretch.is_good:
        repaired.given_up_records += stretch.records
        repaired.given_up_batches += stretch.batches
        repaired.given_up_bytes += stretch.size_bytes
    else:
        repaired.wrong_bytes += stretch.size_bytes


def _copy(source: OpenFile, ranges: list[tuple[int, int]], target: OpenFile) -> None:
    """Copy ranges of a file one behind the other into another."""
    written = 0
    for start, end in ranges:
        while start < end:
            data = source.read(min(_COPIED_AT_A_TIME_BYTES, end - start), start)
            if not data:
                break
            target.write(data, written)
            start, written = start + len(data), written + len(data)
