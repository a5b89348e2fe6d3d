"""Tests of storage.cleaning.cleaned_segment."""

import os
from pathlib import Path

from tests.storage.cleaning.support import keyed_batch
from tests.storage.support import NOW_MS
from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.cleaning.cleaned_segment import CleanedSegment, discard
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FILES
from wirekafka.storage.segments.segment import Segment
from wirekafka.storage.segments.transaction_index import AbortedTransaction

INTERVAL_BYTES = 300


def batches(count: int, *, size: int = 40) -> list[bytearray]:
    return [
        keyed_batch(("k", "v" * size), ("l", "w"), base_offset=3 * i, timestamp_ms=NOW_MS + i % 7)
        for i in range(count)
    ]


def cleaned(folder: Path, data: list[bytearray], aborted: list[AbortedTransaction] | None = None) -> None:
    segment = CleanedSegment(Disk.on(FILES), str(folder), 0, INTERVAL_BYTES)
    for batch in data:
        segment.append(bytes(batch))
    segment.finish(aborted or [], None)
    assert segment.size == sum(len(batch) for batch in data)


def test_its_files_are_those_of_an_appended_segment(tmp_path: Path) -> None:
    """To the byte: batches, offset index, time index."""
    data = batches(60)
    (tmp_path / "appended").mkdir()
    config = LogConfig(index_interval_bytes=INTERVAL_BYTES)
    appended = Segment.create(Disk.on(FILES), str(tmp_path / "appended"), 0, config=config, created_ms=NOW_MS)
    for batch in data:
        appended.append(batch, RecordBatch(batch))
    appended.seal()

    cleaned(tmp_path, data)

    stem = f"{0:020d}"
    for suffix in (".log", ".index", ".timeindex"):
        expected = (tmp_path / "appended" / (stem + suffix)).read_bytes()
        assert (tmp_path / f"{stem}{suffix}.cleaned").read_bytes() == expected
        assert expected
    assert not (tmp_path / f"{stem}.txnindex.cleaned").exists()


def test_more_than_is_gathered_is_written(tmp_path: Path) -> None:
    """Whatever the sizes."""
    data = batches(7, size=400_000)

    cleaned(tmp_path, data)

    assert (tmp_path / f"{0:020d}.log.cleaned").read_bytes() == b"".join(data)


def test_an_empty_one_has_all_its_files(tmp_path: Path) -> None:
    """When nothing of a segment is left."""
    cleaned(tmp_path, [])

    assert sorted((path.name[20:], path.stat().st_size) for path in tmp_path.iterdir()) == [
        (".index.cleaned", 0),
        (".log.cleaned", 0),
        (".timeindex.cleaned", 0),
    ]


def test_the_aborted_transactions_have_their_index(tmp_path: Path) -> None:
    """34 bytes each, as Kafka's."""
    cleaned(tmp_path, batches(1), [AbortedTransaction(7, 0, 2, 3), AbortedTransaction(8, 1, 4, 5)])

    assert (tmp_path / f"{0:020d}.txnindex.cleaned").stat().st_size == 68


def test_a_segment_without_timestamps_keeps_its_age(tmp_path: Path) -> None:
    """Retention goes by it."""
    segment = CleanedSegment(Disk.on(FILES), str(tmp_path), 0, INTERVAL_BYTES)

    segment.finish([], 5_000)

    assert os.stat(tmp_path / f"{0:020d}.log.cleaned").st_mtime == 5


def test_what_an_attempt_before_has_left_is_in_nobodys_way(tmp_path: Path) -> None:
    """Another base offset's is not touched."""
    for name in (
        f"{0:020d}.log.cleaned",
        f"{0:020d}.txnindex.swap",
        f"{7:020d}.log.cleaned",
        f"{0:020d}.log",
    ):
        (tmp_path / name).write_bytes(b"old")

    discard(FILES, str(tmp_path), 0)

    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{0:020d}.log", f"{7:020d}.log.cleaned"]
