"""Tests of storage.repair.repair: nothing is lost that can be read, and nothing thrown away."""

import contextlib
import shutil
from pathlib import Path

import pytest

from tests.storage.damaging import (
    BATCH_BYTES,
    SEGMENT_BATCHES,
    SMALL,
    filled,
    filled_with_transactions,
    flip,
)
from tests.storage.support import TOPIC_ID, TOPIC_PARTITION, FaultyFiles, Store
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage import LogDirectory
from wirekafka.storage.repair import Repaired, stopped_folder

FIRST = f"{0:020d}.log"


def truncate(store: Store) -> Repaired:
    with stopped_folder(store.path, files=store.files) as folder:
        return folder.truncate(TOPIC_PARTITION)


def skip(store: Store) -> Repaired:
    with stopped_folder(store.path, files=store.files) as folder:
        return folder.skip(TOPIC_PARTITION)


def offsets(store: Store) -> list[int]:
    """What is served, without a notice; the folder is stopped again."""
    log = store.open()
    assert store.directory is not None
    assert store.directory.notices == []
    served = [batch.base_offset for batch in log.batches(0)]
    assert log.log_end_offset == (served[-1] + 2 if served else log.log_start_offset)
    store.stop()
    return served


def moved(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.glob("*.damaged-*")}


def damaged(store: Store, number: int, *, clean: bool = True) -> bytes:
    """A stopped folder with a wrong bit in one of its first batches; gives the bytes of its file."""
    filled(store, clean=clean)
    flip(store.folder / FIRST, number * BATCH_BYTES + 30)
    return (store.folder / FIRST).read_bytes()


@pytest.mark.parametrize("clean", [True, False])
def test_truncating_keeps_what_is_before_the_damage(store: Store, clean: bool) -> None:
    """And moves aside the rest: the log, and every later segment."""
    damage = damaged(store, 2, clean=clean)
    later = {path.name: path.read_bytes() for path in store.folder.glob("*.log")}
    del later[FIRST]

    done = truncate(store)

    assert offsets(store) == [0, 2]
    assert (done.log_end_offset, done.wrong_bytes) == (4, BATCH_BYTES)
    assert (done.given_up_batches, done.given_up_records, done.given_up_bytes) == (17, 34, 17 * BATCH_BYTES)
    assert moved(store) == {
        f"{FIRST}.damaged-1": damage[2 * BATCH_BYTES :],
        **{f"{name}.damaged-1": data for name, data in later.items()},
    }
    assert sorted(done.moved_to) == sorted(moved(store))


def test_a_dry_run_tells_the_same_and_changes_nothing(store: Store) -> None:
    """Before somebody gives up records."""
    damaged(store, 2)
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    with stopped_folder(store.path, files=store.files) as folder:
        told = folder.what_truncating_gives_up(TOPIC_PARTITION)

    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before
    done = truncate(store)
    done.moved_to = []
    assert told == done


@pytest.mark.parametrize("clean", [True, False])
def test_skipping_keeps_every_good_batch(store: Store, clean: bool) -> None:
    """With its offset; the wrong bytes are moved aside. An unclean stop afterwards finds it well."""
    damage = damaged(store, 2, clean=clean)

    done = skip(store)

    assert offsets(store) == [0, 2, *range(6, 40, 2)]
    assert (done.log_end_offset, done.wrong_bytes, done.given_up_batches) == (40, BATCH_BYTES, 0)
    assert moved(store) == {f"{FIRST}.damaged-1": damage[2 * BATCH_BYTES : 3 * BATCH_BYTES]}
    store.open()
    store.kill()
    log = store.open()
    assert [batch.base_offset for batch in log.batches(0)] == [0, 2, *range(6, 40, 2)]


def test_several_wrong_places_are_taken_out_at_once(store: Store) -> None:
    """In several segments; a whole segment may be gone, and the end."""
    filled(store)
    second = store.log_path(2 * SEGMENT_BATCHES)
    for number in range(SEGMENT_BATCHES):
        flip(second, number * BATCH_BYTES + 30)
    last = store.log_path(6 * SEGMENT_BATCHES)
    flip(last, BATCH_BYTES + 30)

    done = skip(store)

    assert (done.wrong_bytes, done.log_end_offset) == (7 * BATCH_BYTES, 38)
    log = store.open()
    assert [batch.base_offset for batch in log.batches(0)] == [*range(0, 12, 2), *range(24, 38, 2)]


def test_a_wrong_offset_is_taken_out(store: Store) -> None:
    """No checksum covers it; the batches behind it are good."""
    filled(store)
    flip(store.folder / FIRST, 2 * BATCH_BYTES + 7, 0x40)
    skip(store)

    assert offsets(store) == [0, 2, *range(6, 40, 2)]


def test_truncating_ends_at_a_hole_between_segments(store: Store) -> None:
    """Which a start refuses as well, behind the recovery point."""
    filled(store, clean=False)
    (store.path / "recovery-point-offset-checkpoint").unlink()
    store.log_path(2 * SEGMENT_BATCHES).unlink()
    with pytest.raises(KafkaError, match="no batch at position 570"):
        store.open()
    store.kill()

    done = truncate(store)

    assert (done.log_end_offset, done.given_up_batches) == (12, 8)
    assert offsets(store) == list(range(0, 12, 2))


def test_a_good_log_is_left_alone(store: Store) -> None:
    """By both."""
    filled(store)
    logs = {path.name: path.read_bytes() for path in store.folder.glob("*.log")}

    assert truncate(store) == skip(store) == Repaired(log_end_offset=40)
    assert {path.name: path.read_bytes() for path in store.folder.glob("*.log*")} == logs
    assert offsets(store) == list(range(0, 40, 2))


def test_everything_beside_the_batches_is_made_anew(store: Store) -> None:
    """Indexes of all three kinds, snapshots and epochs are the same as before."""
    filled_with_transactions(store)
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    assert any(name.endswith(".txnindex") for name in before)
    for name in before:
        if not name.endswith((".log", "partition.metadata")):
            (store.folder / name).write_bytes(b"\xee" * 5)

    with stopped_folder(store.path, files=store.files) as folder:
        folder.make_indexes(TOPIC_PARTITION)

    after = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    made_anew = {
        name: data for name, data in before.items() if not name.endswith(".snapshot") or name in after
    }
    assert after.items() >= made_anew.items()


@pytest.mark.parametrize("repair", [truncate, skip])
def test_a_repair_that_is_broken_off_can_be_done_again(tmp_path: Path, repair: object) -> None:
    """At every call to the operating system: nothing that was readable is lost by it."""
    template = Store(tmp_path / "template", FaultyFiles())
    damaged(template, 2)
    expected = [0, 2] if repair is truncate else [0, 2, *range(6, 40, 2)]
    number = 0
    failed = True
    while failed:
        number += 1
        shutil.copytree(template.path, tmp_path / "data")
        files = FaultyFiles()
        files.fail_at, files.fails_from_then_on = number, True
        store = Store(tmp_path / "data", files)
        store.config = SMALL
        failed = False
        try:
            repair(store)  # type: ignore[operator]
        except (OSError, KafkaError):
            failed = True
        files.fail_at = 0
        with contextlib.suppress(KafkaError):
            repair(store)  # type: ignore[operator]
        directory = LogDirectory.open(store.path, node_id=1, files=store.files)
        log = directory.open_log(TOPIC_PARTITION, TOPIC_ID, SMALL, now_ms=1)
        assert [batch.base_offset for batch in log.batches(0)] == expected
        directory.close(clean=True)
        kept = sum(path.stat().st_size for path in store.folder.glob("*.damaged-*"))
        assert kept >= BATCH_BYTES * (18 if repair is truncate else 1)
        shutil.rmtree(tmp_path / "data")
    assert number > 30
