"""`LogDirectory`: the data folder; its lock, identity, checkpoints, and the partitions in it.

Opened by `broker` before all else; the one way to a PartitionLog. The lock goes with the process, so
a kill leaves nothing to clean up. The marker of a clean stop is taken away first and put back last.
`open_log` may be called from several threads, for partitions that differ.

Source: Kafka's LogManager and CleanShutdownFileHandler.
"""

import json
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from wirekafka.ids import TopicId, TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.checkpoints import CLEAN_SHUTDOWN
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import (
    FILES,
    TEMPORARY,
    Files,
    OpenFile,
    read_file,
    remove_folder_and_files,
    sync_names,
    write_file,
)
from wirekafka.storage.disk.set_aside import unlink_set_aside
from wirekafka.storage.folder import partition_folder
from wirekafka.storage.folder.identity import identity_of
from wirekafka.storage.folder.locking import take_lock
from wirekafka.storage.folder.offset_checkpoints import OffsetCheckpoints
from wirekafka.storage.log.flushing import flush_logs
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.log.opening import Stopped
from wirekafka.storage.log.progress import OpeningProgress
from wirekafka.storage.recovery.recovery import open_partition, unchecked_bytes

Later = Callable[[Sequence[str]], None]
"""Takes what was set aside, and has it removed when there is time."""

_BROKER_EPOCH_UNKNOWN = -1


class LogDirectory:
    """A locked data folder. Made by `open`."""

    def __init__(self, disk: Disk, lock: OpenFile, node_id: int) -> None:
        self.disk = disk
        self.path = disk.root
        self._files = disk.files
        self._lock: OpenFile | None = lock
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self.notices: list[str] = []
        """What opening or closing found amiss, a sentence each; the broker logs and clears them."""
        self.was_clean = self._take_clean_marker()
        identity = identity_of(disk.files, disk.root, node_id=node_id, notices=self.notices)
        self.node_id = identity.node_id
        """The node that the folder was made for."""
        self.cluster_id = identity.cluster_id
        self.checkpoints = OffsetCheckpoints(disk, self.notices)
        self._remove_leftovers()
        self._unopened = {topic_partition for _, topic_partition in self._folders()}
        self._topic_ids: dict[TopicPartition, TopicId] = {}
        """What was read in the folders of `_unopened`, so that they need not be read again to be opened."""
        self._broken: set[TopicPartition] = set()

    @classmethod
    def open(cls, path: Path, *, node_id: int, files: Files = FILES, open_files: int = 0) -> "LogDirectory":
        """Lock the data folder, making it if it is not there.

        At most `open_files` segments are held open; 0 is as many as is wise. Ids that are there already are
        kept, whatever `node_id` says. Raises DataDirectoryInUse, OSError.
        """
        root = str(path.absolute())
        files.make_folders(root)
        lock = take_lock(files, root)
        disk = Disk.on(files, root=root, open_files=open_files)
        with ExitStack() as undo:
            undo.callback(disk.close)
            directory = cls(disk, lock, node_id)
            undo.pop_all()
        return directory

    def _take_clean_marker(self) -> bool:
        """Whether the last stop was clean. From here on a crash is one."""
        marker = f"{self.path}/{CLEAN_SHUTDOWN}"
        if read_file(self._files, marker) is None:
            return False
        self._files.unlink(marker)
        # If the removal were lost with the power, the next start would trust an unchecked log.
        sync_names(self._files, self.path)
        return True

    # --- partitions

    def partitions(self) -> list[tuple[TopicPartition, TopicId]]:
        """The partitions that have a folder, with the topic ids in them (all zero: none written)."""
        found = []
        for name, topic_partition in self._folders():
            topic_id = partition_folder.topic_id_in(self._files, f"{self.path}/{name}")
            found.append((topic_partition, topic_id))
        self._topic_ids = {each: topic_id for each, topic_id in found if each in self._unopened}
        return found

    def _folders(self) -> Iterator[tuple[str, TopicPartition]]:
        """The names of the partitions' folders, and the partitions."""
        for name in self._files.list_folders_in(self.path):
            topic_partition = partition_folder.topic_partition_of(name)
            if topic_partition is not None:
                yield name, topic_partition

    def to_check_bytes(self, topic_partition: TopicPartition) -> int:
        """How much of a log its opening has to read, because the last stop was not a clean one."""
        stopped = self._how_it_stopped(topic_partition)
        if stopped.clean or topic_partition not in self._unopened:
            return 0
        try:
            return unchecked_bytes(self._files, self._folder(topic_partition), stopped)
        except OSError:
            return 0  # for people to look at only; who opens the log is told

    def open_log(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        config: LogConfig,
        *,
        now_ms: int,
        progress: OpeningProgress | None = None,
    ) -> PartitionLog:
        """Open a partition's log, recovering it as needed, or create it.

        Raises INCONSISTENT_TOPIC_ID for a folder of another topic with the name, KAFKA_STORAGE_ERROR
        for damage that may not be cut away.
        """
        previous = self._logs.get(topic_partition)
        if previous is not None and not previous.closed:
            raise ValueError(f"the log of {topic_partition} is open already")
        if previous is not None:
            self.checkpoints.note(previous)
        try:
            log = self._open_log(topic_partition, topic_id, config, now_ms, progress or OpeningProgress())
        except OSError as error:
            self._broken.add(topic_partition)
            what = f"The log of {topic_partition} could not be opened"
            raise self.disk.storage_error(what, error) from error
        except KafkaError as error:
            if error.code is ErrorCode.KAFKA_STORAGE_ERROR:
                self._broken.add(topic_partition)
            raise
        self._logs[topic_partition] = log
        self._broken.discard(topic_partition)
        self._unopened.discard(topic_partition)
        return log

    def _open_log(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        config: LogConfig,
        now_ms: int,
        progress: OpeningProgress,
    ) -> PartitionLog:
        folder = self._folder(topic_partition)
        stopped = self._how_it_stopped(topic_partition)
        if not self._has_folder(topic_partition):
            self._make_folder(topic_partition, folder)
            stopped = Stopped(is_new_folder=True)
        if self._topic_ids.pop(topic_partition, None) != topic_id:
            partition_folder.claim(self._files, folder, topic_partition, topic_id, self.notices)
        return open_partition(
            self.disk,
            folder,
            topic_partition,
            topic_id,
            config,
            stopped=stopped,
            now_ms=now_ms,
            notices=self.notices,
            progress=progress,
        )

    def _make_folder(self, topic_partition: TopicPartition, folder: str) -> None:
        recovery_point = self.checkpoints.recovery_points.get(topic_partition, 0)
        if recovery_point:
            self.notices.append(
                f"{topic_partition}: its folder is gone, though its records up to {recovery_point} were made "
                "to last; it begins anew"
            )
        self.checkpoints.begin_anew(topic_partition)
        self._files.make_folder(folder)

    def _how_it_stopped(self, topic_partition: TopicPartition) -> Stopped:
        return Stopped(
            clean=self.was_clean and topic_partition in self._unopened,
            recovery_point=self.checkpoints.recovery_points.get(topic_partition),
            log_start_offset=self.checkpoints.log_start_offsets.get(topic_partition, 0),
            was_compacted=self.checkpoints.cleaned_up_to(topic_partition) is not None,
        )

    def _folder(self, topic_partition: TopicPartition) -> str:
        return f"{self.path}/{topic_partition}"

    def _has_folder(self, topic_partition: TopicPartition) -> bool:
        if topic_partition in self._topic_ids:  # it was there a moment ago, and nobody else may touch it
            return True
        try:
            self._files.size_of(self._folder(topic_partition))
        except FileNotFoundError:
            return False
        return True

    def _forget_folder(self, topic_partition: TopicPartition) -> None:
        """Know nothing any more of what was found in a folder, which goes."""
        self._unopened.discard(topic_partition)
        self._topic_ids.pop(topic_partition, None)

    def delete_log(self, log: PartitionLog, *, later: Later | None = None) -> None:
        """Close a log and remove it with all its records; slices that were given out stay readable."""
        log.abandon()
        try:
            self.delete_partition(log.topic_partition, later=later)
        finally:
            # A thread may have opened a file again before the folder had its new name.
            log.segments.release()

    def delete_partition(self, topic_partition: TopicPartition, *, later: Later | None = None) -> None:
        """Remove the folder of a partition whose log is not open, or was never opened.

        It is gone, also after a crash, once its folder has another name. That is given to `later`, if there
        is one, which is to have `remove_set_aside` called. Raises KAFKA_STORAGE_ERROR.
        """
        self._logs.pop(topic_partition, None)
        self._forget_folder(topic_partition)
        self._broken.discard(topic_partition)
        self.checkpoints.forget(topic_partition)
        try:
            folder = f"{self.path}/{self._unique_name(topic_partition, partition_folder.DELETED_ENDING)}"
            self._files.rename(self._folder(topic_partition), folder)
            if later is not None:
                later([folder])
            else:
                remove_folder_and_files(self._files, folder)
        except OSError as error:
            what = f"The log of {topic_partition} could not be removed"
            raise self.disk.storage_error(what, error) from error

    def remove_set_aside(self, paths: Sequence[str]) -> None:
        """Remove files that were set aside, and folders of deleted partitions; may be called in a thread.

        Raises OSError, the first, when the rest is removed.
        """
        folders = [path for path in paths if partition_folder.is_deleted(path)]
        failures: list[OSError] = []
        for folder in folders:
            try:
                remove_folder_and_files(self._files, folder)
            except OSError as error:
                failures.append(error)
        unlink_set_aside(self._files, [path for path in paths if path not in folders])
        if failures:
            raise failures[0]

    def set_aside(self, topic_partition: TopicPartition) -> str:
        """Rename a folder that belongs to no topic, so that its name is free; give the new name.

        Nothing is deleted: whose data it is, a person must say.
        """
        name = self._unique_name(topic_partition, partition_folder.STRAY_ENDING)
        self._files.rename(self._folder(topic_partition), f"{self.path}/{name}")
        self._forget_folder(topic_partition)
        self.checkpoints.forget(topic_partition)
        return name

    def forget_all_but(self, topic_partitions: Container[TopicPartition]) -> None:
        """Disbelieve what is noted of partitions that are none of these: they were deleted before a kill."""
        self.checkpoints.forget_all_but(topic_partitions)

    def _unique_name(self, topic_partition: TopicPartition, ending: str) -> str:
        return partition_folder.renamed(topic_partition, self._files.random_bytes(16), ending)

    def _remove_leftovers(self) -> None:
        """Remove the folders of deleted partitions, and what a crash left of files half written."""
        for name in self._files.list_folder(self.path):
            if partition_folder.is_deleted(name):
                remove_folder_and_files(self._files, f"{self.path}/{name}")
            elif name.endswith(TEMPORARY):
                self._files.unlink(f"{self.path}/{name}")

    # --- lasting

    def logs(self) -> list[PartitionLog]:
        """The open logs."""
        return list(self._logs.values())

    def unflushed_logs(self) -> list[PartitionLog]:
        """The open logs that hold more than the disk is known to have."""
        return [log for log in self.logs() if not log.closed and log.recovery_point < log.log_end_offset]

    def checkpoint(self) -> None:
        """Write recovery points, start offsets and high watermarks; may be called in a thread.

        Raises KAFKA_STORAGE_ERROR.
        """
        try:
            self.checkpoints.note_all(self.logs())
        finally:
            self.checkpoints.write()

    def close(self, *, clean: bool) -> None:
        """Close every log and let go of the folder.

        A clean close flushes, writes snapshots and checkpoints, and the marker last: unless something could
        not be written, or a log is in doubt (`notices` says why), which the next start then has to check.
        Raises KAFKA_STORAGE_ERROR after a sync that failed; the folder is let go of all the same.
        """
        if self._lock is None:
            return
        try:
            if clean:
                self._close_clean()
        except KafkaError as error:
            if self.disk.health.failure:
                raise
            self.notices.append(error.message)
        finally:
            for log in self._logs.values():
                log.abandon()
            self._logs.clear()
            self.disk.close()
            self._lock = None

    def _close_clean(self) -> None:
        try:
            if self._flush_and_close_logs():
                self.checkpoint()
                self._write_clean_marker()
        except OSError as error:
            raise self.disk.storage_error("The data folder could not be closed", error) from error

    def _flush_and_close_logs(self) -> bool:
        """Write every log out and make all last together; whether the folder is still to be trusted."""
        written_out = []
        for topic_partition, log in self._logs.items():
            if log.closed and log.recovery_point == log.log_end_offset:
                continue
            try:
                log.write_out()
            except KafkaError as error:
                self._broken.add(topic_partition)
                self.notices.append(error.message)
            else:
                written_out.append(log)
        if self.disk.health.failure:
            return False
        flush_logs(self.disk, self.path, written_out)
        return True

    def _write_clean_marker(self) -> None:
        is_in_doubt = any(self._has_folder(topic_partition) for topic_partition in self._broken)
        if is_in_doubt or (self._unopened and not self.was_clean):
            return
        marker = json.dumps({"version": 0, "brokerEpoch": _BROKER_EPOCH_UNKNOWN}, separators=(",", ":"))
        write_file(self._files, f"{self.path}/{CLEAN_SHUTDOWN}", marker.encode(), sync=True)
        sync_names(self._files, self.path)
