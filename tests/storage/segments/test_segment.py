"""Tests of storage.segments.segment."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.support import NOW_MS, FaultyFiles, UnsyncedFiles, simple_batch
from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import FILES, Files
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.segment import CutBackFailed, Segment

CONFIG = LogConfig(index_interval_bytes=100)
BASE = 10


def new_segment(folder: Path, *, files: Files = FILES, config: LogConfig = CONFIG) -> Segment:
    return Segment.create(Disk.on(files), str(folder), BASE, config=config, created_ms=NOW_MS)


def reopened(folder: Path, *, next_offset: int = BASE, files: Files = FILES) -> Segment:
    return Segment.existing(
        Disk.on(files), str(folder), BASE, config=CONFIG, created_ms=NOW_MS, next_offset=next_offset
    )


def add(segment: Segment, *timestamps: int, count: int = 2, size: int = 10) -> None:
    for timestamp in timestamps:
        data = simple_batch(count, size=size, timestamp_ms=timestamp, base_offset=segment.next_offset)
        segment.append(data, RecordBatch(data))


def index_bytes(folder: Path) -> tuple[str, str]:
    stem = f"{BASE:020d}"
    return (folder / f"{stem}.index").read_bytes().hex(), (folder / f"{stem}.timeindex").read_bytes().hex()


def test_a_new_segment_has_its_log_and_two_empty_indexes(tmp_path: Path) -> None:
    """Kafka's dump tool looks for them as soon as it sees the log."""
    segment = new_segment(tmp_path)

    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {
        "00000000000000000010.log": 0,
        "00000000000000000010.index": 0,
        "00000000000000000010.timeindex": 0,
    }
    assert (segment.size, segment.next_offset, segment.max_timestamp) == (0, BASE, -1)
    assert segment.find(BASE) is None


def test_index_entries_are_added_every_interval(tmp_path: Path) -> None:
    """An entry names the batch that begins more than the interval behind the last one (LogSegment)."""
    segment = new_segment(tmp_path)
    add(segment, 1000, 1001, 1005, 1003, 1004)
    segment.write_indexes(final=False)

    size = segment.size // 5
    assert size * 2 > 100 > size
    assert index_bytes(tmp_path) == (
        f"{5:08x}{2 * size:08x}" + f"{9:08x}{4 * size:08x}",
        f"{1005:016x}{5:08x}",
    )


def test_exactly_the_interval_is_not_behind_it(tmp_path: Path) -> None:
    """An entry is due when more than index.interval.bytes were written since the last one."""
    segment = new_segment(tmp_path)
    add(segment, 1000)
    exact = LogConfig(index_interval_bytes=segment.size)
    segment = new_segment(tmp_path, config=exact)
    add(segment, 1000, 1001)
    assert len(segment._indexes.offsets) == 0

    add(segment, 1002)
    assert segment._indexes.offsets.last() == (15, 2 * exact.index_interval_bytes)


def test_closing_adds_the_largest_timestamp(tmp_path: Path) -> None:
    """Retention and time search need it; it is not added twice."""
    segment = new_segment(tmp_path)
    add(segment, 1000, 1007)
    segment.write_indexes(final=True)
    segment.write_indexes(final=True)

    assert index_bytes(tmp_path) == ("", f"{1007:016x}{3:08x}")


def test_index_files_are_written_piece_by_piece(tmp_path: Path) -> None:
    """What is there already is not written again, and the whole is as if written at once."""
    segment = new_segment(tmp_path)
    for i in range(20):
        add(segment, 1000 + i)
        if i % 3 == 0:
            segment.write_indexes(final=False)
    segment.write_indexes(final=True)
    piecewise = index_bytes(tmp_path)

    assert segment.rescan(lambda batch: None) == segment.size
    segment.write_indexes(final=True)
    assert index_bytes(tmp_path) == piecewise


def test_every_offset_is_found(tmp_path: Path) -> None:
    """Behind the last index entry from memory, before it by the index, also after reopening."""
    segment = new_segment(tmp_path)
    add(segment, *range(1000, 1030))
    segment.write_indexes(final=True)
    size = segment.size // 30
    expected = [((offset - BASE) // 2 * size, size) for offset in range(BASE, BASE + 60)]

    for opened in (segment, reopened(tmp_path)):
        assert [opened.find(offset) for offset in range(BASE, BASE + 60)] == expected
        assert opened.find(BASE + 60) is None


def test_a_reopened_segment_goes_on_as_if_it_had_stayed_open(tmp_path: Path) -> None:
    """Ends, timestamps, and the distance to the next index entry, which Kafka counts anew after a start."""
    stayed, closed = tmp_path / "stayed", tmp_path / "closed"
    stayed.mkdir()
    closed.mkdir()
    segment, other = new_segment(stayed), new_segment(closed)
    add(segment, *range(1000, 1009))
    add(other, *range(1000, 1009))
    other.write_indexes(final=False)
    other = reopened(closed)
    other.load()

    for each in (segment, other):
        add(each, *range(1009, 1020))
        each.write_indexes(final=False)
    assert (other.size, other.next_offset, other.max_timestamp) == (
        segment.size,
        segment.next_offset,
        segment.max_timestamp,
    )
    assert index_bytes(closed) == index_bytes(stayed)


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "zeros", "behind the end", "astray"])
def test_index_files_that_are_lost_or_damaged_are_rebuilt(tmp_path: Path, suffix: str, damage: str) -> None:
    """From the batches; nothing is answered differently."""
    segment = new_segment(tmp_path)
    add(segment, *range(1000, 1030))
    segment.write_indexes(final=True)
    expected = [segment.find(offset) for offset in range(BASE, BASE + 60)]
    path = tmp_path / f"{BASE:020d}{suffix}"
    entry = 8 if suffix == ".index" else 12
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[:-3],
                "zeros": bytes(len(data)),
                "behind the end": data[:-entry] + b"\x7f" * entry,
                "astray": data[:-1] + bytes([data[-1] + 1]),
            }[damage]
        )

    opened = reopened(tmp_path)
    assert [opened.find(offset) for offset in range(BASE, BASE + 60)] == expected
    assert opened.max_timestamp == 1029


def test_an_index_that_leads_astray_is_rebuilt_when_that_shows(tmp_path: Path) -> None:
    """A wrong position in the middle is found by the read that it misleads."""
    segment = new_segment(tmp_path)
    add(segment, *range(1000, 1030))
    segment.write_indexes(final=True)
    expected = [segment.find(offset) for offset in range(BASE, BASE + 60)]
    path = tmp_path / f"{BASE:020d}.index"
    data = bytearray(path.read_bytes())
    data[15] ^= 1
    path.write_bytes(data)

    opened = reopened(tmp_path)
    assert [opened.find(offset) for offset in range(BASE, BASE + 60)] == expected


def test_batches_that_do_not_lead_to_the_end_are_damage(tmp_path: Path) -> None:
    """A sealed segment with a hole is an error, not a short segment."""
    segment = new_segment(tmp_path)
    add(segment, *range(1000, 1010))
    position = segment.size // 2
    segment.file.write(bytes(61), position)

    opened = reopened(tmp_path, next_offset=30)
    for _ in range(2):
        with pytest.raises(Damaged):
            opened.find(BASE)
        assert (opened.size, opened.next_offset) == (segment.size, 30)


class WatchedFiles(UnsyncedFiles):
    """Calls `on_read` before every read, for what another thread may see or what may fail just then."""

    on_read: Callable[[], None] = staticmethod(lambda: None)

    def pread(self, fd: int, length: int, position: int) -> bytes:
        self.on_read()
        return super().pread(fd, length, position)


@pytest.mark.parametrize("state", ["unread", "without an index", "misled"])
def test_the_ends_of_a_segment_are_right_while_its_indexes_are_read(tmp_path: Path, state: str) -> None:
    """A compaction and a flush ask for them in other threads; after a failed read they are right as well."""
    files = WatchedFiles()
    segment = new_segment(tmp_path, files=files)
    add(segment, *range(1000, 1030))
    segment.write_indexes(final=True)
    expected = [segment.find(offset) for offset in range(BASE, BASE + 60)]
    if state == "without an index":
        (tmp_path / f"{BASE:020d}.index").unlink()
    elif state == "misled":
        segment._indexes.offsets._positions[1] += 1
    if state != "misled":
        segment = reopened(tmp_path, files=files, next_offset=BASE + 60)
    ends = segment.size, segment.next_offset
    reads: list[tuple[int, int]] = []

    def see_and_fail() -> None:
        reads.append((segment.size, segment.next_offset))
        if len(reads) < 6 and len(reads) % 2 == 0:
            raise OSError(errno.EIO, "once")

    files.on_read = see_and_fail
    for _ in range(2):
        with pytest.raises(OSError, match="once"):
            segment.find(BASE + 11)
        assert (segment.size, segment.next_offset) == ends
    assert segment.find(BASE + 11) == expected[11]
    assert [segment.find(offset) for offset in range(BASE, BASE + 60)] == expected
    assert set(reads) == {ends}


def test_an_append_after_a_failed_rebuild_goes_to_the_end(tmp_path: Path) -> None:
    """Not over batches that are there, when a wrong byte is met and the indexes cannot be made anew."""
    files = WatchedFiles()
    segment = new_segment(tmp_path, files=files)
    add(segment, *range(1000, 1030))
    size = segment.size
    segment.file.write(b"\x40", size // 30 * 6 + 7)

    def fail() -> None:
        raise OSError(errno.EIO, "once")

    files.on_read = fail
    with pytest.raises(OSError, match="once"):
        segment.find(BASE + 12)
    files.on_read = lambda: None
    with pytest.raises(Damaged):
        segment.find(BASE + 12)
    add(segment, 1030)

    assert (segment.size, segment.next_offset) == (size // 30 * 31, BASE + 62)
    assert segment.find(BASE + 60) == (size, size // 30)


def test_rescan_stops_at_the_first_wrong_byte(tmp_path: Path) -> None:
    """And cut removes it and what is behind."""
    segment = new_segment(tmp_path)
    add(segment, 1000, 1001, 1002)
    size = segment.size // 3
    segment.file.write(b"\xff", 2 * size + 40)
    seen: list[int] = []

    assert segment.rescan(lambda batch: seen.append(batch.base_offset)) == 3 * size
    segment.cut()

    assert (seen, segment.size, segment.next_offset) == ([10, 12], 2 * size, 14)
    assert (tmp_path / segment.file_name).stat().st_size == 2 * size


def test_a_failed_append_leaves_nothing(tmp_path: Path, faulty_files: FaultyFiles) -> None:
    """Half a batch is cut off again, and the next append goes where it would have gone."""
    segment = new_segment(tmp_path, files=faulty_files)
    add(segment, 1000)
    size = segment.size
    faulty_files.tears = True
    faulty_files.fail_next("pwrite")

    with pytest.raises(OSError, match="no space") as caught:
        add(segment, 1001)

    assert caught.value.errno == errno.ENOSPC
    assert (segment.size, segment.file.size(), segment.next_offset) == (size, size, 12)
    add(segment, 1002)
    assert segment.find(12) == (size, size)


def test_several_batches_leave_what_they_leave_one_by_one(tmp_path: Path) -> None:
    """The same file, and the same indexes of it."""
    folders = tmp_path / "several", tmp_path / "single"
    for folder in folders:
        folder.mkdir()
    several, single = (new_segment(folder) for folder in folders)
    add(several, 1000)
    add(single, 1000)
    times = (1001, 1005, 1003, 1004)
    add(single, *times)
    data, written = b"", []
    for offset, time in zip(range(BASE + 2, BASE + 10, 2), times, strict=True):
        batch = simple_batch(2, timestamp_ms=time, base_offset=offset)
        data += batch
        written.append((offset, offset + 1, len(batch), time))
    several.append_several(data, written)

    for segment in (several, single):
        segment.write_indexes(final=False)
    assert index_bytes(folders[0]) == index_bytes(folders[1])
    assert several.file.read(1000, 0) == single.file.read(1000, 0)
    assert (several.size, several.next_offset) == (single.size, single.next_offset)
    assert [several.find(offset) for offset in range(BASE, BASE + 10)] == [
        single.find(offset) for offset in range(BASE, BASE + 10)
    ]


def test_of_several_batches_that_fail_nothing_stays(tmp_path: Path, faulty_files: FaultyFiles) -> None:
    """Whole ones before the one that was cut are cut off too."""
    segment = new_segment(tmp_path, files=faulty_files)
    add(segment, 1000)
    before = segment.size, segment.next_offset
    data = simple_batch(2, base_offset=12) + simple_batch(2, base_offset=14)
    size = len(data) // 2
    faulty_files.tears = True
    faulty_files.fail_next("pwrite")

    with pytest.raises(OSError, match="no space"):
        segment.append_several(data, [(12, 13, size, NOW_MS), (14, 15, size, NOW_MS)])

    assert (segment.size, segment.next_offset) == before
    assert segment.file.size() == segment.size


def test_bytes_that_cannot_be_removed_are_told(tmp_path: Path, faulty_files: FaultyFiles) -> None:
    """The log must take no more then: memory and file differ."""
    segment = new_segment(tmp_path, files=faulty_files)
    faulty_files.fail_at, faulty_files.fails_from_then_on = len(faulty_files.calls) + 1, True

    with pytest.raises(CutBackFailed):
        add(segment, 1000)


def rolls(segment: Segment, config: LogConfig, *, timestamp_ms: int = 1000, now_ms: int = NOW_MS) -> bool:
    batch = RecordBatch(simple_batch(2, timestamp_ms=timestamp_ms))
    return segment.should_roll(config, batch, last_offset=segment.next_offset + 1, now_ms=now_ms)


def test_a_segment_is_full_by_size(tmp_path: Path) -> None:
    """When the batch would bring it over segment.bytes; exactly that much fits."""
    segment = new_segment(tmp_path)
    add(segment, 1000)

    assert not rolls(segment, LogConfig(segment_bytes=2 * segment.size))
    assert rolls(segment, LogConfig(segment_bytes=2 * segment.size - 1))


def test_a_segment_is_full_by_index(tmp_path: Path) -> None:
    """Either index; the time index keeps a place for its last entry."""
    segment = new_segment(tmp_path)
    add(segment, *range(1000, 1010))

    assert not rolls(segment, LogConfig(segment_index_bytes=1000))
    assert rolls(segment, LogConfig(segment_index_bytes=36))
    assert rolls(segment, LogConfig(segment_index_bytes=60))


def test_a_segment_is_full_when_offsets_cannot_be_told(tmp_path: Path) -> None:
    """Relative offsets have 31 bits."""
    segment = new_segment(tmp_path)
    batch = RecordBatch(simple_batch())

    for last_offset, expected in ((BASE + 2147483647, False), (BASE + 2147483648, True)):
        assert segment.should_roll(CONFIG, batch, last_offset=last_offset, now_ms=NOW_MS) is expected


def test_a_segment_is_full_by_the_batches_own_time(tmp_path: Path) -> None:
    """segment.ms from its first batch's timestamp to this one's (timeWaitedForRoll)."""
    config = LogConfig(segment_ms=100)
    segment = new_segment(tmp_path)
    assert not rolls(segment, config, timestamp_ms=99_999)

    add(segment, 1000)
    segment.write_indexes(final=True)
    for opened in (segment, reopened(tmp_path)):
        opened.load()
        assert not rolls(opened, config, timestamp_ms=1100, now_ms=NOW_MS + 9999)
        assert rolls(opened, config, timestamp_ms=1101)


def test_a_segment_of_a_compacted_log_is_full_by_the_compaction_lag(tmp_path: Path) -> None:
    """The last segment is not compacted, so max.compaction.lag.ms bounds its time too (maxSegmentMs)."""
    segment = new_segment(tmp_path)
    add(segment, 1000)
    compacted = ("compact", "delete")

    for config, limit in (
        (LogConfig(segment_ms=100, max_compaction_lag_ms=50, cleanup_policy=compacted), 50),
        (LogConfig(segment_ms=100, max_compaction_lag_ms=200, cleanup_policy=compacted), 100),
        (LogConfig(segment_ms=100, max_compaction_lag_ms=50), 100),
    ):
        assert not rolls(segment, config, timestamp_ms=1000 + limit)
        assert rolls(segment, config, timestamp_ms=1001 + limit)


def test_a_segment_without_timestamps_is_full_by_the_clock(tmp_path: Path) -> None:
    """From when it was made."""
    segment = new_segment(tmp_path)
    add(segment, -1)

    assert not rolls(segment, LogConfig(segment_ms=100), now_ms=NOW_MS + 100)
    assert rolls(segment, LogConfig(segment_ms=100), now_ms=NOW_MS + 101)


def test_jitter_shortens_a_segments_time(tmp_path: Path) -> None:
    """So that many partitions do not roll at once; by less than segment.jitter.ms."""

    class Dice(Files):
        def random_bytes(self, count: int) -> bytes:
            return (64 + 39).to_bytes(count, "big")

    config = LogConfig(segment_ms=100, segment_jitter_ms=64)
    segment = new_segment(tmp_path, files=Dice(), config=config)
    add(segment, 1000)

    assert not rolls(segment, config, timestamp_ms=1061)
    assert rolls(segment, config, timestamp_ms=1062)


def test_a_deleted_segment_leaves_no_file(tmp_path: Path) -> None:
    """Kafka's transaction index included."""
    segment = new_segment(tmp_path)
    add(segment, 1000)
    segment.write_indexes(final=True)
    (tmp_path / f"{BASE:020d}.txnindex").write_bytes(b"")

    segment.delete()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fails", [2, 3, 4])
def test_a_segment_is_set_aside_with_its_batches(
    tmp_path: Path, faulty_files: FaultyFiles, fails: int
) -> None:
    """An index that cannot be renamed after them is to be unlinked as it is named: all paths are told."""
    segment = new_segment(tmp_path, files=faulty_files)
    faulty_files.fail_next("rename")
    faulty_files.fail_at = fails

    gone = segment.set_aside()

    assert {str(path) for path in tmp_path.iterdir()} == {path for path in gone if ".txnindex" not in path}
    assert gone[0].endswith(".log.deleted")


def test_a_new_segment_is_not_written_to_a_file_of_its_name_that_is_gone(tmp_path: Path) -> None:
    """A late flush of a deleted topic may have opened that again before the topic was made anew."""
    disk = Disk.on(FILES)
    path = tmp_path / f"{BASE:020d}.log"
    disk.open_files.get(str(path), create=True)
    path.unlink()

    segment = Segment.create(disk, str(tmp_path), BASE, config=CONFIG, created_ms=NOW_MS)
    add(segment, 1000)

    assert path.stat().st_size == segment.size


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_a_segment_that_cannot_be_made_leaves_no_file(
    tmp_path: Path, faulty_files: FaultyFiles, fails: int
) -> None:
    """The next start would take an empty one for the newest, and hide batches that are in the one before."""
    faulty_files.only, faulty_files.fail_at = "open", fails

    with pytest.raises(OSError, match="no space") as caught:
        new_segment(tmp_path, files=faulty_files)

    assert not isinstance(caught.value, CutBackFailed)
    assert list(tmp_path.iterdir()) == []


def test_a_segment_that_cannot_be_unmade_is_told(tmp_path: Path) -> None:
    """The log must not go on in the one before it."""

    class Stuck(FaultyFiles):
        def unlink(self, path: str) -> None:
            raise OSError(errno.EROFS, "read-only")

    files = Stuck()
    files.only, files.fail_at = "open", 2

    with pytest.raises(CutBackFailed):
        new_segment(tmp_path, files=files)


def test_a_preallocated_segment_is_trimmed_when_it_is_sealed(tmp_path: Path) -> None:
    """It has segment.bytes from the start (preallocate); what is read of it ends with the batches."""
    segment = new_segment(tmp_path, config=LogConfig(preallocate=True, segment_bytes=4096))
    path = tmp_path / segment.file_name
    assert path.stat().st_size == 4096
    add(segment, 1000, 1001)
    assert (path.stat().st_size, segment.find(segment.next_offset)) == (4096, None)

    assert segment.seal()

    assert path.stat().st_size == segment.size
    assert not segment.seal()


def test_a_batch_that_the_segment_cannot_have_is_damage(tmp_path: Path) -> None:
    """Its base offset lies before the segment, or too far behind: a flipped bit, which no CRC covers."""
    segment = new_segment(tmp_path)
    add(segment, 1000, 1001)
    good = (tmp_path / segment.file_name).read_bytes()
    for base_offset in (BASE - 1, BASE + (1 << 31)):
        (tmp_path / segment.file_name).write_bytes(base_offset.to_bytes(8, "big") + good[8:])

        with pytest.raises(Damaged, match=r"no batch begins at position 0 of 0{18}10\.log"):
            reopened(tmp_path).load()


def test_batches_that_run_into_the_next_segment_are_damage(tmp_path: Path) -> None:
    """An offset would be in two segments."""
    segment = new_segment(tmp_path)
    add(segment, 1000, 1001)

    reopened(tmp_path, next_offset=BASE + 4).load()
    with pytest.raises(Damaged, match="run into the next segment"):
        reopened(tmp_path, next_offset=BASE + 3).load()


def test_an_offset_behind_a_position_is_told_by_the_index(tmp_path: Path) -> None:
    """The nearest entry's, or the segment's end."""
    segment = new_segment(tmp_path)
    add(segment, *range(1000, 1010))
    size = segment.size // 10

    assert segment.offset_behind(0) == BASE + 5
    assert segment.offset_behind(2 * size + 1) == BASE + 9
    assert segment.offset_behind(segment.size) == segment.next_offset
