"""`StoppedFolder`: the data folder of a broker that does not run, for who looks at it and mends it.

Called by `cli.log`. It takes the broker's own lock, so that none can start meanwhile.

Source: ours; Kafka's DumpLogSegments takes no lock.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirekafka.ids import TopicPartition
from wirekafka.storage.disk.checkpoints import CLEAN_SHUTDOWN
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FILES, Files, OpenFile, read_file
from wirekafka.storage.folder import partition_folder
from wirekafka.storage.folder.locking import take_lock
from wirekafka.storage.folder.offset_checkpoints import OffsetCheckpoints
from wirekafka.storage.log.opening import Stopped
from wirekafka.storage.repair.repair import PartitionRepair, Repaired
from wirekafka.storage.repair.verification import Verified, verify_partition


class StoppedFolder:
    """Made by `stopped_folder`."""

    def __init__(self, disk: Disk, lock: OpenFile | None) -> None:
        self._disk = disk
        self._lock = lock
        self._is_live = lock is None
        self.notices: list[str] = []
        self._checkpoints = OffsetCheckpoints(disk, self.notices)
        self._was_clean = read_file(disk.files, f"{disk.root}/{CLEAN_SHUTDOWN}") is not None

    def let_go(self) -> None:
        """Give the lock back."""
        self._disk.close()
        self._lock = None

    def partitions(self) -> list[TopicPartition]:
        """Every partition that has a folder."""
        names = self._disk.files.list_folders_in(self._disk.root)
        return [found for name in names if (found := partition_folder.topic_partition_of(name)) is not None]

    def verify(self, topic_partition: TopicPartition) -> Verified:
        """Read all of a partition. Raises OSError."""
        return verify_partition(
            self._disk.files,
            self._folder(topic_partition),
            topic_partition,
            self._stopped(topic_partition),
            is_live=self._is_live,
        )

    def what_truncating_gives_up(self, topic_partition: TopicPartition) -> Repaired:
        """Tell what `truncate` would do. Raises OSError."""
        return self._repair(topic_partition).what_truncating_gives_up()

    def truncate(self, topic_partition: TopicPartition) -> Repaired:
        """Cut a log at its first wrong byte. Raises OSError, KAFKA_STORAGE_ERROR."""
        repair = self._repair(topic_partition)
        repaired = repair.truncate()
        self._rebuild(repair)
        return repaired

    def skip(self, topic_partition: TopicPartition) -> Repaired:
        """Take the wrong bytes out of a log. Raises OSError, KAFKA_STORAGE_ERROR."""
        repair = self._repair(topic_partition)
        repaired = repair.skip()
        self._rebuild(repair)
        return repaired

    def make_indexes(self, topic_partition: TopicPartition) -> None:
        """Make everything beside the batches anew. Raises OSError; KAFKA_STORAGE_ERROR for a damaged log."""
        self._rebuild(self._repair(topic_partition))

    def _repair(self, topic_partition: TopicPartition) -> PartitionRepair:
        stopped = self._stopped(topic_partition)
        return PartitionRepair(self._disk, self._folder(topic_partition), topic_partition, stopped)

    def _rebuild(self, repair: PartitionRepair) -> None:
        self._checkpoints.note(repair.rebuild())
        self._checkpoints.write()

    def _folder(self, topic_partition: TopicPartition) -> str:
        return f"{self._disk.root}/{topic_partition}"

    def _stopped(self, topic_partition: TopicPartition) -> Stopped:
        return Stopped(
            clean=self._was_clean,
            recovery_point=self._checkpoints.recovery_points.get(topic_partition),
            log_start_offset=self._checkpoints.log_start_offsets.get(topic_partition, 0),
            was_compacted=self._checkpoints.cleaned_up_to(topic_partition) is not None,
        )


@contextmanager
def stopped_folder(path: Path, *, files: Files = FILES, live: bool = False) -> Iterator[StoppedFolder]:
    """Hold a data folder for the length of the block. Raises DataDirectoryInUse, OSError.

    With `live` no lock is taken and a broker may be at work in it: only to read, then.
    """
    root = str(path.absolute())
    files.list_folder(root)  # raises for one that is not there: the lock would make it
    lock = None if live else take_lock(files, root)
    folder = StoppedFolder(Disk.on(files, root=root), lock)
    del lock
    try:
        yield folder
    finally:
        folder.let_go()
