"""The only calls to the operating system for data files.

Everything in `storage` goes through a `Files`; a test hands in one that fails, tears or counts.
`OpenFile` completes short writes, `FileSlice` is what a fetch answers with. Errors are OSErrors here;
`Disk.storage_error` turns them into KAFKA_STORAGE_ERROR. A sync that failed is a `SyncFailed`: the kernel
calls pages clean after a failed write-back, so a second sync that succeeds would say nothing.

Source: none of Kafka's; POSIX, and Linux's fs/sync.c. Files are 0600 and folders 0700.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import resource

Data = bytes | bytearray | memoryview

TEMPORARY = ".tmp"
"""What the name of a file ends in that is to replace another, and is not whole yet."""

# macOS has the stronger of the two calls only.
_fdatasync = getattr(os, "fdatasync", os.fsync)
# With these a sync was not begun.
_NO_SYNC_YET = (errno.EMFILE, errno.ENFILE, errno.ENOENT, errno.ENOTDIR)


class SyncFailed(OSError):
    """What was written may be lost, and no later sync would tell."""


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

    def open_folder(self, path: str) -> int:
        """Open a folder, for `sync_filesystem`."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def sync_filesystem(self, fd: int) -> None:
        """Make everything last that was written to the filesystem of an open folder.

        One call for many files. It tells of every write-back that failed since the folder was opened, also
        of files that were closed and of errors that somebody else was told: each open file remembers how
        far it has seen its filesystem's errors (Linux 5.8: commit 735e4ae5ba28).
        """
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    @property
    def can_sync_filesystem(self) -> bool:
        """Whether there is a sync of a whole filesystem that tells of errors."""
        system = os.uname()
        return system.sysname == "Linux" and _version_of(system.release) >= (5, 8)

    def drop_cache(self, fd: int) -> None:
        """Forget what the page cache holds of a file, so that the next read tells what the disk has."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def size_of(self, path: str) -> int:
        return os.stat(path).st_size

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, fd: int, modified_ms: int) -> None:
        os.utime(fd, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

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

    def descriptor_limit(self) -> int:
        """How many files this process may have open."""
        return resource.getrlimit(resource.RLIMIT_NOFILE)[0]

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)

    def process_id(self) -> int:
        return os.getpid()


FILES = Files()


def _version_of(release: str) -> tuple[int, int]:
    found = re.match(r"(\d+)(?:\.(\d+))?", release)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


class OpenFile:
    """A file that stays open, and readable after its name is gone, until nobody holds this object."""

    __slots__ = ("_files", "_unsynced", "fd", "path", "used", "written")

    def __init__(
        self,
        files: Files,
        path: str,
        *,
        create: bool = False,
        truncate: bool = False,
        unsynced: set[str] | None = None,
    ) -> None:
        self.fd = -1
        self._files = files
        self._unsynced = unsynced
        self.path = path
        self.used = False
        """Set by whoever keeps it open for several, when somebody asks for it."""
        self.written = False
        """Whether anything was written since the last sync."""
        self.fd = files.open(path, create=create, truncate=truncate)

    def __del__(self) -> None:
        # A failed close tells nothing that the next sync does not; `unsynced` remembers that one is due.
        if self.fd >= 0:
            if self.written and self._unsynced is not None:
                self._unsynced.add(self.path)
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
        try:
            written = self._files.pwrite(self.fd, data, position)
            if written == len(data):
                return
            rest = memoryview(data)
            while written < len(rest):
                count = self._files.pwrite(self.fd, rest[written:], position + written)
                if count <= 0:
                    raise OSError(errno.EIO, "a write made no progress")
                written += count
        finally:
            self.written = True  # after the calls: a sync that began during one need not cover it

    def truncate(self, length: int) -> None:
        self._files.ftruncate(self.fd, length)

    def sync(self) -> None:
        """Make what was written last. Raises SyncFailed."""
        self.written = False  # before the call: what is written during it is not covered
        try:
            self._files.fdatasync(self.fd)
        except OSError as error:
            raise SyncFailed(*error.args) from error

    def drop_cache(self) -> None:
        """Let later reads come from the disk, as far as what was written is there."""
        self._files.drop_cache(self.fd)

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

    Without `sync` that is said of a crash of the process only. Raises SyncFailed, OSError: then the old
    one is still there.
    """
    temporary = path + TEMPORARY
    try:
        write_file(files, temporary, data, sync=sync)
        files.rename(temporary, path)
    except OSError:
        # Space on a full disk is not left to a file that nobody reads.
        with contextlib.suppress(OSError):
            files.unlink(temporary)
        raise
    if sync:
        sync_names(files, path.rpartition("/")[0])


def sync_names(files: Files, path: str) -> None:
    """Make the names in a folder last. Raises SyncFailed, or another OSError when it could not be opened."""
    try:
        files.sync_folder(path)
    except OSError as error:
        if error.errno in _NO_SYNC_YET:
            raise
        raise SyncFailed(*error.args) from error


def sync_file(files: Files, path: str) -> None:
    """Make a file last that is not held open. Raises SyncFailed, FileNotFoundError."""
    OpenFile(files, path).sync()


def unlink_if_there(files: Files, path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        files.unlink(path)


def remove_folder_and_files(files: Files, path: str) -> None:
    """Remove a folder that holds only files."""
    for name in files.list_folder(path):
        unlink_if_there(files, f"{path}/{name}")
    files.remove_folder(path)
