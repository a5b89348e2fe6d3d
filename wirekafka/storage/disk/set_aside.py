"""Sets files aside that are to go: renamed, so that no later start takes them for a log's.

Used by whatever takes files out of a log, or folders out of the data folder. Whoever sets aside decides when
the files are unlinked; what is forgotten by that goes at the next start, which removes every file that is
named so.

Source: Kafka's LocalLog.deleteSegmentFiles.
"""

import contextlib
from collections.abc import Iterable

from wirekafka.storage.disk.files import Files, unlink_if_there

CLEANED, SWAP, DELETED = ".cleaned", ".swap", ".deleted"
"""What the names of files end in that the compactor is writing, that take the place of others, and that are
to go. A start finishes or undoes by them what was half done."""


def set_aside(files: Files, paths: Iterable[str]) -> list[str]:
    """Rename those files that are there, all or none; give their new names. Raises OSError."""
    renamed: list[str] = []
    try:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                files.rename(path, path + DELETED)
                renamed.append(path + DELETED)
    except OSError:
        _take_back(files, renamed)
        raise
    return renamed


def _take_back(files: Files, renamed: list[str]) -> None:
    """Give files their names again, the last first, as far as that is possible."""
    with contextlib.suppress(OSError):  # what keeps its new name is removed by the next start
        for path in reversed(renamed):
            files.rename(path, path.removesuffix(DELETED))


def unlink_set_aside(files: Files, paths: Iterable[str]) -> None:
    """Unlink files that were set aside; readers that hold them read on.

    Each is tried. Raises OSError, the first, if some are left.
    """
    failures: list[OSError] = []
    for path in paths:
        try:
            unlink_if_there(files, path)
        except OSError as error:
            failures.append(error)
    if failures:
        raise failures[0]
