"""`SegmentIndexes`: where the batches of one segment lie, in memory and in the segment's index files.

Owned by `segment`, which notes every batch it appends. Indexes that are read or made anew are built beside
those in use, by `load_indexes` and `rebuild_indexes`, and are handed over whole or not at all: other threads
ask for the segment's ends meanwhile, and a read may fail in the middle.

Source: Kafka's LogSegment (append, recover, sanityCheck).
"""

import errno
from typing import NamedTuple

from wirekafka.protocol.records import RecordBatch
from wirekafka.protocol.records.batch import LENGTH_PREFIX_BYTES
from wirekafka.storage.disk.files import Files, OpenFile, read_file
from wirekafka.storage.segments.index_file import Index, write_index
from wirekafka.storage.segments.offset_index import ENTRY_BYTES as OFFSET_ENTRY_BYTES
from wirekafka.storage.segments.offset_index import OffsetIndex
from wirekafka.storage.segments.recent_batches import RecentBatches
from wirekafka.storage.segments.scan import Damaged, headers
from wirekafka.storage.segments.time_index import ENTRY_BYTES as TIME_ENTRY_BYTES
from wirekafka.storage.segments.time_index import TimeIndex

LARGEST_RELATIVE_OFFSET = (1 << 31) - 1
LARGEST_ENTRY_BYTES = TIME_ENTRY_BYTES
_NO_TIMESTAMP = -1


class Extent(NamedTuple):
    """What is known of a segment before its batches are: `next_offset` is `base_offset` if it is not."""

    base_offset: int
    next_offset: int
    size: int


class SegmentIndexes:
    """The indexes up to the end of the batches that were noted, at `size` bytes and `next_offset`."""

    __slots__ = (
        "_bytes_since_entry",
        "_index_interval_bytes",
        "_written",
        "base_offset",
        "first_timestamp",
        "max_timestamp",
        "max_timestamp_offset",
        "next_offset",
        "offsets",
        "recent",
        "size",
        "times",
    )

    def __init__(self, base_offset: int, index_interval_bytes: int) -> None:
        self.base_offset = base_offset
        self._index_interval_bytes = index_interval_bytes
        self.size = 0
        self.next_offset = base_offset
        self.offsets = OffsetIndex(base_offset)
        self.times = TimeIndex(base_offset)
        self.recent = RecentBatches(base_offset)
        self.first_timestamp = self.max_timestamp = _NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        self._bytes_since_entry = 0
        self._written: tuple[int, int] | None = None

    def note(self, batch: RecordBatch, position: int) -> None:
        """Take in a batch that is in the file at `position`, behind all others."""
        base_offset, size = batch.base_offset, batch.batch_length + LENGTH_PREFIX_BYTES
        last_offset = base_offset + batch.last_offset_delta
        self.note_fields(position, base_offset, last_offset, size, batch.max_timestamp)

    def note_fields(
        self, position: int, base_offset: int, last_offset: int, size: int, max_timestamp: int
    ) -> None:
        """The same with what is of interest of the batch."""
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if position == 0:
            self.first_timestamp = max_timestamp
        if self._bytes_since_entry > self._index_interval_bytes:
            self.offsets.add(last_offset, position)
            self.times.add(self.max_timestamp, self.max_timestamp_offset)
            self._bytes_since_entry = 0
            self.recent.begin(base_offset)
        self.recent.add(last_offset, position)
        self._bytes_since_entry += size
        self.size = position + size
        self.next_offset = last_offset + 1

    def is_full(self, index_bytes: int) -> bool:
        """Whether one of the files, of at most so many bytes, has no place for an entry.

        In the time index one is left, which closing the segment needs. Asked of every batch, and so written
        out.
        """
        return (
            len(self.times.timestamps) >= index_bytes // TIME_ENTRY_BYTES - 1
            or len(self.offsets.relative_offsets) >= index_bytes // OFFSET_ENTRY_BYTES
        )

    # --- made of files

    def adopt(self, offsets: OffsetIndex, times: TimeIndex) -> None:
        """Begin with what the index files say."""
        self.offsets, self.times = offsets, times
        self._written = (len(offsets), len(times))
        self.max_timestamp, self.max_timestamp_offset = times.last()

    def walk(self, file: OpenFile, extent: Extent) -> None:
        """Note the batches from the last entry up to the file's end.

        Raises Damaged if they do not lead there, OSError.
        """
        self.size = start = self.offsets.last()[1]
        for position, batch in headers(file, start, extent.size):
            if not self._may_have(batch):
                break
            if position == start:
                self.recent.begin(batch.base_offset if position else self.base_offset)
            self.note(batch, position)
        overlaps = self.base_offset < extent.next_offset < self.next_offset
        if self.size != extent.size or overlaps:
            what = "the batches run into the next segment" if overlaps else "no batch begins"
            raise _damaged(file, f"{what} at position {self.size}")
        if self.size and self.times.last()[1] >= self.next_offset:
            raise _damaged(file, "offsets that are not there are named by the time index")
        if start:
            first = next(headers(file, 0, extent.size), None)
            self.first_timestamp = first[1].max_timestamp if first else _NO_TIMESTAMP

    def _may_have(self, batch: RecordBatch) -> bool:
        return 0 <= batch.base_offset - self.base_offset <= LARGEST_RELATIVE_OFFSET - batch.last_offset_delta

    # --- lasting

    @property
    def written(self) -> tuple[int, int] | None:
        """How many entries the files have; None when they are to be written anew."""
        return self._written

    def say_files_are_new(self) -> None:
        """Take note that the files are there, and empty."""
        self._written = (0, 0)

    def write(self, files: Files, stem: str, *, final: bool) -> None:
        """Write what the files lack; `final` adds the largest timestamp, as a closed segment has it."""
        if final:
            self.times.add(self.max_timestamp, self.max_timestamp_offset)
        offset_count, time_count = self._written or (None, None)

        def write(suffix: str, index: Index, entry_bytes: int, written: int | None) -> int:
            return write_index(files, stem + suffix, index, entry_bytes=entry_bytes, written=written)

        self._written = (
            write(".index", self.offsets, OFFSET_ENTRY_BYTES, offset_count),
            write(".timeindex", self.times, TIME_ENTRY_BYTES, time_count),
        )


def load_indexes(files: Files, file: OpenFile, extent: Extent, index_interval_bytes: int) -> SegmentIndexes:
    """Read the index files, or rebuild them where they are missing or cannot be right.

    Raises Damaged when the batches are not right, OSError.
    """
    stem = file.path.removesuffix(".log")
    offset_data, time_data = read_file(files, stem + ".index"), read_file(files, stem + ".timeindex")
    if offset_data is None or time_data is None:
        return rebuild_indexes(file, extent, index_interval_bytes)
    offsets = OffsetIndex.decode(extent.base_offset, offset_data, extent.size)
    times = TimeIndex.decode(extent.base_offset, time_data)
    if offsets is None or times is None or (len(offsets) and not len(times)):
        return rebuild_indexes(file, extent, index_interval_bytes)
    indexes = SegmentIndexes(extent.base_offset, index_interval_bytes)
    indexes.adopt(offsets, times)
    try:
        indexes.walk(file, extent)
    except Damaged:
        # The indexes may be at fault; if the batches are, this is raised again.
        return rebuild_indexes(file, extent, index_interval_bytes)
    return indexes


def rebuild_indexes(file: OpenFile, extent: Extent, index_interval_bytes: int) -> SegmentIndexes:
    """Make the indexes of the batches alone. Raises Damaged, OSError."""
    indexes = SegmentIndexes(extent.base_offset, index_interval_bytes)
    indexes.walk(file, extent)
    return indexes


def _damaged(file: OpenFile, what: str) -> Damaged:
    return Damaged(errno.EIO, f"{what} of {file.path.rpartition('/')[2]}")
