"""Tests of storage.log.unflushed: what a flush is told to make last."""

import errno
import threading
from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, FaultyFiles, simple_batch
from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import SyncFailed
from wirekafka.storage.log.epochs import LeaderEpochs
from wirekafka.storage.log.unflushed import Unflushed
from wirekafka.storage.segments.segment import Segment
from wirekafka.storage.segments.segments import Segments


class OneLog:
    """What `Unflushed` knows of a log: two segments, one of them sealed."""

    def __init__(self, folder: Path, files: FaultyFiles) -> None:
        self.closed = False
        self.gone: list[Segment] = []
        self.epochs = LeaderEpochs()
        self.disk = Disk.on(files)
        self.folder = str(folder)
        self.unflushed = Unflushed(self.disk, self.folder, self.epochs, recovery_point=0)
        self.segments = Segments([self.segment(0)])
        self.add(2)
        self.segments.add(self.segment(2))
        self.add(1)

    def segment(self, base: int) -> Segment:
        return Segment.create(self.disk, self.folder, base, config=LogConfig(), created_ms=NOW_MS)

    def add(self, batches: int) -> None:
        for _ in range(batches):
            active = self.segments.active
            data = simple_batch(base_offset=active.next_offset)
            active.append(data, RecordBatch(data))

    def has_segment(self, segment: Segment) -> bool:
        return segment not in self.gone


@pytest.fixture
def log(tmp_path: Path, faulty_files: FaultyFiles) -> OneLog:
    """Two segments, offsets 0 to 2."""
    return OneLog(tmp_path, faulty_files)


def names(paths: list[str]) -> list[str]:
    return sorted(Path(path).name for path in paths)


def test_segments_behind_the_recovery_point_are_to_be_synced(log: OneLog) -> None:
    """The sealed ones with their indexes, which are written to the end first."""
    flush = log.unflushed.begin(3, log.segments, 0)

    assert flush is not None
    assert [segment.base_offset for segment in flush.segments] == [0, 2]
    assert names(flush.files) == [f"{0:020d}{suffix}" for suffix in (".index", ".timeindex", ".txnindex")]
    assert flush.folders == [log.folder]
    assert (Path(log.folder) / f"{0:020d}.timeindex").stat().st_size == 12
    log.unflushed.end(flush)
    assert log.unflushed.recovery_point == 3


def test_without_news_there_is_no_flush(log: OneLog) -> None:
    """Neither batches nor epochs nor names."""
    log.unflushed.recovery_point = 3
    assert log.unflushed.begin(3, log.segments, 0) is None

    log.epochs.assign(1, 3)
    flush = log.unflushed.begin(3, log.segments, 0)

    assert flush is not None
    assert (names(flush.files), flush.segments) == (["leader-epoch-checkpoint"], [])
    assert log.unflushed.begin(3, log.segments, 0) is None


def test_what_was_given_up_is_flushed_again(log: OneLog) -> None:
    """With all its names, and as old as it was."""
    log.unflushed.add_new_folder()
    log.unflushed.since_ms = 5
    first = log.unflushed.begin(3, log.segments, log.unflushed.take_since_ms())
    assert first is not None
    log.unflushed.give_up(first)
    assert (log.unflushed.since_ms, log.unflushed.recovery_point) == (5, 0)

    again = log.unflushed.begin(3, log.segments, log.unflushed.take_since_ms())

    assert again is not None
    assert (sorted(again.files), sorted(again.folders)) == (sorted(first.files), sorted(first.folders))
    assert again.since_ms == 5


def test_epochs_that_could_not_be_written_stay_due(log: OneLog, faulty_files: FaultyFiles) -> None:
    """And the flush says why it did not begin."""
    log.epochs.assign(1, 3)
    faulty_files.fail_next("rename")

    with pytest.raises(OSError, match="no space"):
        log.unflushed.begin(3, log.segments, 7)

    assert (log.epochs.dirty, log.unflushed.since_ms) == (True, 7)


def test_files_that_are_gone_need_no_sync(log: OneLog) -> None:
    """A segment that the log still has is another matter."""
    flush = log.unflushed.begin(3, log.segments, 0)
    assert flush is not None
    for segment in flush.segments:
        segment.release()
    for path in Path(log.folder).iterdir():
        path.unlink()

    with pytest.raises(FileNotFoundError):
        flush.sync(log.disk.files, log)

    log.gone = flush.segments
    flush.sync(log.disk.files, log)


def test_a_folder_that_is_gone_is_an_error_while_the_log_is_open(log: OneLog) -> None:
    """Of a deleted one it has to be."""

    class WithoutFolder(FaultyFiles):
        def sync_folder(self, path: str) -> None:
            raise FileNotFoundError(errno.ENOENT, "gone")

    flush = log.unflushed.begin(3, log.segments, 0)
    assert flush is not None
    with pytest.raises(FileNotFoundError):
        flush.sync(WithoutFolder(), log)

    log.closed = True
    flush.sync(WithoutFolder(), log)


def test_a_failed_sync_comes_through(log: OneLog, faulty_files: FaultyFiles) -> None:
    """As what it is."""
    flush = log.unflushed.begin(3, log.segments, 0)
    assert flush is not None
    faulty_files.fail_next("fdatasync")

    with pytest.raises(SyncFailed):
        flush.sync(faulty_files, log)


def test_a_segment_that_was_closed_after_a_write_is_known_by_its_path(log: OneLog) -> None:
    """Whichever of the log's it is."""
    flush = log.unflushed.begin(3, log.segments, 0)
    assert flush is not None

    assert not flush.is_closed_unsynced(set())
    assert not flush.is_closed_unsynced({"other"})
    assert flush.is_closed_unsynced({log.segments.active.path})


def test_leader_epochs_are_written_by_one_at_a_time(log: OneLog, faulty_files: FaultyFiles) -> None:
    """Who notes a start offset goes on when they are in their file, also if a flush's thread writes them."""
    began, may_go_on, done = threading.Event(), threading.Event(), threading.Event()
    rename = faulty_files.rename

    def slow(old: str, new: str) -> None:
        began.set()
        assert may_go_on.wait(10)
        rename(old, new)

    def note() -> None:
        log.unflushed.write_epochs()
        done.set()

    faulty_files.rename = slow  # type: ignore[method-assign]
    log.epochs.assign(7, 3)
    flush = threading.Thread(target=log.unflushed.write_epochs)
    flush.start()
    assert began.wait(10)
    noting = threading.Thread(target=note)
    noting.start()
    assert not done.wait(0.05)
    may_go_on.set()
    for thread in (flush, noting):
        thread.join()

    assert (Path(log.folder) / "leader-epoch-checkpoint").read_bytes() == b"0\n1\n7 3\n"


def test_a_segment_that_is_rolled_to_while_a_flush_begins_is_not_taken_for_sealed(log: OneLog) -> None:
    """Its time index must get no last entry: appends go on beside the flush."""

    class Rolling(Segments):
        def all(self) -> list[Segment]:
            if self.active.base_offset == 2:
                self.add(log.segment(3))
                log.add(1)
            return super().all()

    log.segments = Rolling(log.segments.all())

    flush = log.unflushed.begin(3, log.segments, 0)

    assert flush is not None
    assert [segment.base_offset for segment in flush.segments] == [0, 2, 3]
    assert not any(name.startswith(f"{3:020d}") for name in names(flush.files))
