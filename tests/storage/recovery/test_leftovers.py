"""Tests of storage.recovery.leftovers: what a crash of the compactor, or of a deletion, leaves."""

from pathlib import Path

import pytest

from tests.storage.support import TOPIC_PARTITION, UnsyncedFiles, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.recovery.leftovers import name_for_damaged, offset_in, offsets_of, tidy

FILES = UnsyncedFiles()


def batches(*base_offsets: int) -> bytes:
    """Batches of two records each."""
    made = []
    for base_offset in base_offsets:
        batch = simple_batch(2)
        RecordBatch(batch).assign(base_offset, 0)
        made.append(bytes(batch))
    return b"".join(made)


def named(base_offset: int, suffix: str) -> str:
    return f"{base_offset:020d}{suffix}"


def put(folder: Path, **contents: bytes) -> None:
    for name, data in contents.items():
        (folder / name).write_bytes(data)


def tidied(folder: Path) -> list[str]:
    names = tidy(FILES, str(folder), TOPIC_PARTITION)
    assert names == sorted(path.name for path in folder.iterdir())
    return names


def test_what_was_being_written_or_deleted_goes(tmp_path: Path) -> None:
    """.cleaned, .deleted and .tmp; but not what Kafka's metadata log deletes in its own way."""
    kept = [named(0, ".log"), named(0, ".index"), f"{named(9, '')}-0000000001.checkpoint.deleted"]
    gone = [
        named(0, ".log.cleaned"),
        named(4, ".log.deleted"),
        named(4, ".snapshot.deleted"),
        "leader-epoch.tmp",
    ]
    put(tmp_path, **dict.fromkeys(kept + gone, b""))

    assert tidied(tmp_path) == sorted(kept)


@pytest.mark.parametrize("suffix", [".index", ".timeindex", ".txnindex"])
def test_an_index_without_its_log_goes(tmp_path: Path, suffix: str) -> None:
    """LogLoader.loadSegmentFiles."""
    put(tmp_path, **{named(0, ".log"): b"", named(0, suffix): b"", named(8, suffix): b""})

    assert tidied(tmp_path) == sorted([named(0, ".log"), named(0, suffix)])


@pytest.mark.parametrize("renamed", [[], [0], [0, 4], [0, 4, 8]])
def test_a_swap_that_was_broken_off_is_finished(tmp_path: Path, renamed: list[int]) -> None:
    """The segments it replaces may all be there, or some be set aside already."""
    for base in (0, 4, 8):
        name = named(base, ".log.deleted" if base in renamed else ".log")
        put(tmp_path, **{name: batches(base, base + 2), named(base, ".index"): b"12345678"})
    put(tmp_path, **{named(12, ".log"): batches(12), named(0, ".log.swap"): batches(2, 10)})
    put(
        tmp_path,
        **{named(0, ".index.swap"): b"", named(0, ".timeindex.swap"): b"", named(8, ".snapshot"): b"s"},
    )

    names = tidied(tmp_path)

    assert names == sorted(
        [named(0, s) for s in (".log", ".index", ".timeindex")] + [named(8, ".snapshot"), named(12, ".log")]
    )
    assert (tmp_path / named(0, ".log")).read_bytes() == batches(2, 10)
    assert (tmp_path / named(0, ".index")).read_bytes() == b""


def test_an_empty_swap_replaces_the_segment_of_its_name(tmp_path: Path) -> None:
    """All records of a segment may have been replaced by later ones."""
    put(tmp_path, **{named(0, ".log"): batches(0), named(0, ".log.swap"): b"", named(2, ".log"): batches(2)})

    assert tidied(tmp_path) == [named(0, ".log"), named(2, ".log")]
    assert (tmp_path / named(0, ".log")).read_bytes() == b""


def test_a_swap_behind_a_cleaned_file_is_undone(tmp_path: Path) -> None:
    """KAFKA-6264: several files were to be swapped in together, and one was not finished."""
    whole = {named(0, ".log"): batches(0, 2, 4)}
    put(tmp_path, **whole, **{named(0, ".log.cleaned"): b"", named(4, ".log.swap"): batches(4)})

    assert tidied(tmp_path) == [named(0, ".log")]
    assert (tmp_path / named(0, ".log")).read_bytes() == batches(0, 2, 4)


def test_a_swap_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    """What it replaces may be gone. Nothing is touched."""
    whole = {named(0, ".log.deleted"): batches(0, 2), named(0, ".log.swap"): batches(0, 2)[:-1]}
    put(tmp_path, **whole)

    with pytest.raises(KafkaError) as caught:
        tidy(FILES, str(tmp_path), TOPIC_PARTITION)

    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert f"{named(0, '.log.swap')}, which was to take" in caught.value.message
    assert f"no batch at position {len(batches(0))}" in caught.value.message
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == whole


def test_files_are_told_by_their_names(tmp_path: Path) -> None:
    """Twenty digits."""
    assert [offset_in(name) for name in (named(7, ".log"), "partition.metadata", "7.log")] == [7, None, None]
    assert offsets_of([named(7, ".log"), named(3, ".log"), named(1, ".index"), "x.log"], ".log") == [3, 7]


def test_damaged_bytes_get_a_name_of_their_own(tmp_path: Path) -> None:
    """However many there are."""
    put(tmp_path, **{"a.log.damaged-1": b"", "a.log.damaged-2": b""})

    assert name_for_damaged(FILES, str(tmp_path), "a.log") == "a.log.damaged-3"
