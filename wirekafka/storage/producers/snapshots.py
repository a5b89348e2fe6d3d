"""The snapshot files of one log: its producers as of an offset, so that a start need not read all batches.

Owned by `log`, which takes one when it rolls and when it closes; `recovery` loads the newest good one.

Source: Kafka's ProducerStateManager (takeSnapshot, removeAndMarkSnapshotForDeletion) and SnapshotFile.
"""

import contextlib
from collections.abc import Iterable, Mapping

from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import read_file, write_file
from wirekafka.storage.disk.set_aside import set_aside
from wirekafka.storage.producers.snapshot import decode_snapshot, encode_snapshot
from wirekafka.storage.producers.state import Producer, ProducerState


class ProducerSnapshots:
    """The offsets that there are snapshots of, growing."""

    __slots__ = ("_disk", "_folder", "_offsets")

    def __init__(self, disk: Disk, folder: str, offsets: list[int]) -> None:
        self._disk = disk
        self._folder = folder
        self._offsets = offsets

    def take(self, offset: int, producers: Mapping[int, Producer], *, log_start_offset: int) -> str | None:
        """Write the producers as of `offset`; give the file's path, or None when there is nothing new to it.

        It is not synced: its CRC tells when a part of it is lost. A failed write leaves no file behind.
        """
        if offset <= (self._offsets[-1] if self._offsets else log_start_offset):
            return None
        path = self.path(offset)
        try:
            write_file(self._disk.files, path, encode_snapshot(producers))
        except OSError:
            with contextlib.suppress(OSError):
                self._disk.files.unlink(path)
            raise
        self._offsets.append(offset)
        return path

    def load(self, at_or_before: int, producers: ProducerState) -> int:
        """Load the newest good snapshot up to an offset; give its offset, 0 when there is none.

        Raises OSError.
        """
        for offset in reversed([taken for taken in self._offsets if taken <= at_or_before]):
            loaded = decode_snapshot(read_file(self._disk.files, self.path(offset)) or b"")
            if loaded is not None:
                producers.load(loaded)
                return offset
        return 0

    def before(self, offset: int) -> list[int]:
        """The offsets of those before an offset."""
        return [taken for taken in self._offsets if taken < offset]

    def set_aside(self, offsets: Iterable[int]) -> list[str]:
        """Rename those at these offsets, where there are any; give the new names. Raises OSError."""
        gone = set(offsets)
        self._offsets = [offset for offset in self._offsets if offset not in gone]
        return set_aside(self._disk.files, [self.path(offset) for offset in sorted(gone)])

    def path(self, offset: int) -> str:
        return f"{self._folder}/{offset:020d}.snapshot"
