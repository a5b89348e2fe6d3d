"""`OpeningProgress`: how far the opening of a data folder has come, for people who wait for it.

Told by `recovery` and `broker.opening`, from several threads at once; looked at by whoever shows it.

Source: Kafka's remainingLogsToRecover and remainingSegmentsToRecover.
"""

import threading


class OpeningGivenUp(Exception):
    """The start was broken off while logs were being checked."""


class OpeningProgress:
    """Partitions opened, and bytes checked of those that an unclean stop has left in doubt."""

    def __init__(self) -> None:
        self.partitions_total = 0
        self.partitions_opened = 0
        self.bytes_total = 0
        self.bytes_checked = 0
        self._given_up = False
        self._lock = threading.Lock()

    def expect(self, partitions: int, to_check_bytes: int) -> None:
        """Say what lies ahead."""
        with self._lock:
            self.partitions_total += partitions
            self.bytes_total += to_check_bytes

    def checked(self, size_bytes: int) -> None:
        """Say that this much more was read. Raises OpeningGivenUp when nobody waits any more."""
        with self._lock:
            self.bytes_checked += size_bytes
        if self._given_up:
            raise OpeningGivenUp

    def give_up(self) -> None:
        """Have the threads stop at the next opportunity."""
        self._given_up = True

    def opened(self) -> None:
        with self._lock:
            self.partitions_opened += 1

    @property
    def share_done(self) -> float:
        """How much is done, from 0 to 1: of the bytes to check, or of the partitions without any."""
        if self.bytes_total:
            return min(1.0, self.bytes_checked / self.bytes_total)
        return self.partitions_opened / self.partitions_total if self.partitions_total else 1.0

    def __str__(self) -> str:
        partitions = f"{self.partitions_opened} of {self.partitions_total} partitions open"
        if not self.bytes_total:
            return partitions
        return f"{partitions}, {self.bytes_checked >> 20} of {self.bytes_total >> 20} MiB checked"
