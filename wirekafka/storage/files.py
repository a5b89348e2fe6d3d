"""The only calls to the operating system for data files.

Everything in `storage` goes through a `Files`; a test hands in one that fails, tears or counts.
`OpenFile` completes short writes, `FileSlice` is what a fetch answers with. Errors are OSErrors here;
`log` and `directory` turn them into KAFKA_STORAGE_ERROR.

Source: none of Kafka's; POSIX. Files are 0600 and folders 0700.
"""

import contextlib
import ctypes
import errno
import fcntl
import os

Data = bytes | bytearray | memoryview

# macOS has the stronger of the two calls only.
_fdatasync = getattr(os, "fdatasync", os.fsync)


class Files:
    """The operating system, one method a call."""

    def open(self, path: str, *, create: bool = False, truncate: bool = False) -> int:
        """Open for reading and writing. Raises FileNotFoundError unless `create`."""
        flags = os.O_RDWR | (os.O_CREAT if create else 0) | (os.O_TRUNC if truncate else 0)
        return os.open(path, flags, 0o600)

    def close(self, fd: int) -> None:
        os.close(fd)

    def pread(self, fd: int, length: int, position: int) -> bytes:
        return os.pread(fd, length, position)

    def pwrite(self, fd: int, data: Data, position: int) -> int:
        return os.pwrite(fd, data, position)

    def ftruncate(self, fd: int, length: int) -> None:
        os.ftruncate(fd, length)

    def fdatasync(self, fd: int) -> None:
        _fdatasync(fd)

    def sync_filesystem(self, path: str) -> None:
        """Make everything last that was written to the filesystem of `path`: one call for many files."""
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "syncfs"):
            os.sync()
            return
        fd = os.open(path, os.O_RDONLY)
        try:
            if libc.syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
        finally:
            os.close(fd)

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def size_of(self, path: str) -> int:
        return os.stat(path).st_size

    def lock(self, fd: int) -> bool:
        """Take the exclusive lock of an open file; False when another process has it.

        The lock goes with the process, however that ends.
        """
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def make_folder(self, path: str) -> None:
        os.mkdir(path, 0o700)

    def make_folders(self, path: str) -> None:
        os.makedirs(path, 0o700, exist_ok=True)

    def remove_folder(self, path: str) -> None:
        os.rmdir(path)

    def list_folder(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def list_folders_in(self, path: str) -> list[str]:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))

    def sync_folder(self, path: str) -> None:
        """Make the names in a folder as durable as the files are."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)

    def process_id(self) -> int:
        return os.getpid()


FILES = Files()


class OpenFile:
    """A file that stays open, and readable after its name is gone, until nobody holds this object."""

    __slots__ = ("_files", "fd")

    def __init__(self, files: Files, path: str, *, create: bool = False, truncate: bool = False) -> None:
        self.fd = -1
        self._files = files
        self.fd = files.open(path, create=create, truncate=truncate)

    def __del__(self) -> None:
        # A failed close loses nothing: what had to last was synced, and said so, before.
        if self.fd >= 0:
            with contextlib.suppress(OSError):
                self._files.close(self.fd)

    def read(self, length: int, position: int) -> bytes:
        """Read `length` bytes, or as many as there are before the file's end."""
        data = self._files.pread(self.fd, length, position)
        while len(data) < length:
            more = self._files.pread(self.fd, length - len(data), position + len(data))
            if not more:
                break
            data += more
        return data

    def write(self, data: Data, position: int) -> None:
        """Write all of `data`, however many calls that takes."""
        written = self._files.pwrite(self.fd, data, position)
        if written == len(data):
            return
        rest = memoryview(data)
        while written < len(rest):
            count = self._files.pwrite(self.fd, rest[written:], position + written)
            if count <= 0:
                raise OSError(errno.EIO, "a write made no progress")
            written += count

    def truncate(self, length: int) -> None:
        self._files.ftruncate(self.fd, length)

    def sync(self) -> None:
        self._files.fdatasync(self.fd)

    def size(self) -> int:
        return self._files.size(self.fd)


class FileSlice:
    """A range of an open file, which stays readable for as long as the slice is held."""

    __slots__ = ("_length", "file", "position")

    def __init__(self, file: OpenFile, position: int, length: int) -> None:
        self.file = file
        self.position = position
        self._length = length

    def __len__(self) -> int:
        return self._length

    def fileno(self) -> int:
        """The descriptor, for sendfile from `position` on."""
        return self.file.fd

    def read(self, start: int = 0, length: int | None = None) -> bytes:
        """Read the slice, or `length` bytes of it from its byte `start` on."""
        rest = self._length - start
        return self.file.read(rest if length is None else min(length, rest), self.position + start)


def read_file(files: Files, path: str) -> bytes | None:
    """The whole of a small file; None when there is none."""
    try:
        file = OpenFile(files, path)
    except FileNotFoundError:
        return None
    return file.read(file.size(), 0)


def write_file(files: Files, path: str, data: Data, *, sync: bool = False) -> None:
    """Make a file of `data`, over an older one if there is one; a crash may leave a part of it."""
    file = OpenFile(files, path, create=True, truncate=True)
    file.write(data, 0)
    if sync:
        file.sync()


def replace_file(files: Files, path: str, data: Data, *, sync: bool = True) -> None:
    """Replace a file so that after any crash either the old or the new one is there, whole.

    Without `sync` that is said of a crash of the process only.
    """
    temporary = path + ".tmp"
    write_file(files, temporary, data, sync=sync)
    files.rename(temporary, path)
    if sync:
        files.sync_folder(path.rpartition("/")[0])


def unlink_if_there(files: Files, path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        files.unlink(path)


def remove_folder_and_files(files: Files, path: str) -> None:
    """Remove a folder that holds only files."""
    for name in files.list_folder(path):
        unlink_if_there(files, f"{path}/{name}")
    files.remove_folder(path)
