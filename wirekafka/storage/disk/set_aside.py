"""Sets files aside that are to go: renamed, so that no later start takes them for a log's.

Called by `segment`, `log` and `cleaning`. Whoever sets aside decides when the files are unlinked; what is
forgotten by that goes at the next start, which removes every file that is named so.

Source: Kafka's LocalLog.deleteSegmentFiles.
"""

import contextlib
from collections.abc import Iterable

from wirekafka.storage.disk.files import Files, unlink_if_there

DELETED_SUFFIX = ".deleted"


def set_aside(files: Files, paths: Iterable[str]) -> list[str]:
    """Rename those files that are there, all or none; give their new names. Raises OSError."""
    renamed: list[str] = []
    try:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                files.rename(path, path + DELETED_SUFFIX)
                renamed.append(path + DELETED_SUFFIX)
    except OSError:
        _take_back(files, renamed)
        raise
    return renamed


def _take_back(files: Files, renamed: list[str]) -> None:
    """Give files their names again, the last first, as far as that is possible."""
    with contextlib.suppress(OSError):  # what keeps its new name is removed by the next start
        for path in reversed(renamed):
            files.rename(path, path.removesuffix(DELETED_SUFFIX))


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
