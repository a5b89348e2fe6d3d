"""A filesystem of one's own in a file, whose power can be cut.

FS_IOC_SHUTDOWN stops every write there, the journal's too, as the end of the power does: what was not
synced is gone after the next mount. Needs root, loop devices and the mkfs of the kind. Used by `power`
and `disk_full`.
"""

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

_FS_IOC_SHUTDOWN = 0x8004587D
_NO_LOG_FLUSH = struct.pack("I", 2)
_UNMOUNT_SECONDS = 20.0
_MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-m", "0"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
}
_LEAST_MEBIBYTES = {"ext4": 8, "xfs": 320}


class Mount:
    """A mounted filesystem. Made by `mounted`."""

    def __init__(self, image: Path, point: Path) -> None:
        self._image, self.point = image, point

    def mount(self) -> None:
        _run("mount", "-o", "loop", str(self._image), str(self.point))

    def unmount(self) -> None:
        """Unmount; a process that has just died may hold it for a moment. Raises CalledProcessError."""
        deadline = time.monotonic() + _UNMOUNT_SECONDS
        while True:
            try:
                return _run("umount", str(self.point))
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def cut_power(self) -> None:
        """Nothing that is written from now on, or was not synced, is there after the next mount."""
        fd = os.open(self.point, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, _FS_IOC_SHUTDOWN, _NO_LOG_FLUSH)
        finally:
            os.close(fd)

    def free_bytes(self) -> int:
        return shutil.disk_usage(self.point).free


def not_possible(kind: str) -> str:
    """Why a filesystem of this kind cannot be mounted here; empty if it can."""
    if os.geteuid() != 0:
        return "needs root, to mount a filesystem"
    if not Path("/dev/loop-control").exists():
        return "needs loop devices"
    if shutil.which(_MKFS[kind][0]) is None:
        return f"needs {_MKFS[kind][0]}"
    return ""


@contextlib.contextmanager
def mounted(folder: Path, kind: str, *, mebibytes: int) -> Iterator[Mount]:
    """Make a filesystem in a file of `folder` and mount it beside; both are gone in the end."""
    image, point = folder / f"{kind}.image", folder / f"{kind}.mount"
    with image.open("wb") as file:
        file.truncate(max(mebibytes, _LEAST_MEBIBYTES[kind]) << 20)
    _run(*_MKFS[kind], str(image))
    point.mkdir()
    mount = Mount(image, point)
    mount.mount()
    try:
        yield mount
    finally:
        mount.unmount()
        point.rmdir()
        image.unlink()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
