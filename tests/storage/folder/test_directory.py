"""Tests of storage.folder.directory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.storage.support import (
    NOW_MS,
    TOPIC_ID,
    TOPIC_PARTITION,
    FaultyFiles,
    Store,
    UnsyncedFiles,
    simple_batch,
)
from wirekafka.ids import NO_TOPIC_ID, TopicPartition, uuid_from_text
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import DataDirectoryInUse, LogConfig, LogDirectory, PartitionLog

FILES = UnsyncedFiles()


def opened(path: Path, node_id: int = 1) -> LogDirectory:
    return LogDirectory.open(path, node_id=node_id, files=FILES)


def open_log(
    directory: LogDirectory, topic: str, partition: int = 0, topic_id: bytes = TOPIC_ID
) -> PartitionLog:
    return directory.open_log(TopicPartition(topic, partition), topic_id, LogConfig(), now_ms=NOW_MS)


def fill(log: PartitionLog, batches: int = 1) -> None:
    for _ in range(batches):
        log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)


def test_the_first_flush_makes_the_partitions_folder_last(tmp_path: Path) -> None:
    """Its name, the names in it, and the topic id; a later one only what is new."""

    class Watched(UnsyncedFiles):
        def __init__(self) -> None:
            self.synced: list[str] = []

        def sync_folder(self, path: str) -> None:
            self.synced.append(path)

    files = Watched()
    directory = LogDirectory.open(tmp_path, node_id=1, files=files)
    log = open_log(directory, "t")
    fill(log)
    files.synced.clear()
    log.flush()
    assert {str(tmp_path), str(tmp_path / "t-0")} == set(files.synced)

    fill(log)
    files.synced.clear()
    log.flush()
    assert files.synced == []
    directory.close(clean=False)


def test_a_start_reads_the_topic_id_of_a_folder_once(tmp_path: Path) -> None:
    """Of ten thousand partitions it would tell how often their files are opened."""

    class Watched(UnsyncedFiles):
        def __init__(self) -> None:
            self.opened: list[str] = []

        def open(self, path: str, *, create: bool = False, truncate: bool = False) -> int:
            self.opened.append(path)
            return super().open(path, create=create, truncate=truncate)

    directory = opened(tmp_path)
    fill(open_log(directory, "t"))
    directory.close(clean=True)
    files = Watched()

    directory = LogDirectory.open(tmp_path, node_id=1, files=files)
    assert directory.partitions() == [(TopicPartition("t", 0), TOPIC_ID)]
    open_log(directory, "t")

    assert sum(path.endswith("partition.metadata") for path in files.opened) == 1
    directory.close(clean=False)


def test_a_folder_that_went_after_its_id_was_read_begins_anew(tmp_path: Path) -> None:
    """As a topic does that is made again under the name."""
    other_id = b"\x07" * 16
    directory = opened(tmp_path)
    fill(open_log(directory, "t"))
    directory.close(clean=True)
    directory = opened(tmp_path)
    directory.partitions()

    directory.delete_partition(TopicPartition("t", 0))
    log = open_log(directory, "t", topic_id=other_id)

    assert log.log_end_offset == 0
    assert directory.partitions() == [(TopicPartition("t", 0), other_id)]
    directory.close(clean=False)


def test_checkpoints_have_what_the_next_start_needs(tmp_path: Path) -> None:
    """Recovery points, start offsets (where not 0) and high watermarks, in Kafka's files."""
    directory = opened(tmp_path)
    first, second = open_log(directory, "a"), open_log(directory, "b", 3)
    fill(first, 3)
    first.flush()
    fill(first)
    fill(second)
    first.delete_records_before(4)

    directory.checkpoint()

    assert (tmp_path / "recovery-point-offset-checkpoint").read_text() == "0\n2\na 0 6\nb 3 0\n"
    assert (tmp_path / "log-start-offset-checkpoint").read_text() == "0\n1\na 0 4\n"
    assert (tmp_path / "replication-offset-checkpoint").read_text() == "0\n2\na 0 8\nb 3 2\n"
    directory.close(clean=False)


def test_checkpoints_keep_partitions_that_are_not_open(tmp_path: Path) -> None:
    """A log that nobody asked for yet does not lose its start."""
    directory = opened(tmp_path)
    log = open_log(directory, "a")
    fill(log, 3)
    log.delete_records_before(4)
    directory.close(clean=True)

    opened(tmp_path).close(clean=True)

    directory = opened(tmp_path)
    assert open_log(directory, "a").log_start_offset == 4
    directory.close(clean=True)


def test_a_damaged_checkpoint_is_done_without(tmp_path: Path) -> None:
    """Everything is checked then; it is said."""
    directory = opened(tmp_path)
    fill(open_log(directory, "a"), 2)
    directory.close(clean=False)
    (tmp_path / "recovery-point-offset-checkpoint").write_bytes(b"0\n5\n")

    directory = opened(tmp_path)

    assert open_log(directory, "a").log_end_offset == 4
    assert "recovery-point-offset-checkpoint cannot be read" in directory.notices[0]
    directory.close(clean=True)


def test_partitions_are_listed_with_their_topic_ids(tmp_path: Path) -> None:
    """By folder name; what is no partition's folder is not listed."""
    directory = opened(tmp_path)
    open_log(directory, "a-1.b_c", 12)
    open_log(directory, "t")
    for name in ("t-1.0123-stray", "t-x", "-1", "t-01", "a b-1"):
        (tmp_path / name).mkdir()
    (tmp_path / "file-1").write_text("")
    (tmp_path / "old-0").mkdir()

    assert directory.partitions() == [
        (TopicPartition("a-1.b_c", 12), TOPIC_ID),
        (TopicPartition("old", 0), NO_TOPIC_ID),
        (TopicPartition("t", 0), TOPIC_ID),
    ]
    directory.close(clean=False)


def test_a_partitions_folder_has_kafkas_metadata(store: Store) -> None:
    """And the first segment's files."""
    store.open()

    assert sorted(path.name for path in store.folder.iterdir()) == [
        f"{0:020d}.index",
        f"{0:020d}.log",
        f"{0:020d}.timeindex",
        "partition.metadata",
    ]
    assert (store.folder / "partition.metadata").read_text() == "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"


def test_the_log_of_another_topic_of_that_name_is_refused(tmp_path: Path) -> None:
    """A topic that was deleted and made again has another id."""
    directory = opened(tmp_path)
    open_log(directory, "t")
    directory.close(clean=True)

    directory = opened(tmp_path)
    with pytest.raises(KafkaError) as caught:
        open_log(directory, "t", topic_id=bytes(15) + b"x")

    assert caught.value.code is ErrorCode.INCONSISTENT_TOPIC_ID
    directory.close(clean=True)
    assert (tmp_path / ".kafka_cleanshutdown").exists()


def test_a_log_is_open_once(tmp_path: Path) -> None:
    """A closed one may be opened again, from where it ended."""
    directory = opened(tmp_path)
    log = open_log(directory, "t")
    fill(log, 2)
    with pytest.raises(ValueError, match="open already"):
        open_log(directory, "t")

    log.close()
    again = open_log(directory, "t")

    assert (again.log_end_offset, again.recovery_point) == (4, 4)
    directory.close(clean=True)


def test_a_deleted_partition_is_gone(tmp_path: Path) -> None:
    """Also from the checkpoints; a slice stays readable; the name is free at once."""
    directory = opened(tmp_path)
    log = open_log(directory, "t")
    fill(log, 3)
    directory.checkpoint()
    held = log.read(0, 1000, up_to_offset=6, at_least_one_batch=True)

    directory.delete_log(log)

    assert directory.partitions() == []
    assert len(held.read()) == len(held) > 0
    directory.checkpoint()
    assert (tmp_path / "recovery-point-offset-checkpoint").read_text() == "0\n0\n"
    assert open_log(directory, "t", topic_id=bytes(15) + b"x").log_end_offset == 0
    directory.close(clean=True)


def test_a_partition_that_was_never_opened_can_be_deleted(tmp_path: Path) -> None:
    """Such as a damaged one, or one whose topic is gone."""
    directory = opened(tmp_path)
    fill(open_log(directory, "t"))
    directory.close(clean=False)

    directory = opened(tmp_path)
    directory.delete_partition(TopicPartition("t", 0))
    directory.close(clean=True)

    assert not (tmp_path / "t-0").exists()
    assert (tmp_path / ".kafka_cleanshutdown").exists()


def test_a_deletion_that_was_interrupted_is_finished_at_the_next_start(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """Once it has its other name it is gone, whatever is still there."""
    log = faulty_store.open()
    fill(log)
    faulty_files.fail_next("unlink")
    directory = faulty_store.directory
    assert directory is not None
    with pytest.raises(KafkaError) as caught:
        directory.delete_log(log)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    (left,) = faulty_store.path.glob("t-0.*-delete")
    assert directory.partitions() == []
    faulty_store.stop()

    faulty_store.open()

    assert not left.exists()


def test_a_long_topic_name_can_be_deleted(tmp_path: Path) -> None:
    """The folder's other name has to fit into 255 bytes."""
    directory = opened(tmp_path)
    topic = "x" * 249
    log = open_log(directory, topic)

    directory.delete_log(log)

    assert directory.partitions() == []
    assert list(tmp_path.glob("x*")) == []
    directory.close(clean=True)


def test_a_stop_is_clean_only_if_every_log_was_checked(tmp_path: Path) -> None:
    """After a kill, a partition that nobody opened is still to be checked by the next start."""
    directory = opened(tmp_path)
    for topic in ("a", "b"):
        fill(open_log(directory, topic))
    directory.close(clean=False)

    directory = opened(tmp_path)
    open_log(directory, "a")
    directory.close(clean=True)
    assert not (tmp_path / ".kafka_cleanshutdown").exists()

    directory = opened(tmp_path)
    for topic in ("a", "b"):
        open_log(directory, topic)
    directory.close(clean=True)
    assert (tmp_path / ".kafka_cleanshutdown").exists()


def test_a_log_that_failed_makes_the_stop_unclean(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """And nothing more is written, not even a checkpoint; the folder is let go of."""
    log = faulty_store.open()
    assert faulty_store.directory is not None
    faulty_store.directory.checkpoint()
    fill(log)
    faulty_files.fail_next("fdatasync")
    with pytest.raises(KafkaError):
        log.flush()
    faulty_files.fail_at = 0

    faulty_store.stop()

    assert not (faulty_store.path / ".kafka_cleanshutdown").exists()
    assert (faulty_store.path / "recovery-point-offset-checkpoint").read_text() == "0\n1\nt 0 0\n"
    assert faulty_store.open().log_end_offset == 2


@pytest.mark.parametrize("call", ["fdatasync", "rename", "pwrite", "open"])
def test_a_close_that_fails_leaves_no_marker(
    faulty_store: Store, faulty_files: FaultyFiles, call: str
) -> None:
    """The next start checks; nothing is lost. On a full disk no more than a notice is made of it."""
    fill(faulty_store.open())
    directory = faulty_store.directory
    assert directory is not None
    faulty_files.fail_next(call, always=True)
    if call == "fdatasync":
        with pytest.raises(KafkaError) as caught:
            faulty_store.stop()
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    else:
        faulty_store.stop()
        assert "no space left" in directory.notices[0]
    faulty_files.fail_at = 0

    assert not (faulty_store.path / ".kafka_cleanshutdown").exists()
    assert faulty_store.open().log_end_offset == 2


def test_a_checkpoint_that_fails_is_a_storage_error(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """The old one stays."""
    log = faulty_store.open()
    fill(log)
    directory = faulty_store.directory
    assert directory is not None
    directory.checkpoint()
    before = (faulty_store.path / "replication-offset-checkpoint").read_text()
    fill(log)
    faulty_files.fail_next("rename", always=True)

    with pytest.raises(KafkaError) as caught:
        directory.checkpoint()

    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (faulty_store.path / "replication-offset-checkpoint").read_text() == before


def test_opening_a_log_on_a_bad_disk_is_a_storage_error(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """Not a traceback; the partition can be opened when the disk is well."""
    faulty_store.open()
    directory = faulty_store.directory
    assert directory is not None
    faulty_files.fail_next("make_folder")
    other = TOPIC_PARTITION._replace(partition=1)
    with pytest.raises(KafkaError) as caught:
        directory.open_log(other, TOPIC_ID, LogConfig(), now_ms=NOW_MS)

    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert directory.open_log(other, TOPIC_ID, LogConfig(), now_ms=NOW_MS).log_end_offset == 0


def test_a_new_folder_gets_an_identity(tmp_path: Path) -> None:
    """meta.properties as Kafka formats one; the folder is private."""
    directory = opened(tmp_path / "a" / "data", node_id=3)

    lines = (tmp_path / "a" / "data" / "meta.properties").read_text().splitlines()
    assert lines[0] == "version=1"
    assert lines[1] == f"cluster.id={directory.cluster_id}"
    assert lines[2] == "node.id=3"
    assert len(uuid_from_text(lines[3].removeprefix("directory.id="))) == 16
    assert (len(directory.cluster_id), directory.cluster_id[0] != "-") == (22, True)
    assert (tmp_path / "a" / "data").stat().st_mode & 0o777 == 0o700
    assert (directory.was_clean, directory.node_id) == (False, 3)
    directory.close(clean=False)


def test_ids_that_are_there_are_kept(tmp_path: Path) -> None:
    """Also those of a folder that Kafka formatted, and an older one without a directory id."""
    (tmp_path / "meta.properties").write_text(
        "#\n#Mon Nov 30 12:00:00 UTC 2026\ncluster.id=q1Sh-9_ISia_zwGINzRvyQ\nversion=0\nbroker.id=7\n"
    )
    first = opened(tmp_path)
    identity = (first.cluster_id, first.node_id)
    completed = (tmp_path / "meta.properties").read_text()
    first.close(clean=True)

    again = opened(tmp_path, node_id=9)
    assert identity == ("q1Sh-9_ISia_zwGINzRvyQ", 7)
    assert "directory.id=" in completed
    assert (again.cluster_id, again.node_id) == identity
    assert (tmp_path / "meta.properties").read_text() == completed
    again.close(clean=True)


def test_a_second_opener_is_told_who_has_the_folder(tmp_path: Path) -> None:
    """By process id; when the first has let go, it is free."""
    directory = opened(tmp_path)
    with pytest.raises(DataDirectoryInUse) as caught:
        opened(tmp_path)
    assert caught.value.process_id == os.getpid()
    assert str(os.getpid()) in str(caught.value)

    directory.close(clean=True)
    directory.close(clean=True)
    opened(tmp_path).close(clean=False)


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    """kill -9 leaves the file, and nothing to clean up; appends of the killed process are there."""
    program = (
        "import os, pathlib, signal, sys\n"
        "from tests.storage.folder.test_directory import *\n"
        "directory = LogDirectory.open(pathlib.Path(sys.argv[1]), node_id=1)\n"
        "fill(open_log(directory, 't'), 3)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=root, check=False)
    assert done.returncode == -9

    directory = opened(tmp_path)
    assert (directory.was_clean, open_log(directory, "t").log_end_offset) == (False, 6)
    directory.close(clean=False)


def test_an_unreadable_lock_file_names_nobody(tmp_path: Path) -> None:
    """Kafka leaves it empty."""
    directory = opened(tmp_path)
    (tmp_path / ".lock").write_text("")

    with pytest.raises(DataDirectoryInUse, match="another process") as caught:
        opened(tmp_path)

    assert caught.value.process_id is None
    directory.close(clean=False)


def test_the_marker_of_a_clean_stop_is_taken_away_first(tmp_path: Path) -> None:
    """Kafka's json; a crash after the start is a crash."""
    opened(tmp_path).close(clean=True)
    marker = tmp_path / ".kafka_cleanshutdown"
    assert json.loads(marker.read_text()) == {"version": 0, "brokerEpoch": -1}

    directory = opened(tmp_path)
    assert (directory.was_clean, marker.exists()) == (True, False)
    directory.close(clean=False)
    assert not marker.exists()


def test_the_removal_of_the_marker_is_made_to_last(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """If the power brought it back, the next start would trust logs that nobody checked."""
    faulty_store.open()
    faulty_store.stop()
    faulty_files.calls.clear()

    faulty_store.open()

    removal = faulty_files.calls.index("unlink")
    assert faulty_files.calls[removal + 1] == "sync_folder"


def test_a_file_that_a_thread_opened_as_the_topic_went_is_let_go_of(store: Store) -> None:
    """Else the topic that is made again under its name would write to it, and have no file of its own."""
    log = store.open()
    fill(log)
    directory = store.directory
    assert directory is not None
    abandon, path = log.abandon, log.segments.active.path

    def abandon_and_open() -> None:
        abandon()
        directory.disk.open_files.get(path)

    log.abandon = abandon_and_open  # type: ignore[method-assign]
    directory.delete_log(log)
    again = directory.open_log(log.topic_partition, bytes(16), LogConfig(), now_ms=NOW_MS)
    fill(again)

    assert (again.log_end_offset, store.log_path().exists()) == (2, True)


def test_a_partition_that_could_not_be_made_does_not_make_the_stop_unclean(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """There is no log of it to be in doubt."""
    fill(faulty_store.open())
    directory = faulty_store.directory
    assert directory is not None
    faulty_files.fail_next("make_folder")
    with pytest.raises(KafkaError):
        directory.open_log(TopicPartition("u", 0), bytes(16), LogConfig(), now_ms=NOW_MS)
    faulty_store.stop()

    assert (faulty_store.path / ".kafka_cleanshutdown").exists()
