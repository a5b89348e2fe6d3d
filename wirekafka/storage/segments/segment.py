"""One segment of a log: its file of batches, and the three indexes kept in step with it.

`log` appends to the last segment and reads from any; `recovery` rebuilds one by `rescan`. Index
entries are added in memory and written out by `write_indexes`: they can always be rebuilt from the
batches. A segment opens its file and reads its indexes when it is first used.

Other threads (a flush, a compaction) ask for `size` and `next_offset` at any time: these go from one true
value to the next, also while the indexes are read or made anew, and when that fails.

Source: Kafka's LogSegment.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.config import COMPACT, LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import Data, OpenFile, unlink_if_there
from wirekafka.storage.disk.set_aside import set_aside
from wirekafka.storage.segments.scan import Damaged, find_batch, headers, valid_batches
from wirekafka.storage.segments.segment_indexes import (
    LARGEST_ENTRY_BYTES,
    LARGEST_RELATIVE_OFFSET,
    Extent,
    SegmentIndexes,
    load_indexes,
    rebuild_indexes,
)
from wirekafka.storage.segments.transaction_index import TransactionIndex

SUFFIXES = (".log", ".index", ".timeindex", ".txnindex")
"""The files of a segment; the batches first: without them the others mean nothing."""
_ANY_TIME, _NO_TIME = 1 << 64, -(1 << 64)


WrittenBatch = tuple[int, int, int, int]
"""What the indexes have to know of a batch: base offset, last offset, size and largest timestamp."""


Room = tuple[int, int, int]
"""What a segment takes before the next has to begin: so many bytes, up to an offset and a timestamp."""


class Segment:
    """The batches from `base_offset` up to the next segment's.

    `size` and `next_offset` are those of the file; what needs the indexes loads them.
    """

    __slots__ = (
        "_disk",
        "_files",
        "_index_interval_bytes",
        "_indexes",
        "_is_preallocated",
        "_jitter_ms",
        "_loaded",
        "_stem",
        "base_offset",
        "created_ms",
        "next_offset",
        "path",
        "size",
        "transactions",
    )

    def __init__(
        self, disk: Disk, folder: str, base_offset: int, *, config: LogConfig, created_ms: int
    ) -> None:
        self._disk = disk
        self._files = files = disk.files
        self._stem = f"{folder}/{base_offset:020d}"
        self.path = f"{self._stem}.log"
        self._index_interval_bytes = config.index_interval_bytes
        jitter_ms = min(config.segment_jitter_ms, config.segment_ms)
        self._jitter_ms = int.from_bytes(files.random_bytes(4), "big") % jitter_ms if jitter_ms else 0
        self.base_offset = base_offset
        self.created_ms = created_ms
        self._is_preallocated = False
        self._loaded = True
        self.transactions = TransactionIndex(files, self._stem, is_new=True)
        """The aborted transactions whose markers are in this segment."""
        self.size = 0
        self.next_offset = base_offset
        self._indexes = SegmentIndexes(base_offset, config.index_interval_bytes)

    @classmethod
    def create(
        cls, disk: Disk, folder: str, base_offset: int, *, config: LogConfig, created_ms: int
    ) -> "Segment":
        """Begin a new, empty segment; its index files are there from the start, as Kafka's tools expect.

        Raises OSError: then nothing of it is there, or `CutBackFailed` is what is raised.
        """
        segment = cls(disk, folder, base_offset, config=config, created_ms=created_ms)
        try:
            segment._make_files(config)
        except OSError as error:
            segment._unmake_files(error)
            raise
        return segment

    def _make_files(self, config: LogConfig) -> None:
        self.release()  # a flush may have come late to a file of this name, of a topic that was deleted
        file = self._disk.open_files.get(self.path, create=True)
        if config.preallocate:
            self._is_preallocated = True
            file.truncate(config.segment_bytes)
        for suffix in (".index", ".timeindex"):
            OpenFile(self._files, self._stem + suffix, create=True, truncate=True)
        self._indexes.say_files_are_new()

    def _unmake_files(self, error: OSError) -> None:
        """Leave nothing of a segment that could not be made: a start would take it for one of the log's."""
        try:
            self.delete()
        except OSError:
            raise CutBackFailed(*error.args) from error

    @classmethod
    def existing(
        cls,
        disk: Disk,
        folder: str,
        base_offset: int,
        *,
        config: LogConfig,
        created_ms: int,
        next_offset: int,
    ) -> "Segment":
        """Take over the segment of a file; nothing of it is read yet."""
        segment = cls(disk, folder, base_offset, config=config, created_ms=created_ms)
        segment.size = disk.files.size_of(segment.path)
        segment.next_offset = next_offset
        segment._loaded = False
        segment.transactions = TransactionIndex(disk.files, segment._stem, is_new=False)
        return segment

    @property
    def file(self) -> OpenFile:
        return self._disk.open_files.get(self.path)

    @property
    def file_name(self) -> str:
        return f"{self.base_offset:020d}.log"

    # --- appending

    def append(self, records: Data, batch: RecordBatch) -> None:
        """Write a batch at the end. On an OSError nothing of it stays, or `CutBackFailed` is raised."""
        position = self.size
        self._write(records, position)
        self._note(batch, position)

    def append_plain(self, records: Data, base_offset: int, last_offset: int, max_timestamp: int) -> None:
        """Write one of which this is known, as `append` does."""
        position, size = self.size, len(records)
        self._write(records, position)
        self._indexes.note_fields(position, base_offset, last_offset, size, max_timestamp)
        self.size, self.next_offset = position + size, last_offset + 1

    def append_several(self, records: Data, batches: Iterable[WrittenBatch]) -> None:
        """Write batches that lie one behind the other, all or none of them, as `append` does one.

        Also where `CutBackFailed` is raised no later start takes any of them for the log's.
        """
        position = self.size
        try:
            self._write(records, position)
        except CutBackFailed:
            self._blank(position, len(records))
            raise
        indexes = self._indexes
        for base_offset, last_offset, size, max_timestamp in batches:
            indexes.note_fields(position, base_offset, last_offset, size, max_timestamp)
            position += size
        self.size, self.next_offset = indexes.size, indexes.next_offset

    def _write(self, records: Data, position: int) -> None:
        file = self._disk.open_files.get(self.path)
        try:
            file.write(records, position)
        except OSError as error:
            _cut_back(file, position, error)
            raise

    def _blank(self, position: int, size: int) -> None:
        """Write zeros over what cannot be cut off, for there may be whole batches among it.

        What is there can be written over even on a full disk. If that fails too, nothing is left to try.
        """
        with contextlib.suppress(OSError):
            self.file.write(bytes(size), position)

    def _note(self, batch: RecordBatch, position: int) -> None:
        indexes = self._indexes
        indexes.note(batch, position)
        self.size, self.next_offset = indexes.size, indexes.next_offset

    def should_roll(self, config: LogConfig, batch: RecordBatch, *, last_offset: int, now_ms: int) -> bool:
        """Whether the batch belongs into a new segment."""
        if self.size > config.segment_bytes - batch.size_in_bytes:
            return True
        if last_offset - self.base_offset > LARGEST_RELATIVE_OFFSET:
            return True
        if self._indexes.is_full(config.segment_index_bytes):
            return True
        return self.size > 0 and batch.max_timestamp > self._latest_timestamp(config, now_ms)

    def room(self, config: LogConfig, now_ms: int, most_batches: int) -> Room:
        """What so many batches may have without that one of them belongs into a new segment."""
        index_bytes = config.segment_index_bytes - most_batches * LARGEST_ENTRY_BYTES
        if self.size == 0 or self._indexes.is_full(index_bytes):
            return 0, 0, 0
        largest_offset = self.base_offset + LARGEST_RELATIVE_OFFSET
        return config.segment_bytes - self.size, largest_offset, self._latest_timestamp(config, now_ms)

    def _latest_timestamp(self, config: LogConfig, now_ms: int) -> int:
        """The largest timestamp with which a batch is not too late for a segment that has one."""
        longest_ms = config.segment_ms
        # Compaction passes over the last segment, which therefore takes batches no longer than its lag.
        if config.max_compaction_lag_ms < longest_ms and COMPACT in config.cleanup_policy:
            longest_ms = config.max_compaction_lag_ms
        if self._indexes.first_timestamp >= 0:
            return self._indexes.first_timestamp + longest_ms - self._jitter_ms
        return _ANY_TIME if now_ms - self.created_ms <= longest_ms - self._jitter_ms else _NO_TIME

    # --- reading

    def find(self, offset: int) -> tuple[int, int] | None:
        """Position and size of the batch that holds `offset`, or of the first one behind it."""
        self.load()
        indexes = self._indexes
        if offset >= indexes.recent.start_offset:
            return indexes.recent.find(offset, self.size)
        try:
            return find_batch(self.file, indexes.offsets.lookup(offset), offset, self.size)
        except Damaged:
            self._take(rebuild_indexes(self.file, self._extent, self._index_interval_bytes))
            return find_batch(self.file, self._indexes.offsets.lookup(offset), offset, self.size)

    def headers(self, position: int = 0) -> Iterator[tuple[int, RecordBatch]]:
        """Position and header of every batch from the one at `position` on."""
        return headers(self.file, position, self.size)

    def batch_at(self, position: int, size: int) -> RecordBatch:
        """The whole batch at `position`."""
        return RecordBatch(self.file.read(size, position))

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of all batches; -1 when none has one."""
        self.load()
        return self._indexes.max_timestamp

    @property
    def max_timestamp_offset(self) -> int:
        """The last offset of the first batch that has the largest timestamp."""
        self.load()
        return self._indexes.max_timestamp_offset

    @property
    def first_timestamp(self) -> int:
        """The timestamp of the first batch, which is its largest; -1 when there is none."""
        self.load()
        return self._indexes.first_timestamp

    def position_for_timestamp(self, timestamp: int) -> int:
        """A position before which no batch has a timestamp of at least `timestamp`."""
        self.load()
        _, offset = self._indexes.times.lookup(timestamp)
        found = self.find(offset)
        return found[0] if found is not None else self.size

    def offset_behind(self, position: int) -> int:
        """An offset that no batch before `position` has; the nearest that the index knows. Raises OSError."""
        self.load()
        indexed = self._indexes.offsets.first_from(position)
        return self.next_offset if indexed is None else indexed

    def position_before(self, offset: int, entries: int) -> tuple[int, int]:
        """A position that many index entries before an offset, and how many there were. Raises OSError."""
        self.load()
        return self._indexes.offsets.back_from(offset, entries)

    # --- indexes

    @property
    def is_loaded(self) -> bool:
        """Whether the indexes have been read."""
        return self._loaded

    def load(self) -> None:
        """Read the indexes, or rebuild them where they are missing or cannot be right.

        Of a sealed segment this may be done in a thread, beside reads. Raises Damaged, OSError.
        """
        if not self._loaded:
            self._take(load_indexes(self._files, self.file, self._extent, self._index_interval_bytes))

    @property
    def _extent(self) -> Extent:
        return Extent(self.base_offset, self.next_offset, self.size)

    def _take(self, indexes: SegmentIndexes) -> None:
        self._indexes = indexes
        self.next_offset = indexes.next_offset  # of the last segment it was not known
        self._loaded = True

    def rescan(self, on_batch: Callable[[RecordBatch], None]) -> int:
        """Rebuild everything from the batches that are whole and right, handing each to `on_batch`.

        Gives the size of the file; `size` is then where the first wrong byte is. The index of aborted
        transactions is empty then, and to be filled by a replay of the producers. Nobody else may have
        the segment meanwhile.
        """
        file_size = self.file.size()
        self.size, self.next_offset = 0, self.base_offset
        self._indexes = SegmentIndexes(self.base_offset, self._index_interval_bytes)
        self.transactions.reset()
        for position, batch in valid_batches(self.file, self.base_offset, file_size):
            self._note(batch, position)
            on_batch(batch)
        self._loaded = True
        return file_size

    def cut(self) -> None:
        """Cut the file back to the batches that are known."""
        self.file.truncate(self.size)

    # --- lasting

    def seal(self) -> bool:
        """Write what the files of a segment have to have after its last batch; whether that was anything."""
        before = self._indexes.written, self.transactions.written
        self.write_indexes(final=True)
        if self._is_preallocated:
            self.file.truncate(self.size)
            self._is_preallocated = False
        return before != (self._indexes.written, self.transactions.written)

    def write_indexes(self, *, final: bool) -> None:
        """Write what the index files lack; `final` adds the largest timestamp, as a closed segment has it."""
        self.transactions.write()
        if self._loaded:
            self._indexes.write(self._files, self._stem, final=final)

    def index_paths(self) -> list[str]:
        """The files of the indexes, some of which may not be there."""
        return [self._stem + suffix for suffix in SUFFIXES[1:]]

    def release(self) -> None:
        """Let go of the file; it closes when no slice of it is held any more."""
        self._disk.open_files.forget(self.path)

    def delete(self) -> None:
        """Remove the files; slices that were given out stay readable."""
        self.release()
        for suffix in SUFFIXES:
            unlink_if_there(self._files, self._stem + suffix)

    def set_aside(self) -> list[str]:
        """Rename the files, so that no start takes them for a log's; give the new names.

        Slices that were given out stay readable. Raises OSError, when the batches are still under their name.
        """
        gone = set_aside(self._files, [self.path])
        for path in self.index_paths():
            try:
                gone += set_aside(self._files, [path])
            except OSError:
                gone.append(path)  # without the batches it means nothing under this name either
        self.release()
        return gone


def _cut_back(file: OpenFile, position: int, error: OSError) -> None:
    try:
        file.truncate(position)
    except OSError:
        raise CutBackFailed(*error.args) from error


class CutBackFailed(OSError):
    """A failed append left bytes at the end of the file, and they cannot be removed."""
