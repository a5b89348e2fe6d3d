"""`LogDirectory`: the data folder; its lock, identity, checkpoints, and the partitions in it.

Opened by `broker` before all else; the one way to a PartitionLog. The lock goes with the process, so
a kill leaves nothing to clean up. The marker of a clean stop is taken away first and put back last.

Source: Kafka's LogManager, MetaPropertiesEnsemble and CleanShutdownFileHandler.
"""

import json
import re
import uuid
from pathlib import Path

from wirekafka.ids import NO_TOPIC_ID, TopicId, TopicPartition, topic_id_from_text, topic_id_text
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import checkpoints
from wirekafka.storage.checkpoints import CLEAN_SHUTDOWN, META_PROPERTIES, PARTITION_METADATA
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk import Disk
from wirekafka.storage.files import (
    FILES,
    Files,
    OpenFile,
    read_file,
    remove_folder_and_files,
    replace_file,
    write_file,
)
from wirekafka.storage.log import PartitionLog
from wirekafka.storage.recovery import Stopped, open_partition

_LOCK = ".lock"
_DELETED_SUFFIX = "-delete"
_STRAY_SUFFIX = "-stray"
_DELETED_FOLDER = re.compile(r"\.[0-9a-f]{32}-delete$")
_LONGEST_NAME = 255
_PARTITION_FOLDER = re.compile(r"^([a-zA-Z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})$")
_BROKER_EPOCH_UNKNOWN = -1


class DataDirectoryInUse(Exception):
    """Another process has the data folder; `process_id` is None when the lock file does not say."""

    def __init__(self, process_id: int | None) -> None:
        super().__init__(process_id)
        self.process_id = process_id

    def __str__(self) -> str:
        owner = "another process" if self.process_id is None else f"process {self.process_id}"
        return f"The data folder is in use by {owner}."


class LogDirectory:
    """A locked data folder. Made by `open`."""

    def __init__(self, path: str, files: Files, lock: OpenFile) -> None:
        self._path = path
        self._files = files
        self._disk = Disk.on(files)
        self._lock: OpenFile | None = lock
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self.notices: list[str] = []
        """What opening or closing found amiss, a sentence each; the broker logs and clears them."""
        self.was_clean = self._take_clean_marker()
        properties = checkpoints.decode_meta_properties(self._read(META_PROPERTIES) or b"")
        self.node_id = int(properties.get("node.id", properties.get("broker.id", "-1")))
        """The node that the folder was made for."""
        self.cluster_id = properties.get("cluster.id", "")
        self.directory_id: bytes = _uuid_or_none(properties.get("directory.id", ""))
        self._recovery_points = self._read_offsets(checkpoints.RECOVERY_POINTS)
        self._log_start_offsets = self._read_offsets(checkpoints.LOG_START_OFFSETS)
        self._high_watermarks = self._read_offsets(checkpoints.HIGH_WATERMARKS)
        self._remove_deleted_folders()
        self._unopened = {topic_partition for topic_partition, _ in self.partitions()}
        self._broken: set[TopicPartition] = set()

    @classmethod
    def open(cls, path: Path, *, node_id: int, files: Files = FILES) -> "LogDirectory":
        """Lock the data folder, making it if it is not there.

        Ids that are there already are kept, whatever `node_id` says. Raises DataDirectoryInUse, OSError.
        """
        root = str(path.absolute())
        files.make_folders(root)
        lock = OpenFile(files, f"{root}/{_LOCK}", create=True)
        if not files.lock(lock.fd):
            raise DataDirectoryInUse(_process_id_in(lock))
        lock.truncate(0)
        lock.write(f"{files.process_id()}\n".encode(), 0)
        directory = cls(root, files, lock)
        directory._complete_identity(node_id)
        return directory

    # --- identity

    def _take_clean_marker(self) -> bool:
        """Whether the last stop was clean. From here on a crash is one."""
        if self._read(CLEAN_SHUTDOWN) is None:
            return False
        self._files.unlink(f"{self._path}/{CLEAN_SHUTDOWN}")
        # If the removal were lost with the power, the next start would trust an unchecked log.
        self._files.sync_folder(self._path)
        return True

    def _complete_identity(self, node_id: int) -> None:
        if self.cluster_id and self.directory_id and self.node_id >= 0:
            return
        self.cluster_id = self.cluster_id or topic_id_text(self._new_uuid())
        self.directory_id = self.directory_id or self._new_uuid()
        self.node_id = self.node_id if self.node_id >= 0 else node_id
        properties = checkpoints.MetaProperties(
            self.cluster_id, self.node_id, topic_id_text(self.directory_id)
        )
        self._replace(META_PROPERTIES, checkpoints.encode_meta_properties(properties))

    def _new_uuid(self) -> bytes:
        """A random version 4 UUID whose text does not begin with a dash, as Kafka's."""
        while True:
            random = self._files.random_bytes(16)
            raw = uuid.UUID(bytes=random, version=4).bytes
            if not topic_id_text(raw).startswith("-"):
                return raw

    # --- partitions

    def partitions(self) -> list[tuple[TopicPartition, TopicId]]:
        """The partitions that have a folder, with the topic ids in them (all zero: none written)."""
        found = []
        for name in self._files.list_folders_in(self._path):
            match = _PARTITION_FOLDER.match(name)
            if match:
                topic_partition = TopicPartition(match[1], int(match[2]))
                found.append((topic_partition, self._topic_id_in(name)))
        return found

    def _topic_id_in(self, name: str) -> TopicId:
        data = self._read(f"{name}/{PARTITION_METADATA}")
        if data is None:
            return NO_TOPIC_ID
        try:
            return checkpoints.decode_partition_metadata(data)
        except ValueError:
            return NO_TOPIC_ID

    def open_log(
        self, topic_partition: TopicPartition, topic_id: bytes, config: LogConfig, *, now_ms: int
    ) -> PartitionLog:
        """Open a partition's log, recovering it as needed, or create it.

        Raises INCONSISTENT_TOPIC_ID for a folder of another topic with the name, KAFKA_STORAGE_ERROR
        for damage that may not be cut away.
        """
        previous = self._logs.get(topic_partition)
        if previous is not None and not previous.closed:
            raise ValueError(f"the log of {topic_partition} is open already")
        if previous is not None:
            self._note_offsets(previous)
        try:
            log = self._open_log(topic_partition, topic_id, config, now_ms)
        except OSError as error:
            self._broken.add(topic_partition)
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"The log of {topic_partition} could not be opened: {error.strerror or error}.",
            ) from error
        except KafkaError as error:
            if error.code is ErrorCode.KAFKA_STORAGE_ERROR:
                self._broken.add(topic_partition)
            raise
        self._logs[topic_partition] = log
        self._broken.discard(topic_partition)
        self._unopened.discard(topic_partition)
        return log

    def _open_log(
        self, topic_partition: TopicPartition, topic_id: bytes, config: LogConfig, now_ms: int
    ) -> PartitionLog:
        name = str(topic_partition)
        folder = f"{self._path}/{name}"
        stopped = Stopped(
            clean=self.was_clean and topic_partition in self._unopened,
            recovery_point=self._recovery_points.get(topic_partition, 0),
            log_start_offset=self._log_start_offsets.get(topic_partition, 0),
        )
        written_id = NO_TOPIC_ID
        try:
            self._files.make_folder(folder)
            stopped = Stopped(is_new_folder=True)
        except FileExistsError:
            written_id = self._topic_id_in(name)
            self._check_topic_id(topic_partition, written_id, topic_id)
        if written_id == NO_TOPIC_ID:
            data = checkpoints.encode_partition_metadata(topic_id)
            write_file(self._files, f"{folder}/{PARTITION_METADATA}", data)
        return open_partition(
            self._disk,
            folder,
            topic_partition,
            topic_id,
            config,
            stopped=stopped,
            now_ms=now_ms,
            notices=self.notices,
        )

    def _check_topic_id(self, topic_partition: TopicPartition, there: bytes, asked_for: bytes) -> None:
        if there not in (NO_TOPIC_ID, asked_for):
            raise KafkaError(
                ErrorCode.INCONSISTENT_TOPIC_ID,
                f"The log of {topic_partition} belongs to the topic with the id {topic_id_text(there)}, not "
                f"{topic_id_text(asked_for)}.",
            )

    def delete_log(self, log: PartitionLog) -> None:
        """Close a log and remove it with all its records; slices that were given out stay readable."""
        log.abandon()
        self.delete_partition(log.topic_partition)

    def delete_partition(self, topic_partition: TopicPartition) -> None:
        """Remove the folder of a partition whose log is not open, or was never opened.

        It is gone, also after a crash, once its folder has another name. Raises KAFKA_STORAGE_ERROR.
        """
        self._logs.pop(topic_partition, None)
        self._unopened.discard(topic_partition)
        self._broken.discard(topic_partition)
        for offsets in (self._recovery_points, self._log_start_offsets, self._high_watermarks):
            offsets.pop(topic_partition, None)
        try:
            renamed = f"{self._path}/{self._unique_name(topic_partition, _DELETED_SUFFIX)}"
            self._files.rename(f"{self._path}/{topic_partition}", renamed)
            remove_folder_and_files(self._files, renamed)
        except OSError as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"The log of {topic_partition} could not be removed: {error.strerror or error}.",
            ) from error

    def set_aside(self, topic_partition: TopicPartition) -> str:
        """Rename a folder that belongs to no topic, so that its name is free; give the new name.

        Nothing is deleted: whose data it is, a person must say.
        """
        name = self._unique_name(topic_partition, _STRAY_SUFFIX)
        self._files.rename(f"{self._path}/{topic_partition}", f"{self._path}/{name}")
        return name

    def _unique_name(self, topic_partition: TopicPartition, ending: str) -> str:
        suffix = f"-{topic_partition.partition}.{self._files.random_bytes(16).hex()}{ending}"
        return topic_partition.topic[: _LONGEST_NAME - len(suffix)] + suffix

    def _remove_deleted_folders(self) -> None:
        for name in self._files.list_folders_in(self._path):
            if _DELETED_FOLDER.search(name):
                remove_folder_and_files(self._files, f"{self._path}/{name}")

    # --- checkpoints

    def unflushed_logs(self) -> list[PartitionLog]:
        """The open logs that hold more than the disk is known to have."""
        return [log for log in self._logs.values() if log.recovery_point < log.log_end_offset]

    def checkpoint(self) -> None:
        """Write recovery points, start offsets and high watermarks. Raises KAFKA_STORAGE_ERROR."""
        try:
            self._checkpoint()
        except OSError as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"The checkpoints could not be written: {error.strerror or error}.",
            ) from error

    def _note_offsets(self, log: PartitionLog) -> None:
        self._recovery_points[log.topic_partition] = log.recovery_point
        self._log_start_offsets[log.topic_partition] = log.log_start_offset
        self._high_watermarks[log.topic_partition] = log.log_end_offset

    def _checkpoint(self) -> None:
        for log in self._logs.values():
            self._note_offsets(log)
        for name, offsets in (
            (checkpoints.RECOVERY_POINTS, self._recovery_points),
            (checkpoints.LOG_START_OFFSETS, {tp: n for tp, n in self._log_start_offsets.items() if n > 0}),
            (checkpoints.HIGH_WATERMARKS, self._high_watermarks),
        ):
            self._replace(name, checkpoints.encode_offsets(offsets))

    def _read_offsets(self, name: str) -> dict[TopicPartition, int]:
        try:
            return checkpoints.decode_offsets(self._read(name) or b"")
        except ValueError as error:
            # Without it every log is checked from its start, and begins at its first segment.
            self.notices.append(f"{name} cannot be read and is done without: {error}")
            return {}

    def close(self, *, clean: bool) -> None:
        """Close every log and let go of the folder.

        A clean close flushes, writes snapshots and checkpoints, and the marker last: unless a log is
        in doubt (`notices` says why), which the next start then has to check. Raises KAFKA_STORAGE_ERROR;
        the folder is let go of all the same.
        """
        if self._lock is None:
            return
        try:
            if clean:
                self._close_logs()
                self._checkpoint()
                self._write_clean_marker()
        except OSError as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"The data folder could not be closed: {error.strerror or error}.",
            ) from error
        finally:
            for log in self._logs.values():
                log.abandon()
            self._logs.clear()
            self._lock = None

    def _close_logs(self) -> None:
        """Write every log out and make all last by one sync of the filesystem."""
        healthy = []
        for topic_partition, log in self._logs.items():
            if log.closed and log.recovery_point == log.log_end_offset:
                continue
            try:
                log.write_out()
            except KafkaError as error:
                self._broken.add(topic_partition)
                self.notices.append(error.message)
            else:
                healthy.append(log)
        if any(log.recovery_point < log.log_end_offset for log in healthy):
            self._files.sync_filesystem(self._path)
        for log in healthy:
            log.close_synced()

    def _write_clean_marker(self) -> None:
        if self._broken or (self._unopened and not self.was_clean):
            return
        marker = json.dumps({"version": 0, "brokerEpoch": _BROKER_EPOCH_UNKNOWN}, separators=(",", ":"))
        write_file(self._files, f"{self._path}/{CLEAN_SHUTDOWN}", marker.encode(), sync=True)
        self._files.sync_folder(self._path)

    def _read(self, name: str) -> bytes | None:
        return read_file(self._files, f"{self._path}/{name}")

    def _replace(self, name: str, data: bytes) -> None:
        replace_file(self._files, f"{self._path}/{name}", data)


def _process_id_in(lock: OpenFile) -> int | None:
    text = lock.read(32, 0).split()
    return int(text[0]) if text and text[0].isdigit() else None


def _uuid_or_none(text: str) -> bytes:
    try:
        return topic_id_from_text(text) if text else b""
    except ValueError:
        return b""
