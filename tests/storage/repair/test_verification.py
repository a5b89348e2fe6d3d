"""Tests of storage.repair.verification: what is wrong with a partition's folder is found and named."""

from pathlib import Path

import pytest

from tests.storage.damaging import BATCH_BYTES, SEGMENT_BATCHES, filled, filled_with_transactions, flip
from tests.storage.support import TOPIC_PARTITION, Store, UnsyncedFiles
from wirekafka.storage.log.opening import Stopped
from wirekafka.storage.repair.verification import Remedy, Verified, verify_partition

FILES = UnsyncedFiles()
FIRST = f"{0:020d}.log"
LAST = f"{3 * 2 * SEGMENT_BATCHES:020d}.log"


def verified(
    folder: Path, *, recovery_point: int = 40, live: bool = False, compacted: bool = False
) -> Verified:
    stopped = Stopped(recovery_point=recovery_point, was_compacted=compacted)
    return verify_partition(FILES, str(folder), TOPIC_PARTITION, stopped, is_live=live)


def found(folder: Path, **how: bool) -> list[tuple[str, int | None, Remedy]]:
    return [(f.file_name, f.position, f.remedy) for f in verified(folder, **how).findings]


def test_a_good_folder_is_counted_and_nothing_is_found(store: Store) -> None:
    """All of it is read, whatever the recovery point."""
    whole = verified(filled(store).folder)

    assert whole.findings == []
    assert (whole.is_wrong, whole.needs_repair, whole.needs_indexes) == (False, False, False)
    assert (whole.batches, whole.records, whole.size_bytes) == (20, 40, 20 * BATCH_BYTES)
    assert (whole.first_offset, whole.log_end_offset) == (0, 40)


def test_transactions_are_as_they_should_be(store: Store) -> None:
    """Control batches, their index, and snapshots."""
    assert verified(filled_with_transactions(store).folder, recovery_point=24).findings == []


def test_damage_is_told_with_what_is_behind_it(store: Store) -> None:
    """And needs a repair, wherever it is."""
    folder = filled(store).folder
    flip(folder / FIRST, 2 * BATCH_BYTES + 30)
    first = verified(folder).findings[0]

    assert (first.file_name, first.position, first.remedy) == (FIRST, 2 * BATCH_BYTES, Remedy.REPAIR)
    assert str(first).startswith(
        f"{FIRST} at position {2 * BATCH_BYTES}: {BATCH_BYTES} wrong bytes, where offset 4 has to begin: "
    )
    assert f"3 good batches are behind it, from position {3 * BATCH_BYTES} on" in first.what
    assert verified(folder).needs_repair


def test_an_unfinished_write_is_mended_by_the_next_start(store: Store) -> None:
    """At the end, and not where records had been made to last; a broker that runs is just writing there."""
    folder = filled(store).folder
    path = folder / LAST
    path.write_bytes(path.read_bytes()[:-1])

    assert (LAST, BATCH_BYTES, Remedy.START) in [
        (f.file_name, f.position, f.remedy) for f in verified(folder, recovery_point=38).findings
    ]
    assert verified(folder, recovery_point=40).needs_repair
    assert found(folder, live=True) == []


def test_missing_offsets_are_normal_only_where_something_accounts_for_them(store: Store) -> None:
    """A compaction, or a repair of what had been made to last."""
    folder = filled(store).folder
    flip(folder / LAST, BATCH_BYTES + 7, 0x40)
    for suffix in ("index", "timeindex", "snapshot"):
        for path in folder.glob(f"*.{suffix}"):
            path.unlink()

    def gap(**how: bool) -> list[Remedy]:
        return [f.remedy for f in verified(folder, **how).findings if "there are no offsets" in f.what]

    assert gap() == [Remedy.REPAIR]
    assert gap(compacted=True) == [Remedy.NONE_NEEDED]
    assert [f.remedy for f in verified(folder, recovery_point=200).findings if f.position == BATCH_BYTES] == [
        Remedy.NONE_NEEDED
    ]


def test_a_hole_between_segments_is_told(store: Store) -> None:
    """A file is missing, or was cut on a batch's bound."""
    folder = filled(store).folder
    (folder / f"{2 * SEGMENT_BATCHES:020d}.log").unlink()

    assert "there are no offsets 12 to 23" in str(verified(folder, recovery_point=0).findings[0])


def test_segments_that_are_gone_from_what_was_made_to_last_are_wrong(store: Store) -> None:
    """No start refuses them, for a repair or a compaction may have left the gap; here neither has."""
    folder = filled(store).folder
    (folder / f"{2 * SEGMENT_BATCHES:020d}.log").unlink()

    def remedies(**how: bool) -> set[Remedy]:
        found = verified(folder, recovery_point=200, **how).findings
        return {finding.remedy for finding in found if "there are no offsets" in finding.what}

    assert remedies() == {Remedy.COPY}
    assert verified(folder, recovery_point=200).lacks_records
    assert remedies(compacted=True) == {Remedy.NONE_NEEDED}
    (folder / f"{0:020d}.log.damaged-1").touch()
    assert remedies() == {Remedy.NONE_NEEDED}


def test_segments_that_overlap_are_told(store: Store) -> None:
    """The last offset of one is above the first of the next."""
    folder = filled(store).folder
    flip(folder / FIRST, 5 * BATCH_BYTES + 7, 0x40)

    assert any(
        "past the begin of the next" in f.what and f.remedy is Remedy.REPAIR
        for f in verified(folder).findings
    )


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        (f"{0:020d}.index", Remedy.USE),
        (f"{0:020d}.timeindex", Remedy.USE),
        (f"{12:020d}.snapshot", Remedy.START),
        ("leader-epoch-checkpoint", Remedy.START),
        ("partition.metadata", Remedy.START),
    ],
)
def test_what_stands_beside_the_batches_is_told_with_its_remedy(
    store: Store, name: str, remedy: Remedy
) -> None:
    """It can be made anew of them."""
    folder = filled(store).folder
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(b"\xee" * len(data))

    assert {(file_name, kind) for file_name, _, kind in found(folder)} == {(name, remedy)}


@pytest.mark.parametrize(
    "text", ["0\n2\n0 0\n1 22\n", "0\n2\n0 0\n3 20\n", "0\n1\n0 0\n", "0\n3\n0 0\n1 20\n2 30\n"]
)
def test_leader_epochs_are_held_against_the_batches(store: Store, text: str) -> None:
    """Epoch 0 began at 0, epoch 1 at 20."""
    folder = filled(store).folder
    assert (folder / "leader-epoch-checkpoint").read_text() == "0\n2\n0 0\n1 20\n"
    (folder / "leader-epoch-checkpoint").write_text(text)

    assert {name for name, _, _ in found(folder)} == {"leader-epoch-checkpoint"}


def test_an_epoch_that_goes_back_is_told(store: Store) -> None:
    """No checksum covers it; nothing is mended by it."""
    folder = filled(store).folder
    flip(folder / LAST, 15, 1)

    assert (LAST, 0, Remedy.NONE_NEEDED) in found(folder)


def test_leftovers_and_what_was_moved_aside_are_told(store: Store) -> None:
    """Nothing has to be done about them; an index without its log goes at the next start."""
    folder = filled(store).folder
    for name in (
        f"{0:020d}.log.deleted",
        f"{0:020d}.log.damaged-1",
        f"{99:020d}.index",
        f"{99:020d}.snapshot",
    ):
        (folder / name).write_bytes(b"")
    kinds = {name: remedy for name, _, remedy in found(folder)}

    assert kinds[f"{0:020d}.log.deleted"] is kinds[f"{0:020d}.log.damaged-1"] is Remedy.NONE_NEEDED
    assert kinds[f"{99:020d}.index"] is kinds[f"{99:020d}.snapshot"] is Remedy.START


def test_a_log_that_ends_too_early_is_told(store: Store) -> None:
    """Though its batches are whole."""
    folder = filled(store).folder
    for path in folder.glob(f"{LAST[:20]}.*"):
        path.unlink()
    (folder / f"{40:020d}.snapshot").unlink()

    assert [(name, remedy) for name, _, remedy in found(folder)] == [
        ("recovery-point-offset-checkpoint", Remedy.START)
    ]
    assert "ends at offset 36, though its records up to 40" in verified(folder).findings[0].what


def test_an_empty_folder_is_no_log_yet(store: Store) -> None:
    """A kill between making the folder and the file."""
    store.open()
    store.kill()
    for path in store.folder.iterdir():
        path.unlink()

    assert [name for name, _, _ in found(store.folder, live=True)] == ["partition.metadata"]
