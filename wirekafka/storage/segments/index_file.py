"""Writes the entries of an index to its file, piece by piece.

Called for each of a segment's three indexes.

Source: Kafka's AbstractIndex, which maps the file into memory instead.
"""

from typing import Protocol

from wirekafka.storage.disk.files import Files, OpenFile


class Index(Protocol):
    """Entries of one size, to which others are added."""

    def __len__(self) -> int:
        """How many entries there are."""

    def encode(self, first_entry: int = 0) -> bytes:
        """The entries from the `first_entry`th on, as they stand in the file."""


def write_index(files: Files, path: str, index: Index, *, entry_bytes: int, written: int | None) -> int:
    """Write the entries that the file lacks, which has the first `written`; None: anew. Give their number."""
    count = len(index)
    if written != count:
        file = OpenFile(files, path, create=True, truncate=written is None)
        first = written or 0
        data = index.encode(first)
        if data:
            file.write(data, first * entry_bytes)
    return count
