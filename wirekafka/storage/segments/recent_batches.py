"""Where the batches lie behind the last entry of a segment's offset index.

Held by the indexes of a segment. With it a read near the end of the log, which is most reads, needs no
search of the file.

Source: ours; Kafka scans the file from the last index entry on.
"""

from array import array
from bisect import bisect_left


class RecentBatches:
    """Last offsets and positions of batches one after the other, from `start_offset` on."""

    __slots__ = ("_last_offsets", "_positions", "start_offset")

    def __init__(self, start_offset: int) -> None:
        self.begin(start_offset)

    def begin(self, start_offset: int) -> None:
        """Forget all batches; the next one has the index entry."""
        self.start_offset = start_offset
        self._last_offsets = array("q")
        self._positions = array("q")

    def add(self, last_offset: int, position: int) -> None:
        self._last_offsets.append(last_offset)
        self._positions.append(position)

    def find(self, offset: int, end: int) -> tuple[int, int] | None:
        """Position and size of the batch that holds `offset` or comes next; the last ends at `end`."""
        positions = self._positions
        slot = bisect_left(self._last_offsets, offset)
        if slot == len(positions):
            return None
        position = positions[slot]
        behind = slot + 1
        return position, (positions[behind] if behind < len(positions) else end) - position
