"""Tests of storage.repair.index_agreement: index files held against batches."""

from pathlib import Path

import pytest

from tests.storage.damaging import filled, filled_with_transactions, flip
from tests.storage.support import Store, UnsyncedFiles
from wirekafka.storage.disk.files import OpenFile
from wirekafka.storage.repair.index_agreement import Disagreement, IndexAgreement
from wirekafka.storage.segments.scan import valid_batches

FILES = UnsyncedFiles()
NAME = f"{0:020d}"


def disagreements(folder: Path, *, is_active: bool = False) -> list[Disagreement]:
    agreement = IndexAgreement(FILES, str(folder), 0)
    log = OpenFile(FILES, str(folder / f"{NAME}.log"))
    for position, batch in valid_batches(log, 0, log.size()):
        agreement.batch(position, batch)
    return agreement.disagreements(is_active=is_active)


def test_what_the_broker_writes_agrees(store: Store) -> None:
    """Offsets and times, at several entries."""
    folder = filled(store).folder

    assert (folder / f"{NAME}.index").stat().st_size >= 16
    assert disagreements(folder) == []


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_every_wrong_bit_of_an_entry_is_found(store: Store, suffix: str) -> None:
    """With file and position."""
    folder = filled(store).folder
    path = folder / f"{NAME}{suffix}"
    good = path.read_bytes()
    for position in range(len(good)):
        for bit in (1, 0x80):
            if suffix == ".timeindex" and position % 12 == 11 and bit == 1:
                continue  # another record of the same batch, as older brokers write it
            path.write_bytes(good)
            flip(path, position, bit)
            found = disagreements(folder)
            assert found
            assert {name for name, _, _ in found} == {path.name}
            assert all(place is not None for _, place, _ in found)


def test_a_file_that_is_missing_or_torn_is_told(store: Store) -> None:
    """Of the last segment a missing one is nothing: it may not be written yet."""
    folder = filled(store).folder
    path = folder / f"{NAME}.index"
    path.write_bytes(path.read_bytes() + b"\x01")
    (folder / f"{NAME}.timeindex").unlink()

    assert disagreements(folder) == [
        (f"{NAME}.timeindex", None, "is missing"),
        (f"{NAME}.index", path.stat().st_size - 1, "ends in the middle of an entry"),
    ] or {each[0] for each in disagreements(folder)} == {f"{NAME}.index", f"{NAME}.timeindex"}
    assert all(what != "is missing" for _, _, what in disagreements(folder, is_active=True))


def test_padding_is_passed_over(store: Store) -> None:
    """Kafka's own file of the last segment is as large as it may grow."""
    folder = filled(store).folder
    for suffix in (".index", ".timeindex"):
        path = folder / f"{NAME}{suffix}"
        path.write_bytes(path.read_bytes() + bytes(1200))

    assert disagreements(folder) == []


def test_entries_behind_the_last_batch_are_told(store: Store) -> None:
    """Of a log that was cut, or another's index."""
    folder = filled(store).folder
    path = folder / f"{NAME}.index"
    path.write_bytes(path.read_bytes() + b"\x00\x00\x00\x40\x00\x00\x40\x00")

    assert [what for _, _, what in disagreements(folder)] == [
        "has entries of offsets or positions behind the last batch"
    ]


def test_a_damaged_index_of_transactions_is_told(store: Store) -> None:
    """By its form: it has no checksum."""
    folder = filled_with_transactions(store).folder
    path = next(iter(folder.glob("*.txnindex")))
    path.write_bytes(path.read_bytes()[:-1])
    agreement = IndexAgreement(FILES, str(folder), int(path.stem))

    assert (path.name, None, "is damaged") in agreement.disagreements(is_active=True)
