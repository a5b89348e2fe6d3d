"""Holds the index files of a segment against its batches, which are told one by one.

Called by `verification`. The files are small beside the log; the batches pass by once.

Source: Kafka's DumpLogSegments (dumpIndex, dumpTimeIndex) and TransactionIndex.sanityCheck.
"""

import struct

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.disk.files import Files, read_file
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.transaction_index import TransactionIndex

_OFFSET_ENTRY = struct.Struct(">Ii")
_TIME_ENTRY = struct.Struct(">qI")
_NO_TIMESTAMP = -1

Disagreement = tuple[str, int | None, str]
"""File name, position in it, and what is wrong."""


class IndexAgreement:
    """The entries of one segment's indexes, each ticked off when its batch comes by."""

    def __init__(self, files: Files, folder: str, base_offset: int) -> None:
        self._files = files
        self._stem = f"{folder}/{base_offset:020d}"
        self._found: list[Disagreement] = []
        self._offsets = self._read(".index", _OFFSET_ENTRY, base_offset, offset_at=0)
        self._times = self._read(".timeindex", _TIME_ENTRY, base_offset, offset_at=1)
        self._next_offset_entry = self._next_time_entry = 0
        self._largest_timestamp = _NO_TIMESTAMP
        self._end_offset = base_offset

    def _read(
        self, suffix: str, entry: struct.Struct, base_offset: int, *, offset_at: int
    ) -> list[tuple[int, int]]:
        data = read_file(self._files, self._stem + suffix)
        if data is None:
            self._add(suffix, None, "is missing")
            return []
        if len(data) % entry.size:
            self._add(suffix, len(data) // entry.size * entry.size, "ends in the middle of an entry")
        # Kafka keeps the file of the last segment as large as it may grow, padded with zeros.
        used = -(-len(data.rstrip(b"\0")) // entry.size) * entry.size
        entries = []
        for first, second in entry.iter_unpack(data[: min(used, len(data) // entry.size * entry.size)]):
            offset = base_offset + (first, second)[offset_at]
            entries.append((offset, second) if offset_at == 0 else (first, offset))
        return entries

    def batch(self, position: int, batch: RecordBatch) -> None:
        """Take note of a batch."""
        last_offset = batch.last_offset
        self._check_offset_entries(position, last_offset)
        self._end_offset = last_offset + 1
        self._largest_timestamp = max(self._largest_timestamp, batch.max_timestamp)
        self._check_time_entries(last_offset)

    def _check_offset_entries(self, position: int, last_offset: int) -> None:
        while self._next_offset_entry < len(self._offsets):
            offset, indexed = self._offsets[self._next_offset_entry]
            if indexed > position:
                return
            if (offset, indexed) != (last_offset, position):
                what = f"the entry (offset {offset}, position {indexed}) is that of no batch"
                self._add(".index", self._next_offset_entry * _OFFSET_ENTRY.size, what)
            self._next_offset_entry += 1

    def _check_time_entries(self, last_offset: int) -> None:
        while self._next_time_entry < len(self._times):
            timestamp, offset = self._times[self._next_time_entry]
            if offset > last_offset:
                return
            if timestamp != self._largest_timestamp:
                what = (
                    f"the entry (timestamp {timestamp}, offset {offset}) does not fit the largest timestamp "
                    f"up to there, {self._largest_timestamp}"
                )
                self._add(".timeindex", self._next_time_entry * _TIME_ENTRY.size, what)
            self._next_time_entry += 1

    def disagreements(self, *, is_active: bool) -> list[Disagreement]:
        """What is wrong, after the last batch. The files of the last segment may lack entries."""
        self._check_rest(".index", self._offsets[self._next_offset_entry :], self._next_offset_entry * 8)
        self._check_rest(".timeindex", self._times[self._next_time_entry :], self._next_time_entry * 12)
        try:
            TransactionIndex(self._files, self._stem, is_new=False).all()
        except Damaged:
            self._add(".txnindex", None, "is damaged")
        if is_active:
            return [each for each in self._found if each[2] != "is missing"]
        return self._found

    def _check_rest(self, suffix: str, rest: list[tuple[int, int]], position: int) -> None:
        if rest:
            self._add(suffix, position, "has entries of offsets or positions behind the last batch")

    def _add(self, suffix: str, position: int | None, what: str) -> None:
        self._found.append((self._stem.rpartition("/")[2] + suffix, position, what))
