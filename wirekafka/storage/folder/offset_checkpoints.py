"""The checkpoints of a data folder: four files with an offset for each partition.

Owned by `directory`; the broker's tasks note and write by it, too. What is noted is written by `write` and
its kin, which may run in a thread. A checkpoint that cannot be read is done without; one that cannot be
written is a nuisance and no more, since the one before it stays; only a failed sync is the end of the
folder.

They go by the partition's name. So before a folder of a name is made that had been used, what they tell of
the one before is taken off the disk: a kill soon after would have it believed of the new log.

Source: Kafka's LogManager (checkpointRecoveryOffsetsInDir, checkpointLogStartOffsetsInDir; asyncDelete,
which writes them when a topic goes), OffsetCheckpointFile and LogCleanerManager.updateCheckpoints.
"""

import contextlib
import threading
from collections.abc import Container, Iterable, Mapping

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage.config import FSYNC
from wirekafka.storage.disk import checkpoints
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import read_file, replace_file, sync_file, sync_names
from wirekafka.storage.log.log import PartitionLog


class OffsetCheckpoints:
    """Recovery points, start offsets, high watermarks and how far the compactor has come."""

    def __init__(self, disk: Disk, notices: list[str]) -> None:
        self._disk = disk
        self._notices = notices
        self.recovery_points = self._read(checkpoints.RECOVERY_POINTS)
        self.log_start_offsets = self._read(checkpoints.LOG_START_OFFSETS)
        self.high_watermarks = self._read(checkpoints.HIGH_WATERMARKS)
        self._cleaned_up_to = self._read(checkpoints.CLEANER_OFFSETS)
        self._written: dict[str, bytes] = {}
        self._writing = threading.Lock()
        self._moved: set[str] = set()
        """Folders whose leader epochs have to last before the start offsets do."""
        self._forgotten: set[TopicPartition] = set()
        """Partitions that are forgotten here, and maybe not on the disk."""

    def note(self, log: PartitionLog) -> None:
        """Take up what is known of a log at present.

        Raises KAFKA_STORAGE_ERROR when a new start of it cannot be told yet; the rest is taken up then.
        """
        topic_partition, end = log.topic_partition, log.log_end_offset
        flushed = min(log.recovery_point, end)
        self.recovery_points[topic_partition] = flushed
        self.high_watermarks[topic_partition] = flushed if log.config.durability == FSYNC else end
        if log.log_start_offset > self.log_start_offsets.get(topic_partition, 0):
            self._write_epochs_first(log)
        self.log_start_offsets[topic_partition] = log.log_start_offset

    def note_all(self, logs: Iterable[PartitionLog]) -> None:
        """Take up what is known of each log. Raises KAFKA_STORAGE_ERROR as `note` does, at the end."""
        failures: list[KafkaError] = []
        for log in logs:
            try:
                self.note(log)
            except KafkaError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def cleaned_up_to(self, topic_partition: TopicPartition) -> int | None:
        """The first offset that the compactor has not come to; None when it never was there."""
        return self._cleaned_up_to.get(topic_partition)

    def note_cleaned(self, topic_partition: TopicPartition, offset: int) -> None:
        """Take up how far the compactor has come; `write_cleaner_offsets` writes it."""
        self._cleaned_up_to[topic_partition] = offset

    def _write_epochs_first(self, log: PartitionLog) -> None:
        """Have the leader epochs tell of a new start before the checkpoint does, which has no checksum."""
        try:
            log.unflushed.write_epochs()
        except OSError as error:
            what = f"The leader epochs of {log.topic_partition} could not be written"
            raise self._disk.storage_error(what, error) from error
        self._moved.add(log.folder)

    def forget(self, topic_partition: TopicPartition) -> None:
        """Know nothing of a partition any more, as its folder is going."""
        self.high_watermarks.pop(topic_partition, None)
        for offsets in (self.recovery_points, self.log_start_offsets, self._cleaned_up_to):
            if offsets.pop(topic_partition, None) is not None:
                self._forgotten.add(topic_partition)

    def forget_all_but(self, topic_partitions: Container[TopicPartition]) -> None:
        """Know nothing of partitions that are none of these, as a kill may have left it."""
        for topic_partition in {*self.recovery_points, *self.log_start_offsets, *self._cleaned_up_to}:
            if topic_partition not in topic_partitions:
                self.forget(topic_partition)

    def begin_anew(self, topic_partition: TopicPartition) -> None:
        """See that no start will believe what was noted of another log under this partition's name.

        To be called before its folder is made. Raises KAFKA_STORAGE_ERROR.
        """
        self.forget(topic_partition)
        if topic_partition in self._forgotten:
            self.write_forgotten()

    @property
    def has_forgotten(self) -> bool:
        """Whether something is forgotten that the disk may still tell."""
        return bool(self._forgotten)

    def write_forgotten(self) -> None:
        """Take what is forgotten off the disk. Raises KAFKA_STORAGE_ERROR."""
        with self._writing:
            self._write_what_is_believed()

    def write(self) -> None:
        """Write what was noted of logs. Raises KAFKA_STORAGE_ERROR."""
        with self._writing:
            self._write_what_is_believed()
            self._replace(checkpoints.HIGH_WATERMARKS, self.high_watermarks.copy())

    def _write_what_is_believed(self) -> None:
        """Write all that a start goes by; what was forgotten before is gone from the disk then."""
        forgotten = self._forgotten.copy()
        self._replace(checkpoints.RECOVERY_POINTS, self.recovery_points.copy())
        self._replace_log_start_offsets()
        if forgotten:
            self._replace(checkpoints.CLEANER_OFFSETS, self._cleaned_up_to.copy())
        self._forgotten.difference_update(forgotten)

    def write_log_start_offsets(self) -> None:
        """Make the start offsets alone last, before files below them go. Raises KAFKA_STORAGE_ERROR."""
        with self._writing:
            self._replace_log_start_offsets()

    def write_cleaner_offsets(self) -> None:
        """Write how far the compactor has come. Raises KAFKA_STORAGE_ERROR."""
        with self._writing:
            self._replace(checkpoints.CLEANER_OFFSETS, self._cleaned_up_to.copy())

    def _replace_log_start_offsets(self) -> None:
        starts = {tp: offset for tp, offset in self.log_start_offsets.copy().items() if offset > 0}
        self._disk.health.check()
        for folder in list(self._moved):
            self._moved.discard(folder)
            try:
                self._sync_epochs(folder)
            except OSError as error:
                self._moved.add(folder)
                raise self._disk.storage_error(
                    "The leader epochs could not be made to last", error
                ) from error
        self._replace(checkpoints.LOG_START_OFFSETS, starts)

    def _sync_epochs(self, folder: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # the topic is deleted, or no leader has written there
            sync_file(self._disk.files, f"{folder}/{checkpoints.LEADER_EPOCHS}")
            sync_names(self._disk.files, folder)

    def _replace(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._disk.health.check()
        data = checkpoints.encode_offsets(offsets)
        if self._written.get(name) == data:
            return
        self._written.pop(name, None)
        try:
            replace_file(self._disk.files, f"{self._disk.root}/{name}", data)
        except OSError as error:
            raise self._disk.storage_error(f"The checkpoint {name} could not be written", error) from error
        self._written[name] = data

    def _read(self, name: str) -> dict[TopicPartition, int]:
        try:
            return checkpoints.decode_offsets(read_file(self._disk.files, f"{self._disk.root}/{name}") or b"")
        except ValueError as error:
            # Without it every log is checked from its start, and begins at its first segment.
            self._notices.append(f"{name} cannot be read and is done without: {error}")
            return {}
