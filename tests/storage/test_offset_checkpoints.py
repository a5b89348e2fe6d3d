"""Tests of storage.offset_checkpoints: four files with an offset for each partition."""

import dataclasses
from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, FaultyFiles, Store, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.offset_checkpoints import OffsetCheckpoints


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
    directory = store.directory
    assert directory is not None
    directory.checkpoint_start_offsets()
    directory.set_cleaned_up_to(log.topic_partition, 2)
    directory.checkpoint_cleaned()

    assert directory.cleaned_up_to(log.topic_partition) == 2
    assert text(store, "log-start-offset-checkpoint") == "0\n1\nt 0 2\n"
    assert text(store, "cleaner-offset-checkpoint") == "0\n1\nt 0 2\n"
    assert text(store, "recovery-point-offset-checkpoint") == ""
    store.kill()
    store.open()
    assert directory.cleaned_up_to(log.topic_partition) == 2


def test_a_partition_that_goes_is_forgotten(store: Store) -> None:
    """In all of them."""
    log = store.open()
    store.directory.set_cleaned_up_to(log.topic_partition, 2)  # type: ignore[union-attr]
    found = checkpoints(store)
    found.note(log)
    found.forget(log.topic_partition)

    assert (found.recovery_points, found.high_watermarks, found.cleaner_offsets) == ({}, {}, {})


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
