"""What a connection sends: requests as bytes, so many at a time.

What `take` gives is good until it is called again; a connection calls it when all of the last is sent.
"""

import struct
from collections.abc import Sequence
from typing import Protocol

from crc32c import crc32c

Bytes = bytes | bytearray | memoryview

_CRC_POSITION, _ATTRIBUTES_POSITION = 17, 21
_PRODUCER_POSITION, _SEQUENCE_POSITION = 43, 53
_SEQUENCES = 2**31


class Requests(Protocol):
    """The requests of one connection, without end."""

    def take(self, count: int) -> Bytes:
        """Give the next `count` requests, one behind the other."""
        ...


class Same:
    """The same bytes each time; `most` is the largest count that `take` will be asked for."""

    def __init__(self, request: bytes, most: int) -> None:
        self._request, self._most = request, most
        self._joined = b""

    def take(self, count: int) -> Bytes:
        if not self._joined:  # not before it is in the process that sends it
            self._joined = self._request * self._most
        return memoryview(self._joined)[: count * len(self._request)]


class InTurn:
    """One request after the other, then again from the first."""

    def __init__(self, requests: Sequence[bytes], first: int = 0) -> None:
        self._requests = requests
        self._next = first

    def take(self, count: int) -> Bytes:
        begin, self._next = self._next, self._next + count
        size = len(self._requests)
        return b"".join([self._requests[index % size] for index in range(begin, begin + count)])


class Numbered:
    """An idempotent producer's: each request goes on where the last one's sequence numbers ended.

    `request` has `batch` in it once a partition. The batches get the producer's id and epoch 0.
    """

    def __init__(self, request: bytes, batch: bytes, producer_id: int, most: int) -> None:
        self._size = len(request)
        self._records = struct.unpack_from(">i", batch, 57)[0]
        self._joined = bytearray(request * most)
        self._places = _places(bytes(self._joined), batch, most)
        self._batch_bytes = len(batch)
        self._sequence = 0
        for places in self._places:
            for place in places:
                struct.pack_into(">qh", self._joined, place + _PRODUCER_POSITION, producer_id, 0)

    def take(self, count: int) -> Bytes:
        view = memoryview(self._joined)
        for places in self._places[:count]:
            for place in places:
                struct.pack_into(">i", view, place + _SEQUENCE_POSITION, self._sequence)
                checked = crc32c(view[place + _ATTRIBUTES_POSITION : place + self._batch_bytes])
                struct.pack_into(">I", view, place + _CRC_POSITION, checked)
            self._sequence = (self._sequence + self._records) % _SEQUENCES
        return view[: count * self._size]


def _places(joined: bytes, batch: bytes, requests: int) -> list[list[int]]:
    """Where the batches of each request begin."""
    found = []
    place = joined.find(batch)
    while place >= 0:
        found.append(place)
        place = joined.find(batch, place + len(batch))
    each = len(found) // requests
    assert each, "the request does not hold the batch"
    return [found[first : first + each] for first in range(0, len(found), each)]
