"""Tests of storage.folder.offset_checkpoints: four files with an offset for each partition."""

import dataclasses
from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, TOPIC_ID, TOPIC_PARTITION, FaultyFiles, Store, simple_batch
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, LogDirectory
from wirekafka.storage.folder.offset_checkpoints import OffsetCheckpoints


def text(store: Store, name: str) -> str:
    path = store.path / name
    return path.read_text() if path.exists() else ""


def checkpoints(store: Store) -> OffsetCheckpoints:
    assert store.directory is not None
    return store.directory.checkpoints


@pytest.mark.parametrize(("durability", "high_watermark"), [("os", 4), ("fsync", 2)])
def test_they_say_what_lasts_and_what_readers_see(store: Store, durability: str, high_watermark: int) -> None:
    """In the mode `fsync` readers see what was flushed."""
    store.config = dataclasses.replace(store.config, durability=durability)
    log = store.open()
    log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    log.flush()
    log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    log.move_start(1)
    assert store.directory is not None
    store.directory.checkpoint()

    assert text(store, "recovery-point-offset-checkpoint") == "0\n1\nt 0 2\n"
    assert text(store, "log-start-offset-checkpoint") == "0\n1\nt 0 1\n"
    assert text(store, "replication-offset-checkpoint") == f"0\n1\nt 0 {high_watermark}\n"


def test_the_compactors_and_the_starts_are_written_alone(store: Store) -> None:
    """Before a file goes, its log's start offset lasts."""
    log = store.open()
    log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    log.move_start(2)
    found = checkpoints(store)
    found.note(log)
    found.write_log_start_offsets()
    found.note_cleaned(log.topic_partition, 2)
    found.write_cleaner_offsets()

    assert found.cleaned_up_to(log.topic_partition) == 2
    assert text(store, "log-start-offset-checkpoint") == "0\n1\nt 0 2\n"
    assert text(store, "cleaner-offset-checkpoint") == "0\n1\nt 0 2\n"
    assert text(store, "recovery-point-offset-checkpoint") == ""
    store.kill()
    store.open()
    assert checkpoints(store).cleaned_up_to(log.topic_partition) == 2


def test_a_partition_that_goes_is_forgotten(store: Store) -> None:
    """In all of them."""
    log = store.open()
    found = checkpoints(store)
    found.note_cleaned(log.topic_partition, 2)
    found.note(log)
    found.forget(log.topic_partition)

    assert (found.recovery_points, found.high_watermarks) == ({}, {})
    assert found.cleaned_up_to(log.topic_partition) is None


@pytest.mark.parametrize("damage", ["1\n0\n", "0\n1\nt 0 -4\n", "0\n1\nt x 4\n", "0\n2\nt 0 4\n", "\xff"])
def test_one_that_cannot_be_read_is_done_without(store: Store, damage: str) -> None:
    """It has no checksum, but a form."""
    store.path.mkdir()
    (store.path / "recovery-point-offset-checkpoint").write_text(damage, encoding="latin-1")
    store.open()

    assert store.directory is not None
    assert checkpoints(store).recovery_points == {}
    assert "recovery-point-offset-checkpoint cannot be read" in store.directory.notices[0]


def test_nothing_is_written_twice(faulty_store: Store, faulty_files: FaultyFiles) -> None:
    """A broker that is idle leaves the disk alone."""
    log = faulty_store.open()
    log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    assert faulty_store.directory is not None
    faulty_store.directory.checkpoint()
    faulty_files.calls.clear()
    faulty_store.directory.checkpoint()

    assert faulty_files.calls == []


@pytest.mark.parametrize(("call", "is_final"), [("pwrite", False), ("rename", False), ("fdatasync", True)])
def test_only_a_failed_sync_is_final(
    faulty_store: Store, faulty_files: FaultyFiles, call: str, is_final: bool
) -> None:
    """A full disk passes, and the checkpoint before stays."""
    log = faulty_store.open()
    log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    directory = faulty_store.directory
    assert directory is not None
    directory.checkpoint()
    log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    faulty_files.fail_next(call)
    with pytest.raises(KafkaError) as caught:
        directory.checkpoint()

    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert bool(directory.disk.health.failure) == is_final
    assert text(faulty_store, "replication-offset-checkpoint") == "0\n1\nt 0 2\n"
    if is_final:
        with pytest.raises(KafkaError):
            directory.checkpoint()
    else:
        directory.checkpoint()
        assert text(faulty_store, "replication-offset-checkpoint") == "0\n1\nt 0 4\n"


def test_folder_and_file_names_are_kafkas(store: Store, tmp_path: Path) -> None:
    """Beside the partitions."""
    log = store.open()
    log.append(simple_batch(1), leader_epoch=0, now_ms=NOW_MS)
    store.stop()

    assert {path.name for path in store.path.iterdir()} >= {
        ".kafka_cleanshutdown",
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
        "meta.properties",
    }


def test_a_start_that_cannot_be_told_yet_keeps_no_other_from_being_noted(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """The leader epochs, which are written first, find the disk full."""
    log = faulty_store.open()
    directory = faulty_store.directory
    assert directory is not None
    other = directory.open_log(TopicPartition("u", 0), TOPIC_ID, LogConfig(), now_ms=NOW_MS)
    for each in (log, other):
        each.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
        each.flush()
    log.move_start(1)
    faulty_files.fail_next("pwrite")
    with pytest.raises(KafkaError, match="epochs of t-0 could not be written"):
        checkpoints(faulty_store).note_all(directory.logs())
    found = checkpoints(faulty_store)

    assert found.recovery_points == {log.topic_partition: 2, other.topic_partition: 2}
    assert log.topic_partition not in found.log_start_offsets
    directory.checkpoint()
    assert text(faulty_store, "log-start-offset-checkpoint") == "0\n1\nt 0 1\n"


OLD_ONES = {
    "recovery-point-offset-checkpoint": "0\n2\nt 0 9\nu 0 4\n",
    "log-start-offset-checkpoint": "0\n1\nt 0 3\n",
    "cleaner-offset-checkpoint": "0\n1\nt 0 6\n",
}


def store_with_old_checkpoints(store: Store) -> Store:
    store.path.mkdir()
    for name, content in OLD_ONES.items():
        (store.path / name).write_text(content)
    return store


def test_what_was_noted_of_another_log_is_off_the_disk_before_a_folder_is_made(store: Store) -> None:
    """A kill soon after would have it believed: records hidden, unchecked, or taken for flushed."""
    log = store_with_old_checkpoints(store).open()
    written = [text(store, name) for name in OLD_ONES]
    log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    store.kill()
    with store.log_path().open("ab") as file:
        file.write(bytes(33))
    log = store.open()

    assert written == ["0\n1\nu 0 4\n", "0\n0\n", "0\n0\n"]
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (0, 2, 0)


def test_a_folder_that_is_gone_though_it_was_flushed_is_told_of(store: Store) -> None:
    """It is no topic's deletion that has taken it: that is forgotten."""
    store_with_old_checkpoints(store).open()
    assert store.directory is not None

    assert store.directory.notices == [
        "t-0: its folder is gone, though its records up to 9 were made to last; it begins anew"
    ]


def test_no_folder_is_made_while_the_old_ones_cannot_be_taken_off_the_disk(
    faulty_store: Store, faulty_files: FaultyFiles
) -> None:
    """The partition is off line until they can."""
    faulty_store.open().append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    directory = faulty_store.directory
    assert directory is not None
    directory.checkpoint()
    directory.delete_log(directory.logs()[0])
    faulty_files.fail_next("rename", always=True)
    with pytest.raises(KafkaError, match="recovery-point-offset-checkpoint could not be written"):
        directory.open_log(TOPIC_PARTITION, TOPIC_ID, LogConfig(), now_ms=NOW_MS)

    assert not faulty_store.folder.exists()
    faulty_files.fail_at = 0
    assert directory.open_log(TOPIC_PARTITION, TOPIC_ID, LogConfig(), now_ms=NOW_MS).log_end_offset == 0
    assert text(faulty_store, "recovery-point-offset-checkpoint") == "0\n0\n"


def test_what_is_of_no_partition_is_forgotten(store: Store) -> None:
    """Its topic was deleted before a kill: there is nothing to miss when it is made again."""
    store_with_old_checkpoints(store)
    directory = store.directory = LogDirectory.open(store.path, node_id=1, files=store.files)
    directory.forget_all_but({TopicPartition("u", 0)})
    directory.open_log(TOPIC_PARTITION, TOPIC_ID, LogConfig(), now_ms=NOW_MS)

    assert directory.notices == []
    assert [text(store, name) for name in OLD_ONES] == ["0\n1\nu 0 4\n", "0\n0\n", "0\n0\n"]
