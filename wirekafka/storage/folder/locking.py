"""The lock of a data folder: one process has it, whatever it does there.

Called by `directory` and `stopped_folder`. It goes with the process, so a kill leaves nothing to clean up.

Source: Kafka's FileLock and the `.lock` file of LogManager.
"""

import contextlib

from wirekafka.storage.disk.files import Files, OpenFile

LOCK = ".lock"


class DataDirectoryInUse(Exception):
    """Another process has the data folder; `process_id` is None when the lock file does not say."""

    def __init__(self, process_id: int | None) -> None:
        super().__init__(process_id)
        self.process_id = process_id

    def __str__(self) -> str:
        owner = "another process" if self.process_id is None else f"process {self.process_id}"
        return f"The data folder is in use by {owner}."


def take_lock(files: Files, root: str) -> OpenFile:
    """Lock a data folder for as long as the file is held. Raises DataDirectoryInUse, OSError."""
    lock = OpenFile(files, f"{root}/{LOCK}", create=True)
    if not files.lock(lock.fd):
        text = lock.read(32, 0).split()
        raise DataDirectoryInUse(int(text[0]) if text and text[0].isdigit() else None)
    with contextlib.suppress(OSError):  # for people only: a full disk must not keep a broker from starting
        lock.truncate(0)
        lock.write(f"{files.process_id()}\n".encode(), 0)
    return lock
