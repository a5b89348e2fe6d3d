"""The body of a Produce answer without errors, written by hand for the versions of today's clients.

Called by `handlers.produce`. The quick twin of the compiled codec of ProduceResponse, to which tests hold it:
three of a partition's fields are told, and all of them are one call of `struct`.

v9 to v12: topics go by name. v13: by id. Earlier versions are left to the codec.

Source: Kafka's ProduceResponse.json; KIP-482 (compact forms).
"""

import struct
from collections.abc import Sequence

from wirekafka.protocol.compiler import varint_bytes

OLDEST, NEWEST = 9, 13
"""The versions that can be written here."""

_PARTITION = struct.Struct(">ihqqqBBB")
_pack_partition = _PARTITION.pack
_NO_TIME = -1
_NO_TAGS = b"\0"
_NO_THROTTLE = bytes(4)

Told = tuple[int, int, int]
"""Of one partition: its index, the base offset that its batch got, and the log's start offset."""


def plain_body(topics: Sequence[tuple[bytes | str, Sequence[Told]]]) -> bytes:
    """The body that tells where every batch went. A topic is a name or an id."""
    parts = [varint_bytes(len(topics) + 1)]
    for topic, partitions in topics:
        if isinstance(topic, str):
            name = topic.encode()
            parts.append(varint_bytes(len(name) + 1))
            parts.append(name)
        else:
            parts.append(topic)
        parts.append(varint_bytes(len(partitions) + 1))
        parts += [
            _pack_partition(index, 0, base_offset, _NO_TIME, start_offset, 1, 0, 0)
            for index, base_offset, start_offset in partitions
        ]
        parts.append(_NO_TAGS)
    parts.append(_NO_THROTTLE + _NO_TAGS)
    return b"".join(parts)
