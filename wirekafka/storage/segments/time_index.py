"""A segment's sparse index from the largest timestamp so far to an offset.

Held by the indexes of a segment, beside the offset index. On disk 12 bytes an entry: a timestamp that no
record before the offset is above, and the last offset, relative, of the batch that has it. In memory it is
two arrays, which are made with the first entry: of very many partitions most have none.

Source: Kafka's TimeIndex.
"""

import struct
from array import array
from bisect import bisect_right

ENTRY_BYTES = 12
_ENTRY = struct.Struct(">qi")
_NO_TIMESTAMPS = array("q")
_NO_OFFSETS = array("I")


class TimeIndex:
    """Timestamps that grow, and relative offsets that do not shrink."""

    __slots__ = ("_offsets", "base_offset", "timestamps")

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.timestamps, self._offsets = _NO_TIMESTAMPS, _NO_OFFSETS

    def __len__(self) -> int:
        return len(self.timestamps)

    def add(self, timestamp: int, offset: int) -> None:
        """Add an entry, unless the last one says as much."""
        if timestamp > (self.timestamps[-1] if self.timestamps else -1):
            self._append(timestamp, offset - self.base_offset)

    def _append(self, timestamp: int, relative_offset: int) -> None:
        if self.timestamps is _NO_TIMESTAMPS:
            self.timestamps, self._offsets = array("q"), array("I")
        self.timestamps.append(timestamp)
        self._offsets.append(relative_offset)

    def lookup(self, timestamp: int) -> tuple[int, int]:
        """The last entry at or below `timestamp`; (-1, base offset) when there is none."""
        slot = bisect_right(self.timestamps, timestamp) - 1
        if slot < 0:
            return -1, self.base_offset
        return self.timestamps[slot], self.base_offset + self._offsets[slot]

    def last(self) -> tuple[int, int]:
        """The last entry; (-1, base offset) when there is none."""
        if not self.timestamps:
            return -1, self.base_offset
        return self.timestamps[-1], self.base_offset + self._offsets[-1]

    def encode(self, first_entry: int = 0) -> bytes:
        """The entries from the `first_entry`th on, as they stand in the file."""
        pairs = zip(self.timestamps[first_entry:], self._offsets[first_entry:], strict=True)
        return b"".join(_ENTRY.pack(timestamp, offset) for timestamp, offset in pairs)

    @classmethod
    def decode(cls, base_offset: int, data: bytes) -> "TimeIndex | None":
        """Read a file; None when its bytes cannot be an index."""
        if len(data) % ENTRY_BYTES:
            return None
        index = cls(base_offset)
        last_timestamp, last_offset = -1, 0
        for timestamp, offset in _ENTRY.iter_unpack(data):
            if timestamp <= last_timestamp or offset < last_offset:
                return None
            index._append(timestamp, offset)
            last_timestamp, last_offset = timestamp, offset
        return index
