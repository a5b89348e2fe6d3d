"""Tests of storage.disk.files."""

import contextlib
import errno
import os
from pathlib import Path

import pytest

from wirekafka.storage.disk.files import (
    FILES,
    Data,
    Files,
    FileSlice,
    OpenFile,
    SyncFailed,
    read_file,
    remove_folder_and_files,
    replace_file,
    sync_names,
    write_file,
)


class SlowFiles(Files):
    """Writes and reads three bytes at a time."""

    def pwrite(self, fd: int, data: bytes | bytearray | memoryview, position: int) -> int:
        return super().pwrite(fd, bytes(data)[:3], position)

    def pread(self, fd: int, length: int, position: int) -> bytes:
        return super().pread(fd, min(length, 3), position)


class StuckFiles(Files):
    """Writes nothing, and does not say why."""

    def pwrite(self, fd: int, data: bytes | bytearray | memoryview, position: int) -> int:
        return 0


def test_short_writes_and_reads_are_completed(tmp_path: Path) -> None:
    """The system may do less than it was asked to; the rest is asked for again."""
    file = OpenFile(SlowFiles(), str(tmp_path / "f"), create=True)

    file.write(b"0123456789", 2)

    assert file.read(20, 0) == b"\0\0" + b"0123456789"
    assert file.read(4, 5) == b"3456"


def test_a_write_without_progress_is_an_error(tmp_path: Path) -> None:
    """Asking forever would hang the broker."""
    file = OpenFile(StuckFiles(), str(tmp_path / "f"), create=True)

    with pytest.raises(OSError, match="no progress") as caught:
        file.write(b"x", 0)

    assert caught.value.errno == errno.EIO


def test_a_slice_outlives_the_files_name(tmp_path: Path) -> None:
    """A fetch that is being answered reads on when its segment is deleted meanwhile."""
    path = tmp_path / "f"
    path.write_bytes(b"0123456789")
    piece = FileSlice(OpenFile(FILES, str(path)), 2, 5)
    path.unlink()

    assert (len(piece), piece.position) == (5, 2)
    assert piece.read() == b"23456"
    assert (piece.read(1, 2), piece.read(4, 100), piece.read(5)) == (b"34", b"6", b"")
    assert os.pread(piece.fileno(), 3, piece.position) == b"234"


def test_a_file_closes_when_its_last_slice_goes(tmp_path: Path) -> None:
    """Nobody has to remember to close it."""
    piece = FileSlice(OpenFile(FILES, str(tmp_path / "f"), create=True), 0, 0)
    fd = piece.fileno()
    os.fstat(fd)

    del piece

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_a_missing_file_reads_as_none(tmp_path: Path) -> None:
    """Small files that may not be there yet."""
    assert read_file(FILES, str(tmp_path / "f")) is None


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """A shorter text leaves nothing of the longer one, and no temporary file."""
    path = tmp_path / "f"
    write_file(FILES, str(path), b"a long text")

    replace_file(FILES, str(path), b"short")

    assert path.read_bytes() == b"short"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_rewritten_file_is_cut(tmp_path: Path) -> None:
    """`write_file` leaves nothing of what was there."""
    path = tmp_path / "f"
    path.write_bytes(b"a long text")

    write_file(FILES, str(path), b"x", sync=True)

    assert path.read_bytes() == b"x"


def test_data_is_private(tmp_path: Path) -> None:
    """0600 and 0700: other users of the machine see nothing."""
    FILES.make_folder(str(tmp_path / "d"))
    write_file(FILES, str(tmp_path / "d" / "f"), b"")

    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "d" / "f").stat().st_mode & 0o777 == 0o600


def test_a_folder_goes_with_its_files(tmp_path: Path) -> None:
    """What a deleted partition leaves."""
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "f").write_bytes(b"x")

    remove_folder_and_files(FILES, str(folder))

    assert not folder.exists()


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    """The second to ask is told so, and gets it when the first has let go."""
    first = OpenFile(FILES, str(tmp_path / "f"), create=True)
    second = OpenFile(FILES, str(tmp_path / "f"))

    assert FILES.lock(first.fd)
    assert not FILES.lock(second.fd)
    del first
    assert FILES.lock(second.fd)


def test_the_filesystem_is_synced_by_one_call(tmp_path: Path) -> None:
    """Of an open folder; what is no filesystem is an error, not a silence."""
    folder = FILES.open_folder(str(tmp_path))
    FILES.sync_filesystem(folder)
    FILES.close(folder)

    with pytest.raises(OSError, match="Bad file descriptor"):
        FILES.sync_filesystem(folder)


@pytest.mark.parametrize(
    ("system", "release", "can"),
    [
        ("Linux", "5.8.0-1", True),
        ("Linux", "5.7.19", False),
        ("Linux", "6-rc", True),
        ("Linux", "custom", False),
        ("Darwin", "23.1", False),
    ],
)
def test_a_filesystem_is_synced_where_the_kernel_tells_of_errors(
    monkeypatch: pytest.MonkeyPatch, system: str, release: str, can: bool
) -> None:
    """Since Linux 5.8; before, syncfs said nothing of a failed write-back."""
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((system, "host", release, "", "")))

    assert FILES.can_sync_filesystem is can


def test_a_failed_sync_is_told_from_other_failures(tmp_path: Path) -> None:
    """After it nothing is known; after a folder that could not be opened everything is as it was."""

    class FailingSyncs(Files):
        def fdatasync(self, fd: int) -> None:
            raise OSError(errno.EIO, "lost")

        def sync_folder(self, path: str) -> None:
            raise OSError(errno.EMFILE if path == "full" else errno.EIO, "lost")

    file = OpenFile(FailingSyncs(), str(tmp_path / "f"), create=True)

    with pytest.raises(SyncFailed, match="lost"):
        file.sync()
    with pytest.raises(SyncFailed, match="lost"):
        sync_names(FailingSyncs(), "folder")
    with pytest.raises(OSError, match="lost") as caught:
        sync_names(FailingSyncs(), "full")
    assert not isinstance(caught.value, SyncFailed)


def test_a_failed_replacement_leaves_the_old_file_alone(tmp_path: Path) -> None:
    """And no temporary file, which would take space on a full disk."""

    class FailingRename(Files):
        def rename(self, old: str, new: str) -> None:
            raise OSError(errno.ENOSPC, "full")

    path = tmp_path / "f"
    path.write_bytes(b"old")

    with pytest.raises(OSError, match="full"):
        replace_file(FailingRename(), str(path), b"new")

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("fails", [False, True])
def test_a_sync_during_a_write_need_not_cover_it(tmp_path: Path, fails: bool) -> None:
    """Another thread's may begin when the bytes are not in the page cache yet: one is still due."""

    class Slow(Files):
        def pwrite(self, fd: int, data: Data, position: int) -> int:
            file.sync()
            if fails:
                raise OSError(errno.ENOSPC, "full")
            return super().pwrite(fd, data, position)

    file = OpenFile(Slow(), str(tmp_path / "f"), create=True)

    with pytest.raises(OSError, match="full") if fails else contextlib.nullcontext():
        file.write(b"x", 0)

    assert file.written


def test_a_file_knows_whether_a_sync_is_due(tmp_path: Path) -> None:
    """And is remembered when it is closed before."""
    unsynced: set[str] = set()
    file = OpenFile(FILES, str(tmp_path / "f"), create=True, unsynced=unsynced)
    file.write(b"x", 0)
    assert file.written
    file.sync()
    assert not file.written
    del file
    assert unsynced == set()

    file = OpenFile(FILES, str(tmp_path / "f"), unsynced=unsynced)
    file.write(b"x", 0)
    del file

    assert unsynced == {str(tmp_path / "f")}
