"""A segment's index of aborted transactions: those whose markers lie in the segment.

Owned by `segment`, filled when an abort marker is appended or replayed, written out with the other indexes.
A fetch that is to show only what is committed is told by it which transactions to leave out. On disk 34
bytes an entry; the file is there only once there is an entry.

Source: Kafka's TransactionIndex and its AbortedTxn schema, version 0.
"""

import errno
import struct
from collections.abc import Iterable
from typing import NamedTuple

from wirekafka.storage.disk.files import Files, read_file, unlink_if_there
from wirekafka.storage.segments.index_file import write_index
from wirekafka.storage.segments.scan import Damaged

SUFFIX = ".txnindex"
_VERSION = 0
_ENTRY = struct.Struct(">hqqqq")
ENTRY_BYTES = _ENTRY.size


class AbortedTransaction(NamedTuple):
    """A transaction from its first record to its marker; `last_stable_offset` is that after the abort."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """Aborted transactions in the order of their markers. The file is read when first asked for."""

    __slots__ = ("_entries", "_files", "_stem", "written")

    def __init__(self, files: Files, stem: str, *, is_new: bool) -> None:
        self._files = files
        self._stem = stem
        self._entries: list[AbortedTransaction] | None = [] if is_new else None
        self.written: int | None = 0
        """How many entries the file has; None when it is to be written anew."""

    def load(self) -> None:
        """Read the file, unless that is done. Raises Damaged, OSError."""
        self._loaded()

    def all(self) -> list[AbortedTransaction]:
        """Give every entry. Raises Damaged, OSError."""
        return list(self._loaded())

    def add(self, aborted: AbortedTransaction) -> None:
        """Add an entry behind all others. Raises Damaged, OSError."""
        self._loaded().append(aborted)

    @property
    def is_known_to_be_empty(self) -> bool:
        """Whether there is no entry, as it is of most segments; False as long as the file is not read."""
        return self._entries is not None and not self._entries

    def reset(self) -> None:
        """Forget every entry; the file is to be written anew."""
        self.replace([])

    def replace(self, transactions: list[AbortedTransaction]) -> None:
        """Take these for all there are; the file is to be written anew."""
        self._entries, self.written = transactions, None

    def collect(self, from_offset: int, up_to_offset: int, into: list[AbortedTransaction]) -> bool:
        """Add those that touch a range of offsets; whether no later segment can have another.

        Raises Damaged, OSError.
        """
        for aborted in self._loaded():
            if aborted.last_offset >= from_offset and aborted.first_offset < up_to_offset:
                into.append(aborted)
            if aborted.last_stable_offset >= up_to_offset:
                return True
        return False

    def write(self) -> None:
        """Write what the file lacks."""
        if self._entries is None:
            return
        if self.written is None and not self._entries:
            unlink_if_there(self._files, self._stem + SUFFIX)
            self.written = 0
        path = self._stem + SUFFIX
        self.written = write_index(self._files, path, self, entry_bytes=ENTRY_BYTES, written=self.written)

    def __len__(self) -> int:
        return len(self._loaded())

    def encode(self, first_entry: int = 0) -> bytes:
        """The entries from the `first_entry`th on, as they stand in the file."""
        return encode_aborted(self._loaded()[first_entry:])

    def _loaded(self) -> list[AbortedTransaction]:
        if self._entries is None:
            data = read_file(self._files, self._stem + SUFFIX) or b""
            entries = _decode(data)
            if entries is None:
                raise Damaged(errno.EIO, f"{self._stem.rpartition('/')[2]}{SUFFIX} is damaged")
            self._entries, self.written = entries, len(entries)
        return self._entries


def encode_aborted(transactions: Iterable[AbortedTransaction]) -> bytes:
    """The entries of aborted transactions, as they stand in a file."""
    return b"".join(_ENTRY.pack(_VERSION, *aborted) for aborted in transactions)


def _decode(data: bytes) -> list[AbortedTransaction] | None:
    if len(data) % ENTRY_BYTES:
        return None
    entries: list[AbortedTransaction] = []
    marked = -1
    for version, *fields in _ENTRY.iter_unpack(data):
        aborted = AbortedTransaction(*fields)
        if version != _VERSION or not marked < aborted.last_offset or aborted.first_offset < 0:
            return None
        marked = aborted.last_offset
        if aborted.first_offset >= marked or not 0 <= aborted.last_stable_offset <= marked + 1:
            return None
        entries.append(aborted)
    return entries
