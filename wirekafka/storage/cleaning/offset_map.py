"""The newest offset of every key in a stretch of a log, in bounded memory.

Filled by `gathering`, asked by `filtering`. A key is kept as a digest of 16 bytes. Kafka's is MD5, of which
two keys with the same digest can be made on purpose, so that one would be dropped for the other; ours is
BLAKE2b.

Source: Kafka's SkimpyOffsetMap; log.cleaner.dedupe.buffer.size and log.cleaner.io.buffer.load.factor.
"""

from hashlib import blake2b

NOWHERE = -1
_DIGEST_BYTES = 16
BYTES_AN_ENTRY = 200
"""What one costs here, at most: digest, offset, and its share of a dict that is growing."""


class OffsetMap:
    """Key to newest offset, up to `latest_offset`; takes as many keys as `buffer_bytes` have room for."""

    __slots__ = ("_most", "_offsets", "latest_offset")

    def __init__(self, buffer_bytes: int, load_factor: float = 0.9) -> None:
        self._most = max(1, int(buffer_bytes // BYTES_AN_ENTRY * load_factor))
        self._offsets: dict[bytes, int] = {}
        self.latest_offset = NOWHERE
        """The last offset that was looked at; records behind it are none of the map's business."""

    def __len__(self) -> int:
        return len(self._offsets)

    def put(self, key: bytes, offset: int) -> bool:
        """Note the newest offset of a key; False when there is no room for it."""
        digest = blake2b(key, digest_size=_DIGEST_BYTES).digest()
        if len(self._offsets) >= self._most and digest not in self._offsets:
            return False
        self._offsets[digest] = self.latest_offset = offset
        return True

    def newest(self, key: bytes) -> int:
        """The newest offset of a key; -1 when it was not seen."""
        return self._offsets.get(blake2b(key, digest_size=_DIGEST_BYTES).digest(), NOWHERE)
