"""Tests of storage.disk.open_files."""

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wirekafka.storage.disk.files import FILES, Files
from wirekafka.storage.disk.open_files import OpenFiles


class FewDescriptors(Files):
    """Has so many descriptors and no more."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def open(self, path: str, *, create: bool = False, truncate: bool = False) -> int:
        if not self.left:
            raise OSError(errno.EMFILE, "too many open files")
        self.left -= 1
        return super().open(path, create=create, truncate=truncate)

    def close(self, fd: int) -> None:
        self.left += 1
        super().close(fd)


def test_a_file_is_opened_once(tmp_path: Path) -> None:
    """The second who asks gets the same."""
    open_files = OpenFiles(FILES)

    first = open_files.get(str(tmp_path / "a"), create=True)

    assert open_files.get(str(tmp_path / "a")) is first


def test_a_missing_file_is_not_made_unasked(tmp_path: Path) -> None:
    """FileNotFoundError tells what is gone."""
    with pytest.raises(FileNotFoundError):
        OpenFiles(FILES).get(str(tmp_path / "a"))


def test_the_least_used_is_closed_first(tmp_path: Path) -> None:
    """What was asked for last stays."""
    files = FewDescriptors(10)
    open_files = OpenFiles(files, limit=2)
    for name in "ab":
        open_files.get(str(tmp_path / name), create=True)
    kept = open_files.get(str(tmp_path / "a"))

    open_files.get(str(tmp_path / "c"), create=True)

    assert (files.left, len(open_files)) == (8, 2)
    assert open_files.get(str(tmp_path / "a")) is kept


def test_who_reads_a_file_may_read_on(tmp_path: Path) -> None:
    """A slice on its way to a client outlives the cache's hold, and the file's name."""
    open_files = OpenFiles(FILES, limit=1)
    reading = open_files.get(str(tmp_path / "a"), create=True)
    reading.write(b"bytes", 0)

    open_files.get(str(tmp_path / "b"), create=True)
    (tmp_path / "a").unlink()

    assert reading.read(5, 0) == b"bytes"


def test_a_forgotten_name_is_opened_anew(tmp_path: Path) -> None:
    """After a rename the name means another file."""
    open_files = OpenFiles(FILES)
    before = open_files.get(str(tmp_path / "a"), create=True)

    open_files.forget(str(tmp_path / "a"))

    assert open_files.get(str(tmp_path / "a")) is not before


def test_without_descriptors_others_are_closed_for_it(tmp_path: Path) -> None:
    """EMFILE costs the least used files their descriptors, not the caller its request."""
    files = FewDescriptors(3)
    open_files = OpenFiles(files)
    for name in "abc":
        open_files.get(str(tmp_path / name), create=True)

    open_files.get(str(tmp_path / "d"), create=True)

    assert len(open_files) == 1


def test_without_descriptors_and_nothing_to_close_the_error_is_told(tmp_path: Path) -> None:
    """There is nothing to give up."""
    with pytest.raises(OSError, match="too many"):
        OpenFiles(FewDescriptors(0)).get(str(tmp_path / "a"), create=True)


def test_without_a_limit_it_is_half_of_what_the_process_may_have(tmp_path: Path) -> None:
    """And not more than 4,000: sockets want descriptors too."""

    class Limited(Files):
        def __init__(self, limit: int) -> None:
            self.limit = limit

        def descriptor_limit(self) -> int:
            return self.limit

    few, many = OpenFiles(Limited(8)), OpenFiles(Limited(1 << 20))
    for number in range(6):
        few.get(str(tmp_path / str(number)), create=True)

    assert len(few) == 4
    assert (few.limit, many.limit) == (4, 4000)


def test_a_file_that_is_asked_for_outlives_one_that_is_not(tmp_path: Path) -> None:
    """One asking lets it off once; two rounds without closes it."""
    open_files = OpenFiles(FILES, limit=2)
    kept = open_files.get(str(tmp_path / "a"), create=True)
    for name in "bcd":
        open_files.get(str(tmp_path / name), create=True)
        assert open_files.get(str(tmp_path / "a")) is kept

    for name in "efg":
        open_files.get(str(tmp_path / name), create=True)

    assert open_files.get(str(tmp_path / "a")) is not kept


def test_a_file_closed_with_unsynced_bytes_is_remembered(tmp_path: Path) -> None:
    """Also when somebody else writes to it after it was closed here; a synced one needs no remembering."""
    open_files = OpenFiles(FILES, limit=1)
    written = open_files.get(str(tmp_path / "a"), create=True)
    open_files.get(str(tmp_path / "b"), create=True).write(b"x", 0)
    open_files.get(str(tmp_path / "b")).sync()
    open_files.get(str(tmp_path / "c"), create=True)
    assert open_files.closed_unsynced == set()

    written.write(b"x", 0)
    del written

    assert open_files.closed_unsynced == {str(tmp_path / "a")}


def test_what_is_forgotten_needs_no_sync(tmp_path: Path) -> None:
    """Its segment is deleted, or the log was closed after a flush."""
    open_files = OpenFiles(FILES, limit=1)
    open_files.get(str(tmp_path / "a"), create=True).write(b"x", 0)
    open_files.get(str(tmp_path / "b"), create=True).write(b"x", 0)

    open_files.forget(str(tmp_path / "a"))
    open_files.forget(str(tmp_path / "b"))

    assert (len(open_files), open_files.closed_unsynced) == (0, set())


def test_it_may_be_used_from_several_threads(tmp_path: Path) -> None:
    """Each gets a file that is open, and no descriptor is left behind."""
    files = FewDescriptors(50)
    open_files = OpenFiles(files, limit=3)
    names = [str(tmp_path / str(number)) for number in range(8)]
    for name in names:
        Path(name).write_bytes(name.encode())

    def read(seed: int) -> None:
        for step in range(400):
            name = names[(step * seed) % 8]
            if step % 50 == 49:
                open_files.forget(name)
            assert open_files.get(name).read(200, 0) == name.encode()

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(read, seed) for seed in (1, 3, 5, 7)]:
            done.result()

    assert files.left == 50 - len(open_files) == 47
