"""Which leader epoch began at which offset of a partition.

Held by a log, filled when it is opened; pure, the file is written by `unflushed`.

Source: Kafka's LeaderEpochFileCache.
"""

from bisect import bisect_right
from collections.abc import Iterable

UNKNOWN = (-1, -1)


class LeaderEpochs:
    """Epochs and their start offsets, both growing. `dirty` says that the file lags behind."""

    __slots__ = ("_entries", "dirty", "latest")

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        self._entries: list[tuple[int, int]] = []
        self.latest = -1
        """The newest epoch; -1 when there is none."""
        for epoch, start_offset in entries:
            self.assign(epoch, start_offset)
        self.dirty = False

    def entries(self) -> list[tuple[int, int]]:
        return list(self._entries)

    def assign(self, epoch: int, start_offset: int) -> None:
        """Say that `epoch` began at `start_offset`, and forget what contradicts that."""
        entries = self._entries
        if entries and epoch == entries[-1][0] and start_offset >= entries[-1][1]:
            return
        while entries and (entries[-1][0] >= epoch or entries[-1][1] >= start_offset):
            entries.pop()
        entries.append((epoch, start_offset))
        self._changed()

    def epoch_of(self, offset: int) -> int:
        """The epoch that an offset was written in; -1 when that is not known."""
        slot = bisect_right(self._entries, offset, key=lambda entry: entry[1]) - 1
        return self._entries[slot][0] if slot >= 0 else -1

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The last epoch at or below `epoch`, and where the next one began; (-1, -1) when unknown."""
        if epoch == -1:
            return UNKNOWN
        if epoch == self.latest:
            return epoch, log_end_offset
        above = bisect_right(self._entries, epoch, key=lambda entry: entry[0])
        if above == len(self._entries):
            return UNKNOWN
        found = self._entries[above - 1][0] if above else epoch
        return found, self._entries[above][1]

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget the epochs that began at or behind `end_offset`."""
        while self._entries and self._entries[-1][1] >= end_offset:
            self._entries.pop()
            self._changed()

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget the epochs that ended before `start_offset`; the one it lies in begins there now."""
        passed = bisect_right(self._entries, start_offset, key=lambda entry: entry[1])
        kept = [(self._entries[passed - 1][0], start_offset)] if passed else []
        if self._entries[:passed] != kept:
            self._entries[:passed] = kept
            self._changed()

    def _changed(self) -> None:
        self.latest = self._entries[-1][0] if self._entries else -1
        self.dirty = True
