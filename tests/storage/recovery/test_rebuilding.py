"""Tests of recovery.rebuilding: what the batches tell when a file beside them is damaged or outdated."""

import shutil
from pathlib import Path

import pytest

from tests.storage.damaging import filled, filled_with_transactions, flip
from tests.storage.support import NOW_MS, Store, simple_batch
from wirekafka.storage import Appended, PartitionLog
from wirekafka.storage.producers.aborted import aborted_transactions
from wirekafka.storage.segments.transaction_index import AbortedTransaction

EPOCHS = "leader-epoch-checkpoint"


def notices(store: Store) -> str:
    assert store.directory is not None
    return " | ".join(store.directory.notices)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("position", range(16))
def test_a_flipped_bit_in_the_leader_epochs_changes_nothing(store: Store, clean: bool, position: int) -> None:
    """The file has no checksum; each of its bytes is held against the batches."""
    filled(store, clean=clean)
    assert (store.folder / EPOCHS).read_text() == "0\n2\n0 0\n1 20\n"[:16]
    if position >= (store.folder / EPOCHS).stat().st_size:
        return
    flip(store.folder / EPOCHS, position)
    log = store.open()

    assert (log.latest_epoch, log.end_offset_for_epoch(0), log.epoch_of(19)) == (1, (0, 20), 0)


@pytest.mark.parametrize("clean", [True, False])
def test_epochs_of_a_log_that_begins_later_are_right(store: Store, clean: bool) -> None:
    """What was deleted has no epoch; nothing is said of it."""
    filled(store)
    log = store.open()
    assert store.directory is not None
    log.delete_records_before(26)
    store.directory.checkpoint()
    store.stop(clean=clean)

    log = store.open()

    assert (log.log_start_offset, log.epochs.entries(), notices(store)) == (26, [(1, 26)], "")


@pytest.mark.parametrize("clean", [True, False])
def test_a_start_offset_that_the_epochs_do_not_know_is_not_believed(store: Store, clean: bool) -> None:
    """The checkpoint has no checksum, and the leader epochs are written before it: records are not hidden."""
    filled(store)
    log = store.open()
    assert store.directory is not None
    log.move_start(2)
    store.directory.checkpoint()
    store.stop(clean=clean)
    (store.path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 6\n")

    log = store.open()

    assert log.log_start_offset == 2
    assert "begins at offset 2, as its leader epochs do, though 6 was noted" in notices(store)


def aborted(store: Store) -> list[AbortedTransaction]:
    log = store.open()
    return aborted_transactions(log, 0, log.log_end_offset)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("damage", ["", "missing", "torn", "noise"])
def test_aborted_transactions_are_told_anew(store: Store, clean: bool, damage: str) -> None:
    """After an unclean stop of all that is checked; after a clean one of what cannot be read."""
    filled_with_transactions(store)
    before = aborted(store)
    store.stop()
    assert len(before) == 3
    if not clean:
        (store.path / ".kafka_cleanshutdown").unlink()
        (store.path / "recovery-point-offset-checkpoint").unlink()
    for path in store.folder.glob("*.txnindex"):
        if damage == "missing" and not clean:
            path.unlink()
        elif damage == "torn":
            path.write_bytes(path.read_bytes()[:-1])
        elif damage == "noise":
            path.write_bytes(b"\xee" * 34)

    assert aborted(store) == before
    assert ("is damaged, and is made anew" in notices(store)) == (clean and damage in ("torn", "noise"))


def test_transactions_that_span_segments_are_told_whole(store: Store) -> None:
    """The replay begins at a snapshot before the first segment that is checked."""
    filled_with_transactions(store)
    before = aborted(store)
    store.stop()
    (store.path / ".kafka_cleanshutdown").unlink()
    (store.path / "recovery-point-offset-checkpoint").write_text("0\n1\nt 0 15\n")
    for path in store.folder.glob("*.txnindex"):
        if int(path.stem) >= 14:
            path.unlink()

    assert aborted(store) == before


def test_a_snapshot_is_not_read_where_none_will_do(store: Store, tmp_path: Path) -> None:
    """Damaged ones go, one after the other; the batches say the same."""
    filled_with_transactions(store)
    shutil.copytree(store.path, tmp_path / "copy")
    for path in store.folder.glob("*.snapshot"):
        path.write_bytes(path.read_bytes()[:-1])
    log = store.open()
    batch = simple_batch(1, producer_id=5, producer_epoch=0, base_sequence=17, attributes=0x10)

    assert log.append(batch, leader_epoch=0, now_ms=NOW_MS).duplicate
    assert "is damaged and removed" in notices(store)


@pytest.mark.parametrize("bit", [0x01, 0x02, 0x04])
@pytest.mark.parametrize("field", ["producer id", "first offset", "last offset"])
def test_a_transaction_that_is_not_in_the_log_is_not_believed(store: Store, field: str, bit: int) -> None:
    """The index has no checksum: its entries are held against the batches, after a clean stop too."""
    filled_with_transactions(store)
    before = aborted(store)
    store.stop()
    path = min(store.folder.glob("*.txnindex"))
    flip(path, {"producer id": 9, "first offset": 17, "last offset": 25}[field], bit)

    assert aborted(store) == before
    assert f"{path.name} is damaged, and is made anew" in notices(store)


@pytest.mark.parametrize("clean", [True, False])
def test_producers_whose_records_were_deleted_are_known_as_before(store: Store, clean: bool) -> None:
    """DeleteRecords forgets nobody while the segment is there: a retry is answered, and written once."""

    def send(log: PartitionLog, sequence: int) -> Appended:
        records = simple_batch(1, producer_id=7, producer_epoch=0, base_sequence=sequence)
        return log.append(records, leader_epoch=0, now_ms=NOW_MS)

    log = store.open()
    for sequence in range(3):
        send(log, sequence)
    log.append(simple_batch(3), leader_epoch=0, now_ms=NOW_MS)
    log.delete_records_before(4)
    assert store.directory is not None
    store.directory.checkpoint()
    store.stop(clean=clean)
    log = store.open()
    repeated = send(log, 2)

    assert (log.log_start_offset, log.log_end_offset) == (4, 6)
    assert (repeated.duplicate, repeated.base_offset) == (True, 2)
