"""Pieces of answers, kept as bytes while what each tells of is the same.

Held by `broker`, used by `handlers.metadata`, which puts answers together of them: one a topic. Beside
`kept_answers`, which keeps whole answers, until anything changes.

Source: ours.
"""

from collections.abc import Hashable

_MOST_BYTES = 16 * 1024 * 1024
_AROUND_BYTES = 400
"""What a piece takes besides its bytes: the key, which is short, the mark, and the places of all three."""


class KeptPieces:
    """Bytes by what they tell of, each with a mark of the state that they tell."""

    def __init__(self) -> None:
        self._pieces: dict[Hashable, tuple[Hashable, bytes]] = {}
        self._size_bytes = 0

    def find(self, key: Hashable, mark: Hashable) -> bytes | None:
        """Give the piece kept under a key, if it was made of that state."""
        found = self._pieces.get(key)
        return found[1] if found is not None and found[0] == mark else None

    def keep(self, key: Hashable, mark: Hashable, piece: bytes) -> bytes:
        """Keep a piece, in the place of an older one; give it."""
        before = self._pieces.pop(key, None)
        if before is not None:
            self._size_bytes -= len(before[1]) + _AROUND_BYTES
        size_bytes = len(piece) + _AROUND_BYTES
        if self._size_bytes + size_bytes > _MOST_BYTES:
            self._pieces.clear()
            self._size_bytes = 0
        if size_bytes <= _MOST_BYTES:
            self._pieces[key] = mark, piece
            self._size_bytes += size_bytes
        return piece
