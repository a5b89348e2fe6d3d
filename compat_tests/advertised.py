"""Which requests a broker advertises: ApiVersions v0, asked and read by hand.

Called by `conftest`, to tell what the broker under test does not offer from what it does wrong.
Source: the Kafka protocol guide, ApiVersions v0.
"""

from __future__ import annotations

import socket
import struct

CONSUMER_GROUP_HEARTBEAT = 68

_REQUEST = struct.pack(">hhih", 18, 0, 1, -1)


def advertised_keys(bootstrap: str) -> frozenset[int]:
    """Give the keys of all requests that the broker says it answers."""
    host, _, port = bootstrap.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock, sock.makefile("rb") as answer:
        sock.sendall(struct.pack(">i", len(_REQUEST)) + _REQUEST)
        (length,) = struct.unpack(">i", answer.read(4))
        frame = answer.read(length)
    _, error_code, count = struct.unpack_from(">ihi", frame)
    if error_code:
        raise ConnectionError(f"{bootstrap} answers ApiVersions v0 with error {error_code}")
    return frozenset(struct.unpack_from(">h", frame, 10 + 6 * index)[0] for index in range(count))
