"""`Disk`: what the logs of one data folder share.

Made by `directory`, handed to every log and segment. It is here that a failed call of the operating system
becomes what a client is told, and that a failed sync is made final for the folder.

Source: Kafka's LogManager and LogDirFailureChannel, which takes every failed call for final; here it is
only the sync.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.disk.files import Files, SyncFailed
from wirekafka.storage.disk.health import Health
from wirekafka.storage.disk.open_files import OpenFiles

SYNC_THREADS = 8


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(SYNC_THREADS, thread_name_prefix="sync")


@dataclass(frozen=True, slots=True)
class Disk:
    """The operating system's calls, the files held open, and whether writing still makes sense."""

    files: Files
    open_files: OpenFiles
    health: Health
    root: str = ""
    """The data folder."""
    witness: int = -1
    """A descriptor of it that is open all the time, which the filesystem tells of every failed write-back."""
    flushing: threading.Lock = field(default_factory=threading.Lock)
    """Held by the one flush that is under way."""
    sync_threads: ThreadPoolExecutor = field(default_factory=_threads)

    @classmethod
    def on(cls, files: Files, *, root: str = "", open_files: int = 0) -> "Disk":
        """A sound disk on which at most `open_files` segments are held open (0: as many as is wise)."""
        witness = files.open_folder(root) if root else -1
        return cls(files, OpenFiles(files, open_files), Health(), root=root, witness=witness)

    def close(self) -> None:
        """Let go of the folder and of the threads."""
        self.sync_threads.shutdown(wait=False)
        if self.witness >= 0:
            self.files.close(self.witness)

    def sync_filesystem(self, root: str) -> None:
        """Make everything last that was written to the filesystem of the data folder. Raises SyncFailed."""
        files = self.files
        held = set(self.open_files.closed_unsynced)
        self.open_files.mark_synced()
        fd = self.witness if self.witness >= 0 else files.open_folder(root)
        try:
            files.sync_filesystem(fd)
        except OSError as error:
            raise SyncFailed(*error.args) from error
        finally:
            if fd != self.witness:
                files.close(fd)
        self.open_files.closed_unsynced.difference_update(held)

    def storage_error(self, what: str, error: OSError) -> KafkaError:
        """Make a KAFKA_STORAGE_ERROR of a failed call: `what` could not be done, a sentence without its end.

        A failed sync is final for the folder from here on. Anything else may be tried again: a full disk,
        or no descriptor left, passes.
        """
        message = f"{what}: {error.strerror or error}."
        if isinstance(error, SyncFailed):
            self.health.fail(message)
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, message)
