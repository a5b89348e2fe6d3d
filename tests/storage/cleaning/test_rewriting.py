"""Tests of storage.cleaning.rewriting: whole groups, and what is left when one cannot be finished."""

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.storage.cleaning.support import (
    COMPACTED,
    compact,
    contents,
    put,
    put_transactional,
    reopened,
    seal,
)
from tests.storage.support import NOW_MS, TOPIC_ID, TOPIC_PARTITION, FaultyFiles, Store
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.cleaning import LogChanged, Unreadable
from wirekafka.storage.cleaning.filtering import LastBatch
from wirekafka.storage.cleaning.rewriting import last_batches

T = TypeVar("T")

EXPECTED = [(3, "c", "1"), (4, "a", "3"), (5, "b", "2")]


def dirty(store: Store) -> PartitionLog:
    """A log of three sealed segments, of which three of six records stay."""
    store.config = COMPACTED
    log = store.open()
    put(log, ("a", "1"), ("b", "1"), ("a", "2"))
    seal(log)
    put(log, ("c", "1"))
    seal(log)
    put(log, ("a", "3"), ("b", "2"))
    seal(log)
    return log


def leftovers(store: Store) -> list[str]:
    return [path.name for path in store.folder.iterdir() if path.name.endswith((".cleaned", ".swap"))]


def test_a_segment_that_would_stay_as_it_is_is_left_alone(store: Store) -> None:
    """No file is exchanged for its like."""
    store.config = COMPACTED
    log = store.open()
    put(log, ("a", "1"), ("b", "1"))
    seal(log)
    inode = store.log_path().stat().st_ino
    gone: list[str] = []

    compact(log, gone=gone)

    assert (store.log_path().stat().st_ino, gone, leftovers(store)) == (inode, [], [])


def test_the_snapshots_of_segments_that_are_no_more_go(store: Store) -> None:
    """Those at the base offsets that stay, and the newest, stay."""
    log = dirty(store)
    put_transactional(log, ("z", "1"), producer_id=1, base_sequence=0)
    gone: list[str] = []

    compact(log, gone=gone)

    left = sorted(path.name for path in store.folder.glob("*.snapshot"))
    assert left == [f"{6:020d}.snapshot"]
    assert sum(path.endswith(".snapshot.deleted") for path in gone) == 2


def test_last_batches_are_those_of_the_producers_now(store: Store) -> None:
    """-1 for one that is known by a marker only."""
    store.config = COMPACTED
    log = store.open()
    put(log, ("a", "1"), ("b", "1"), producer_id=7, producer_epoch=3, base_sequence=0)

    assert last_batches(log) == {7: LastBatch(1, 3)}
    log.producers.producers[7].batches.clear()
    assert last_batches(log) == {7: LastBatch(-1, 3)}


def test_a_missing_index_does_not_matter(store: Store) -> None:
    """It is made anew when somebody reads; the sizes of groups are taken without it."""
    log = dirty(store)
    (store.folder / f"{3:020d}.index").unlink()

    compact(log)

    assert contents(log) == EXPECTED


def test_a_segment_without_timestamps_keeps_its_age(store: Store) -> None:
    """That of the last of those it was made of."""
    store.config = COMPACTED
    log = store.open()
    put(log, ("a", "1"), timestamp_ms=-1)
    put(log, ("a", "2"), timestamp_ms=-1)
    seal(log)
    os.utime(store.log_path(), (1, 77))

    compact(log)

    assert contents(log) == [(1, "a", "2")]
    assert store.log_path().stat().st_mtime == 77


def test_a_damaged_batch_ends_it_and_harms_nothing(store: Store) -> None:
    """The place is told, the log is as it was, and goes on."""
    log = dirty(store)
    path = store.log_path(3)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)

    with pytest.raises(Unreadable, match=f"position 0 of {3:020d}.log"):
        compact(log)

    assert len(log.segments.all()) == 4
    assert leftovers(store) == []
    put(log, ("d", "1"))


class Interfering:
    """Does something to the log on the `at`th call on the loop."""

    def __init__(self, at: int, interfere: Callable[[], object]) -> None:
        self._left = at
        self._interfere = interfere

    def __call__(self, function: Callable[[], T], /) -> T:
        self._left -= 1
        if self._left == 0:
            self._interfere()
        return function()


@pytest.mark.parametrize("at", range(7, 13))
def test_a_log_that_was_shortened_meanwhile_is_not_overwritten(store: Store, at: int) -> None:
    """What was deleted does not come back."""
    log = dirty(store)

    with pytest.raises(LogChanged):
        compact(log, on_loop=Interfering(at, lambda: log.delete_records_before(3)))

    assert [offset for offset, _, _ in contents(log)] == [3, 4, 5]
    assert leftovers(store) == []
    assert [offset for offset, _, _ in contents(reopened(store, clean_stop=False))] == [3, 4, 5]


def test_a_log_that_was_deleted_meanwhile_ends_it(store: Store) -> None:
    """Its folder has another name, or is gone."""
    log = dirty(store)
    directory = store.directory
    assert directory is not None

    with pytest.raises(LogChanged):
        compact(log, on_loop=Interfering(3, lambda: directory.delete_log(log)))


@pytest.mark.parametrize("at", range(2, 13))
def test_a_topic_made_again_meanwhile_gets_no_file_of_the_one_before(store: Store, at: int) -> None:
    """None that a start would put in the place of its first segment."""
    log, directory = dirty(store), store.directory
    assert directory is not None
    made: list[PartitionLog] = []

    def make_again() -> None:
        directory.delete_log(log)
        made.append(directory.open_log(TOPIC_PARTITION, TOPIC_ID, COMPACTED, now_ms=NOW_MS))
        put(made[0], ("new", "1"))
        seal(made[0])

    with pytest.raises(LogChanged):
        compact(log, on_loop=Interfering(at, make_again))

    assert leftovers(store) == []
    assert contents(made[0]) == [(0, "new", "1")]


def test_whoever_paces_it_can_end_it(store: Store) -> None:
    """At whatever byte; the log is as it was, and nothing is left over."""

    class Enough(BaseException):
        pass

    log = dirty(store)
    for most in range(100):
        left = most

        def pace(size: int) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Enough

        try:
            compact(log, pace=pace)
        except Enough:
            assert leftovers(store) == []
            assert len(log.segments.all()) == 4
            continue
        break
    else:
        pytest.fail("it never came to an end")
    assert contents(log) == EXPECTED


def attempt(log: PartitionLog) -> ErrorCode | None:
    try:
        compact(log)
    except KafkaError as error:
        return error.code
    return None


def test_whatever_call_fails_every_key_has_its_newest_value(faulty_store: Store) -> None:
    """The Nth call, for every N: in memory, after another attempt, and after a restart."""
    store, files = faulty_store, faulty_store.files
    assert isinstance(files, FaultyFiles)
    codes: list[ErrorCode | None] = []
    for fail_at in range(1, 200):
        log = dirty(store)
        files.calls, files.only, files.fail_at = [], "", fail_at
        codes.append(attempt(log))
        reached, files.fail_at = len(files.calls) >= fail_at, 0
        if not log.failed:
            assert {key: value for _, key, value in contents(log)} == {"a": "3", "b": "2", "c": "1"}
        if not (log.failed or log.disk.health.failure):
            compact(log)
            assert contents(log) == EXPECTED
        log = reopened(store, clean_stop=False)
        assert {key: value for _, key, value in contents(log)} == {"a": "3", "b": "2", "c": "1"}
        assert leftovers(store) == []
        assert list(store.folder.glob("*.deleted")) == []
        log.flush()
        compact(log)
        assert contents(log) == EXPECTED
        store.kill()
        for path in store.folder.iterdir():
            path.unlink()
        if not reached:
            break
    assert set(codes) == {None, ErrorCode.KAFKA_STORAGE_ERROR}
    assert len(codes) > 30


class Killed(BaseException):
    """The process is gone."""


class KillingFiles(FaultyFiles):
    """Kills the process at the Nth call, before it is made."""

    def fails(self, name: str) -> bool:
        if super().fails(name):
            raise Killed
        return bool(self.fail_at) and len(self.calls) > self.fail_at and self._dead()

    def _dead(self) -> bool:
        raise Killed


def test_killed_at_any_call_a_restart_finds_every_newest_value(store: Store) -> None:
    """Nothing old comes back for a key that a newer value or a tombstone has."""
    files = KillingFiles()
    killed_store = Store(store.path / "killed", files)
    killed_store.config = LogConfig(cleanup_policy=("compact",), delete_retention_ms=0)
    kills = 0
    for fail_at in range(1, 300):
        log = killed_store.open()
        put(log, ("a", "1"), ("b", "1"), ("c", "1"))
        seal(log)
        put(log, ("b", None), ("a", "2"))
        seal(log)
        compact(log)
        put(log, ("d", "1"))
        seal(log)
        files.calls, files.only, files.fail_at = [], "", fail_at
        try:
            compact(log, cleaned_up_to=5)
            finished = True
        except Killed:
            finished, kills = False, kills + 1
        files.fail_at = 0
        log = reopened(killed_store, clean_stop=False)
        latest = {key: value for _, key, value in contents(log)}
        assert {key: value for key, value in latest.items() if value is not None} == {
            "a": "2",
            "c": "1",
            "d": "1",
        }
        assert leftovers(killed_store) == []
        killed_store.kill()
        for path in killed_store.folder.iterdir():
            path.unlink()
        if finished:
            break
    assert kills > 25


def test_half_a_swap_that_cannot_be_undone_is_completed_by_a_start(faulty_store: Store) -> None:
    """What was written anew is the only copy then, and is not thrown away."""
    store, files = faulty_store, faulty_store.files
    assert isinstance(files, FaultyFiles)
    for renames in range(4, 13):
        log = dirty(store)
        files.calls, files.only, files.fail_at, files.fails_from_then_on = [], "rename", renames, True
        assert attempt(log) is ErrorCode.KAFKA_STORAGE_ERROR
        files.fail_at, files.fails_from_then_on = 0, False

        log = reopened(store, clean_stop=False)

        assert {key: value for _, key, value in contents(log)} == {"a": "3", "b": "2", "c": "1"}
        store.kill()
        for path in store.folder.iterdir():
            path.unlink()
