"""What is going on when a call fails or the process dies: a table of operations to be struck.

`strike` runs one case: an operation, a fault, the number of the call that meets it. Used by `test_faults`.
A new operation of storage is a line in SCENARIOS.
"""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.storage.support import apply_retention
from tests.torture.faulty_files import CountedFiles, Fault, Killed
from tests.torture.store import NOW_MS, RECORDS_A_BATCH, NotAsAcknowledged, Store
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.cleaning import OffsetMap, clean, cleanable
from wirekafka.storage.disk.set_aside import unlink_set_aside
from wirekafka.storage.log.flushing import flush_logs
from wirekafka.storage.log.retention import start_after_retention

ONE, OTHER, NEW = TopicPartition("one", 0), TopicPartition("other", 3), TopicPartition("new", 1)
SMALL = LogConfig(segment_bytes=700, index_interval_bytes=150)
"""A segment takes three batches, or so."""
COMPACTED = replace(SMALL, cleanup_policy=("compact",), min_cleanable_dirty_ratio=0.0)
_KILLS = (Fault.KILL, Fault.TORN_KILL)
OF_WRITES = (Fault.SHORT, Fault.TORN_KILL)
"""They befall a write only; an operation may have none."""
_MANY = 20
"""So many logs are flushed by one sync of the filesystem."""
_NO_SPACE = (Fault.ENOSPC, Fault.SHORT)


@dataclass(frozen=True, slots=True)
class Scenario:
    """An operation, and the state that it begins in."""

    act: Callable[[Store, CountedFiles], None]
    """What is struck; it is given an open folder, unless `stopped`."""
    prepare: Callable[[Store], None]
    """Makes the state, in an open folder, with nothing failing."""
    config: LogConfig = SMALL
    stopped: str = ""
    """How the folder was left before `act` opens it: "" it is open, or "killed", "torn", "closed"."""


def fill(store: Store) -> None:
    """Two logs of some segments, a part of them flushed and checkpointed; one has aborted transactions."""
    for number in range(11):
        store.append(ONE)
        store.append(OTHER)
        if number in (1, 9):
            store.abort_transaction(OTHER)
        if number == 6:
            _flush(store)
            _checkpoint(store)


def _flush(store: Store) -> None:
    for log in store.logs.values():
        log.flush()


def _checkpoint(store: Store) -> None:
    assert store.directory is not None
    store.directory.checkpoint()


def _append_and_roll(store: Store, files: CountedFiles) -> None:
    for _ in range(4):
        store.append(ONE)


def _flush_all(store: Store, files: CountedFiles) -> None:
    _flush(store)


def _fill_many(store: Store) -> None:
    for number in range(_MANY):
        topic_partition = TopicPartition("many", number)
        store.open_log(topic_partition)
        store.append(topic_partition)


def _flush_many(store: Store, files: CountedFiles) -> None:
    assert store.directory is not None
    flush_logs(store.directory.disk, store.directory.path, list(store.logs.values()))
    _checkpoint(store)


def _flush_and_checkpoint(store: Store, files: CountedFiles) -> None:
    _flush(store)
    _checkpoint(store)


def _delete_records(store: Store, files: CountedFiles) -> None:
    account = store.accounts[ONE]
    account.start = account.batches[8][0]
    delete_before(store, account.start)


def _delete_all_records(store: Store, files: CountedFiles) -> None:
    account = store.accounts[ONE]
    account.start = account.end
    delete_before(store, account.end)


def delete_before(store: Store, offset: int) -> None:
    """DeleteRecords, as the broker does it: the files, then the checkpoint, then the files' end."""
    log = store.logs[ONE]
    gone = log.delete_records_before(offset)
    _checkpoint(store)
    _unlink(log, gone)


def _unlink(log: PartitionLog, gone: list[str]) -> None:
    """The broker only logs it when this fails: the next start does what is left."""
    with contextlib.suppress(OSError):
        unlink_set_aside(log.disk.files, gone)


def _retain(store: Store, files: CountedFiles) -> None:
    log = store.logs[ONE]
    log.config = replace(store.config, retention_bytes=1000)
    end = log.log_end_offset
    store.accounts[ONE].start = start_after_retention(log, high_watermark=end, now_ms=NOW_MS)
    gone = apply_retention(log, high_watermark=end, now_ms=NOW_MS)
    _unlink(log, gone)
    _checkpoint(store)


def _compact(store: Store, files: CountedFiles) -> None:
    compact(store)


def compact(store: Store) -> None:
    """Compact a whole log, as the broker does it."""
    assert store.directory is not None
    log = store.logs[ONE]
    store.accounts[ONE].compacted = True
    gone: list[str] = []
    log.roll(NOW_MS)
    log.flush()
    end = log.log_end_offset
    checkpoints = store.directory.checkpoints
    since = checkpoints.cleaned_up_to(ONE)
    if since is None:  # as the broker does, before the first swap
        checkpoints.note_cleaned(ONE, log.log_start_offset)
        checkpoints.write_cleaner_offsets()
    what = cleanable(log, since, high_watermark=end, flushed_up_to=log.recovery_point, now_ms=NOW_MS)
    cleaned = clean(what, OffsetMap(1 << 12), high_watermark=end, now_ms=NOW_MS, drop=gone.extend)
    checkpoints.note_cleaned(ONE, cleaned.end_offset)
    checkpoints.write_cleaner_offsets()
    _unlink(log, gone)


def _fill_and_compact(store: Store) -> None:
    fill(store)
    compact(store)
    fill(store)


def _create(store: Store, files: CountedFiles) -> None:
    store.open_log(NEW)
    store.append(NEW)


def _delete(store: Store, files: CountedFiles) -> None:
    assert store.directory is not None
    store.accounts[OTHER].deleted = True
    store.directory.delete_log(store.logs.pop(OTHER))
    _checkpoint(store)


def _close(store: Store, files: CountedFiles) -> None:
    store.close()


def _open(store: Store, files: CountedFiles) -> None:
    store.open(files)


def _recreate(store: Store, files: CountedFiles) -> None:
    _delete(store, files)
    store.accounts.pop(OTHER)
    store.open_log(OTHER)
    store.append(OTHER)


SCENARIOS: dict[str, Scenario] = {
    "append-and-roll": Scenario(_append_and_roll, fill),
    "flush": Scenario(_flush_all, fill),
    "flush-and-checkpoint": Scenario(_flush_and_checkpoint, fill),
    "flush-many": Scenario(_flush_many, _fill_many),
    "delete-records": Scenario(_delete_records, fill),
    "delete-all-records": Scenario(_delete_all_records, fill),
    "create-topic": Scenario(_create, fill),
    "delete-topic": Scenario(_delete, fill),
    "recreate-topic": Scenario(_recreate, fill),
    "retention": Scenario(_retain, fill),
    "compaction": Scenario(_compact, fill, COMPACTED),
    "second-compaction": Scenario(_compact, _fill_and_compact, COMPACTED),
    "close": Scenario(_close, fill),
    "open-first": Scenario(_open, lambda store: None, stopped="closed"),
    "open-after-close": Scenario(_open, fill, stopped="closed"),
    "open-after-kill": Scenario(_open, fill, stopped="killed"),
    "open-after-torn-write": Scenario(_open, fill, stopped="torn"),
}


class Wrong(AssertionError):
    """A case did not end as it has to; the text names the call."""


def cases(path: Path, name: str, fault: Fault) -> list[tuple[int, bool]]:
    """The calls of an operation that can meet a fault, by number, and whether the folder is closed then."""
    calls = calls_of(path, name)
    numbers = [at for at, call in enumerate(calls, 1) if call == "pwrite" or fault not in OF_WRITES]
    return [(at, closes) for at in numbers for closes in ((False,) if fault in _KILLS else (False, True))]


def strike(path: Path, name: str, fault: Fault, at: int, *, closes: bool) -> bool:
    """Run one case; whether there was such a call. Raises Wrong.

    With `closes` the folder is closed cleanly after an error, else dropped, as by a kill.
    """
    shutil.rmtree(path, ignore_errors=True)
    files = CountedFiles()
    store = _prepared(path, SCENARIOS[name], files)
    files.fault, files.at = fault, len(files.calls) + at
    try:
        try:
            refusal = _act(store, SCENARIOS[name], files)
            call = files.calls[files.at - 1] if files.struck else "none"
            if files.struck and fault not in _KILLS and name != "close":
                _check_goes_on(store, call, refusal, fault)
                if closes and store.directory is not None:
                    _close_if_possible(store)
            if not files.struck and refusal is not None:
                raise NotAsAcknowledged(f"refused without a fault: {refusal}")
        finally:
            store.drop()
            files.let_go()
        _check_reopens(store)
    except (KafkaError, NotAsAcknowledged, OSError) as error:
        call = files.calls[files.at - 1] if files.struck else "none"
        where = f"{name}, {fault.name} at call {at} ({call.replace(str(path), '')})"
        raise Wrong(f"{where}: {type(error).__name__}: {error}") from error
    return files.struck


def calls_of(path: Path, name: str) -> list[str]:
    """The calls that an operation makes when nothing fails."""
    shutil.rmtree(path, ignore_errors=True)
    files = CountedFiles()
    store = _prepared(path, SCENARIOS[name], files)
    before = len(files.calls)
    SCENARIOS[name].act(store, files)
    store.drop()
    files.let_go()
    return files.calls[before:]


def _prepared(path: Path, scenario: Scenario, files: CountedFiles) -> Store:
    store = Store(path, scenario.config)
    store.open(files)
    store.open_log(ONE)
    store.open_log(OTHER)
    scenario.prepare(store)
    if scenario.stopped == "closed":
        store.close()
    if scenario.stopped:
        store.drop()
        files.let_go()
    if scenario.stopped == "torn":
        newest = max((path / str(ONE)).glob("*.log"))
        newest.write_bytes(newest.read_bytes() + bytes(100))
    return store


def _act(store: Store, scenario: Scenario, files: CountedFiles) -> Exception | None:
    """Do it; what it was refused with. A refusal is KAFKA_STORAGE_ERROR, or the folder does not open."""
    try:
        scenario.act(store, files)
    except Killed:
        return None
    except KafkaError as error:
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
            raise
        return error
    except OSError as error:
        if scenario.stopped and store.directory is None:
            return error
        raise
    return None


def _check_goes_on(store: Store, call: str, refusal: Exception | None, fault: Fault) -> None:
    """Reads go on after an error, and when only space was short, so do appends."""
    if store.directory is None:
        return
    store.check()
    syncs = call.split()[0] in ("fdatasync", "sync_filesystem", "sync_folder", "ftruncate")
    for topic_partition, log in store.logs.items():
        try:
            store.append(topic_partition)
        except KafkaError as error:
            if error.code is not ErrorCode.KAFKA_STORAGE_ERROR or (fault in _NO_SPACE and not syncs):
                raise
        if not log.closed:
            store.check()


def _close_if_possible(store: Store) -> None:
    try:
        store.close()
    except KafkaError as error:
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
            raise


def _check_reopens(store: Store) -> None:
    """The next start works, has everything, leaves nothing behind, and takes records."""
    files = CountedFiles()
    try:
        store.open(files)
        store.check()
        if left := store.left_over():
            raise NotAsAcknowledged(f"{left} are left over after a start")
        for topic_partition in store.logs:
            _take_one_that_was_begun(store, topic_partition)
            store.append(topic_partition)
        store.check()
    finally:
        store.drop()
        files.let_go()


def _take_one_that_was_begun(store: Store, topic_partition: TopicPartition) -> None:
    """What the process died in the middle of may be there: from now on it has to stay."""
    account, log = store.accounts[topic_partition], store.logs[topic_partition]
    if account.begun and log.log_end_offset > account.end:
        account.adopt()
        store.sequences[topic_partition] = store.sequences.get(topic_partition, 0) + RECORDS_A_BATCH
    account.begun = b""
