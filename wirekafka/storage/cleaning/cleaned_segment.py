"""Writes the segment that takes the place of others: batches, indexes, all under names that mean "not yet".

Made by `rewriting`, named and put in place by `swap`. The index entries are those that an appended segment
would have.

Source: Kafka's UnifiedLog.createNewCleanedSegment and LogSegment.append.
"""

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import Files, OpenFile, unlink_if_there
from wirekafka.storage.disk.set_aside import CLEANED, SWAP
from wirekafka.storage.segments.offset_index import OffsetIndex
from wirekafka.storage.segments.segment import SUFFIXES
from wirekafka.storage.segments.time_index import TimeIndex
from wirekafka.storage.segments.transaction_index import AbortedTransaction, encode_aborted

_WRITTEN_AT_ONCE_BYTES = 1024 * 1024
_NO_TIMESTAMP = -1


class CleanedSegment:
    """A segment being written beside the log."""

    def __init__(self, disk: Disk, folder: str, base_offset: int, index_interval_bytes: int) -> None:
        self.base_offset = base_offset
        self.size = 0
        self._files = disk.files
        self._stem = f"{folder}/{base_offset:020d}"
        self._index_interval_bytes = index_interval_bytes
        discard(self._files, folder, base_offset)
        self._file = OpenFile(self._files, self._stem + ".log" + CLEANED, create=True, truncate=True)
        self._gathered = bytearray()
        self._offset_index = OffsetIndex(base_offset)
        self._time_index = TimeIndex(base_offset)
        self._largest = (_NO_TIMESTAMP, base_offset)
        self._bytes_since_entry = 0

    def append(self, records: bytes | memoryview) -> None:
        """Add one batch behind the others. Raises OSError."""
        batch = RecordBatch(records)
        if batch.max_timestamp > self._largest[0]:
            self._largest = (batch.max_timestamp, batch.last_offset)
        if self._bytes_since_entry > self._index_interval_bytes:
            self._offset_index.add(batch.last_offset, self.size)
            self._time_index.add(*self._largest)
            self._bytes_since_entry = 0
        self._bytes_since_entry += len(records)
        self.size += len(records)
        self._gathered += records
        if len(self._gathered) >= _WRITTEN_AT_ONCE_BYTES:
            self._write_gathered()

    def _write_gathered(self) -> None:
        self._file.write(self._gathered, self.size - len(self._gathered))
        self._gathered = bytearray()

    def finish(self, aborted: list[AbortedTransaction], modified_ms: int | None) -> None:
        """Write the rest and the indexes, and make all of it last.

        `modified_ms` is the age of a segment whose records do not tell theirs. Raises SyncFailed, OSError.
        """
        self._write_gathered()
        self._file.sync()
        if self._largest[0] > _NO_TIMESTAMP:
            self._time_index.add(*self._largest)
        self._write_index(".index", self._offset_index.encode())
        self._write_index(".timeindex", self._time_index.encode())
        if aborted:
            self._write_index(".txnindex", encode_aborted(aborted))
        if modified_ms is not None:
            self._files.set_modified_ms(self._file.fd, modified_ms)

    def _write_index(self, suffix: str, data: bytes) -> None:
        file = OpenFile(self._files, self._stem + suffix + CLEANED, create=True, truncate=True)
        if data:
            file.write(data, 0)
        file.sync()


def discard_all(files: Files, folder: str) -> None:
    """Remove what is left of all attempts before, at which no start may look any more. Raises OSError."""
    names = files.list_folder(folder)
    for ending in (SWAP, CLEANED):
        for name in sorted(names, key=_batches_first):
            if name.endswith(ending):
                unlink_if_there(files, f"{folder}/{name}")


def _batches_first(name: str) -> bool:
    return ".log." not in name


def discard(files: Files, folder: str, base_offset: int, *, announced: bool = True) -> None:
    """Remove what is left of a segment that was never put in place. Raises OSError.

    What was announced is left where it is, if told so.
    """
    # A swap file without its batches means nothing, so those go first.
    for ending in (SWAP, CLEANED) if announced else (CLEANED,):
        for suffix in SUFFIXES:
            unlink_if_there(files, f"{folder}/{base_offset:020d}{suffix}{ending}")
