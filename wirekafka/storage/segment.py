"""One segment of a log: its file of batches, and the three indexes kept in step with it.

`log` appends to the last segment and reads from any; `recovery` rebuilds one by `rescan`. Index
entries are added in memory and written out by `write_indexes`: they can always be rebuilt from the
batches. A segment opens its file and reads its indexes when it is first used.

Source: Kafka's LogSegment.
"""

import errno
from collections.abc import Callable, Iterator

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk import Disk
from wirekafka.storage.files import Data, OpenFile, read_file, unlink_if_there
from wirekafka.storage.index_file import Index, write_index
from wirekafka.storage.offset_index import ENTRY_BYTES as OFFSET_ENTRY_BYTES
from wirekafka.storage.offset_index import OffsetIndex
from wirekafka.storage.recent_batches import RecentBatches
from wirekafka.storage.scan import Damaged, find_batch, headers, valid_batches
from wirekafka.storage.set_aside import set_aside
from wirekafka.storage.time_index import ENTRY_BYTES as TIME_ENTRY_BYTES
from wirekafka.storage.time_index import TimeIndex
from wirekafka.storage.transaction_index import TransactionIndex

LARGEST_RELATIVE_OFFSET = (1 << 31) - 1
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex")
"""The files of a segment; the batches first: without them the others mean nothing."""
_NO_TIMESTAMP = -1


class Segment:
    """The batches from `base_offset` up to the next segment's.

    `size` and `next_offset` are those of the file; what needs the indexes loads them.
    """

    __slots__ = (
        "_bytes_since_entry",
        "_disk",
        "_files",
        "_first_timestamp",
        "_index_interval_bytes",
        "_is_preallocated",
        "_jitter_ms",
        "_loaded",
        "_max_timestamp",
        "_max_timestamp_offset",
        "_offset_index",
        "_recent",
        "_stem",
        "_time_index",
        "_written",
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
        self._empty()

    def _empty(self) -> None:
        """Know of no batch; the index files are to be written anew."""
        self.size = 0
        self.next_offset = self.base_offset
        self._offset_index = OffsetIndex(self.base_offset)
        self._time_index = TimeIndex(self.base_offset)
        self._written: tuple[int, int] | None = None
        self._bytes_since_entry = 0
        self._first_timestamp = self._max_timestamp = _NO_TIMESTAMP
        self._max_timestamp_offset = self.base_offset
        self._recent = RecentBatches(self.base_offset)

    @classmethod
    def create(
        cls, disk: Disk, folder: str, base_offset: int, *, config: LogConfig, created_ms: int
    ) -> "Segment":
        """Begin a new, empty segment; its index files are there from the start, as Kafka's tools expect."""
        segment = cls(disk, folder, base_offset, config=config, created_ms=created_ms)
        try:
            segment._make_files(config)
        except OSError as error:
            segment._unmake_files(error)
            raise
        return segment

    def _make_files(self, config: LogConfig) -> None:
        file = self._disk.open_files.get(self.path, create=True)
        if config.preallocate:
            self._is_preallocated = True
            file.truncate(config.segment_bytes)
        for suffix in (".index", ".timeindex"):
            OpenFile(self._files, self._stem + suffix, create=True, truncate=True)
        self._written = (0, 0)

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
        file = self._disk.open_files.get(self.path)
        try:
            file.write(records, position)
        except OSError as error:
            _cut_back(file, position, error)
            raise
        if position == 0:
            self._first_timestamp = batch.max_timestamp
        self._note(batch, position)

    def _note(self, batch: RecordBatch, position: int) -> None:
        """Bring indexes and ends in step with a batch that is in the file at `position`."""
        last_offset = batch.base_offset + batch.last_offset_delta
        size = batch.batch_length + 12
        if batch.max_timestamp > self._max_timestamp:
            self._max_timestamp = batch.max_timestamp
            self._max_timestamp_offset = last_offset
        if self._bytes_since_entry > self._index_interval_bytes:
            self._offset_index.add(last_offset, position)
            self._time_index.add(self._max_timestamp, self._max_timestamp_offset)
            self._bytes_since_entry = 0
            self._recent.begin(batch.base_offset)
        self._recent.add(last_offset, position)
        self._bytes_since_entry += size
        self.size = position + size
        self.next_offset = last_offset + 1

    def should_roll(self, config: LogConfig, batch: RecordBatch, *, last_offset: int, now_ms: int) -> bool:
        """Whether the batch belongs into a new segment."""
        if self.size > config.segment_bytes - batch.size_in_bytes:
            return True
        if last_offset - self.base_offset > LARGEST_RELATIVE_OFFSET:
            return True
        if self._offset_index.is_full(config.segment_index_bytes):
            return True
        if self._time_index.is_full(config.segment_index_bytes):
            return True
        if self.size == 0:
            return False
        if self._first_timestamp >= 0:
            waited_ms = batch.max_timestamp - self._first_timestamp
        else:
            waited_ms = now_ms - self.created_ms
        return waited_ms > config.segment_ms - self._jitter_ms

    # --- reading

    def find(self, offset: int) -> tuple[int, int] | None:
        """Position and size of the batch that holds `offset`, or of the first one behind it."""
        self.load()
        if offset >= self._recent.start_offset:
            return self._recent.find(offset, self.size)
        try:
            return find_batch(self.file, self._offset_index.lookup(offset), offset, self.size)
        except Damaged:
            self._rebuild_indexes()
            return find_batch(self.file, self._offset_index.lookup(offset), offset, self.size)

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
        return self._max_timestamp

    @property
    def max_timestamp_offset(self) -> int:
        """The last offset of the first batch that has the largest timestamp."""
        self.load()
        return self._max_timestamp_offset

    @property
    def first_timestamp(self) -> int:
        """The timestamp of the first batch, which is its largest; -1 when there is none."""
        self.load()
        return self._first_timestamp

    def position_for_timestamp(self, timestamp: int) -> int:
        """A position before which no batch has a timestamp of at least `timestamp`."""
        self.load()
        _, offset = self._time_index.lookup(timestamp)
        found = self.find(offset)
        return found[0] if found is not None else self.size

    def offset_behind(self, position: int) -> int:
        """An offset that no batch before `position` has; the nearest that the index knows. Raises OSError."""
        self.load()
        indexed = self._offset_index.first_from(position)
        return self.next_offset if indexed is None else indexed

    def position_before(self, offset: int, entries: int) -> tuple[int, int]:
        """A position that many index entries before an offset, and how many there were. Raises OSError."""
        self.load()
        return self._offset_index.back_from(offset, entries)

    # --- indexes

    def load(self) -> None:
        """Read the indexes, or rebuild them where they are missing or cannot be right."""
        if self._loaded:
            return
        offset_data = read_file(self._files, self._stem + ".index")
        time_data = read_file(self._files, self._stem + ".timeindex")
        if offset_data is None or time_data is None:
            self._rebuild_indexes()
            return
        offset_index = OffsetIndex.decode(self.base_offset, offset_data, self.size)
        time_index = TimeIndex.decode(self.base_offset, time_data)
        if offset_index is None or time_index is None or (len(offset_index) and not len(time_index)):
            self._rebuild_indexes()
            return
        try:
            self._adopt(offset_index, time_index)
        except Damaged:
            # The indexes may be at fault; if the batches are, this is raised again.
            self._rebuild_indexes()

    def _adopt(self, offset_index: OffsetIndex, time_index: TimeIndex) -> None:
        end, next_offset = self.size, self.next_offset
        self._empty()
        self._offset_index, self._time_index = offset_index, time_index
        self._written = (len(offset_index), len(time_index))
        self._max_timestamp, self._max_timestamp_offset = time_index.last()
        self._walk(offset_index.last()[1], end, next_offset)
        if self.size and time_index.last()[1] >= self.next_offset:
            raise Damaged(errno.EIO, f"the time index of {self.file_name} names offsets that are not there")

    def _rebuild_indexes(self) -> None:
        end, next_offset = self.size, self.next_offset
        self._empty()
        self._walk(0, end, next_offset)

    def _walk(self, position: int, end: int, next_offset: int) -> None:
        """Note the batches from `position` up to the file's end. Raises Damaged if they do not lead there."""
        for place, batch in headers(self.file, position, end):
            if not self._may_have(batch):
                break
            if place == position:
                self._recent.begin(batch.base_offset if place else self.base_offset)
            self._note(batch, place)
        reached, self.size = self.size, end
        overlaps = self.base_offset < next_offset < self.next_offset
        if reached != end or overlaps:
            self.next_offset = next_offset
            self._loaded = False
            what = "the batches run into the next segment" if overlaps else "no batch begins"
            raise Damaged(errno.EIO, f"{what} at position {reached} of {self.file_name}")
        self._read_first_timestamp(end)
        self._loaded = True

    def _may_have(self, batch: RecordBatch) -> bool:
        return 0 <= batch.base_offset - self.base_offset <= LARGEST_RELATIVE_OFFSET - batch.last_offset_delta

    def _read_first_timestamp(self, size: int) -> None:
        for _, batch in headers(self.file, 0, size):
            self._first_timestamp = batch.max_timestamp
            return

    def rescan(self, on_batch: Callable[[RecordBatch], None]) -> int:
        """Rebuild everything from the batches that are whole and right, handing each to `on_batch`.

        Gives the size of the file; `size` is then where the first wrong byte is. The index of aborted
        transactions is empty then, and to be filled by a replay of the producers.
        """
        file_size = self.file.size()
        self._empty()
        self.transactions.reset()
        for position, batch in valid_batches(self.file, self.base_offset, file_size):
            self._note(batch, position)
            on_batch(batch)
        self._read_first_timestamp(self.size)
        self._loaded = True
        return file_size

    def cut(self) -> None:
        """Cut the file back to the batches that are known."""
        self.file.truncate(self.size)

    # --- lasting

    def seal(self) -> bool:
        """Write what the files of a segment have to have after its last batch; whether that was anything."""
        before = self._written, self.transactions.written
        self.write_indexes(final=True)
        if self._is_preallocated:
            self.file.truncate(self.size)
            self._is_preallocated = False
        return before != (self._written, self.transactions.written)

    def write_indexes(self, *, final: bool) -> None:
        """Write what the index files lack; `final` adds the largest timestamp, as a closed segment has it."""
        self.transactions.write()
        if not self._loaded:
            return
        if final:
            self._time_index.add(self._max_timestamp, self._max_timestamp_offset)
        offset_count, time_count = self._written or (None, None)
        self._written = (
            self._write(".index", self._offset_index, OFFSET_ENTRY_BYTES, offset_count),
            self._write(".timeindex", self._time_index, TIME_ENTRY_BYTES, time_count),
        )

    def _write(self, suffix: str, index: Index, entry_bytes: int, written: int | None) -> int:
        path = self._stem + suffix
        return write_index(self._files, path, index, entry_bytes=entry_bytes, written=written)

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

        Slices that were given out stay readable. Raises OSError.
        """
        renamed = set_aside(self._files, [self._stem + suffix for suffix in SUFFIXES])
        self.release()
        return renamed


def _cut_back(file: OpenFile, position: int, error: OSError) -> None:
    try:
        file.truncate(position)
    except OSError:
        raise CutBackFailed(*error.args) from error


class CutBackFailed(OSError):
    """A failed append left bytes at the end of the file, and they cannot be removed."""
