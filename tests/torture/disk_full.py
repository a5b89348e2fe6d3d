"""A load on a small disk that fills up, and gets room again.

`fill_up` and `make_room` move a ballast file; the producers retry all the while, as librdkafka does with a
retriable error. Used by `test_disk_full`.
"""

import errno
import os
from pathlib import Path

_PIECE = bytes(1 << 20)


class Ballast:
    """A file that takes the room that is left."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def fill_up(self) -> None:
        """Write until not a byte more goes in."""
        with self._path.open("ab", buffering=0) as file:
            size = len(_PIECE)
            while size:
                try:
                    file.write(_PIECE[:size])
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    size //= 2

    def make_room(self) -> None:
        os.unlink(self._path)
