"""Sets files aside that are to go: renamed, so that no later start takes them for a log's.

Called by `segment`, `log` and `cleaning`. Whoever sets aside decides when the files are unlinked; what is
forgotten by that goes at the next start, which removes every file that is named so.

Source: Kafka's LocalLog.deleteSegmentFiles.
"""

import contextlib
from collections.abc import Iterable

from wirekafka.storage.files import Files, unlink_if_there

DELETED_SUFFIX = ".deleted"


def set_aside(files: Files, paths: Iterable[str]) -> list[str]:
    """Rename those files that are there; give their new names. Raises OSError."""
    renamed = []
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            files.rename(path, path + DELETED_SUFFIX)
            renamed.append(path + DELETED_SUFFIX)
    return renamed


def unlink_set_aside(files: Files, paths: Iterable[str]) -> None:
    """Unlink files that were set aside; readers that hold them read on. Raises OSError."""
    for path in paths:
        unlink_if_there(files, path)
