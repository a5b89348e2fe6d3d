"""A segment's sparse index from offset to file position.

Held by the indexes of a segment, which add an entry every index.interval.bytes and write the bytes out. In
memory it is two arrays, on disk 8 bytes an entry: the last offset of a batch, relative to the segment's base
offset, and the position where that batch begins. The arrays are made with the first entry: of very many
partitions most have none.

Source: Kafka's OffsetIndex.
"""

import sys
from array import array
from bisect import bisect_left, bisect_right

ENTRY_BYTES = 8
_NO_ENTRIES = array("I")


class OffsetIndex:
    """Relative offsets and positions, both growing."""

    __slots__ = ("_positions", "base_offset", "relative_offsets")

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.relative_offsets = self._positions = _NO_ENTRIES

    def __len__(self) -> int:
        return len(self.relative_offsets)

    def add(self, last_offset: int, position: int) -> None:
        """Add an entry behind all others."""
        if self.relative_offsets is _NO_ENTRIES:
            self.relative_offsets, self._positions = array("I"), array("I")
        self.relative_offsets.append(last_offset - self.base_offset)
        self._positions.append(position)

    def lookup(self, offset: int) -> tuple[int, int]:
        """The last entry at or before `offset`; (base offset, 0) when there is none."""
        slot = bisect_right(self.relative_offsets, offset - self.base_offset) - 1
        if slot < 0:
            return self.base_offset, 0
        return self.base_offset + self.relative_offsets[slot], self._positions[slot]

    def first_from(self, position: int) -> int | None:
        """The offset of the first entry at or behind a position; None when there is none."""
        slot = bisect_left(self._positions, position)
        return self.base_offset + self.relative_offsets[slot] if slot < len(self._positions) else None

    def back_from(self, offset: int, entries: int) -> tuple[int, int]:
        """The position of the entry that many before an offset, 0 if there are less; how many there are."""
        before = bisect_left(self.relative_offsets, max(offset - self.base_offset, 0))
        passed = min(entries, before)
        return (self._positions[before - passed] if passed == entries else 0), passed

    def last(self) -> tuple[int, int]:
        """The last entry; (base offset, 0) when there is none."""
        if not self.relative_offsets:
            return self.base_offset, 0
        return self.base_offset + self.relative_offsets[-1], self._positions[-1]

    def encode(self, first_entry: int = 0) -> bytes:
        """The entries from the `first_entry`th on, as they stand in the file."""
        offsets = self.relative_offsets[first_entry:]
        pairs = array("I", bytes(ENTRY_BYTES * len(offsets)))
        pairs[0::2] = offsets
        pairs[1::2] = self._positions[first_entry : first_entry + len(offsets)]
        if sys.byteorder == "little":
            pairs.byteswap()
        return pairs.tobytes()

    @classmethod
    def decode(cls, base_offset: int, data: bytes, log_bytes: int) -> "OffsetIndex | None":
        """Read a file; None when its bytes cannot be the index of a segment of `log_bytes`."""
        if len(data) % ENTRY_BYTES:
            return None
        pairs = array("I", data)
        if sys.byteorder == "little":
            pairs.byteswap()
        index = cls(base_offset)
        index.relative_offsets, index._positions = pairs[0::2], pairs[1::2]
        if not (_grows(index.relative_offsets) and _grows(index._positions)):
            return None
        if pairs and (index._positions[-1] >= log_bytes or index.relative_offsets[-1] > 0x7FFFFFFF):
            return None
        return index


def _grows(values: "array[int]") -> bool:
    return all(values[i] < values[i + 1] for i in range(len(values) - 1))
