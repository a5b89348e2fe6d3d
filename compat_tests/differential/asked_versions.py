"""Which versions of an API the scenarios ask at.

Called by the scenarios. Source: the ranges that both brokers advertise.
"""

from __future__ import annotations

from wirekafka.protocol.message import Message


def every(request: type[Message]) -> range:
    """Give all versions."""
    return request.versions.as_range()


def spread(request: type[Message], *also: int) -> list[int]:
    """Give the oldest, the middle and the newest version, and those where the form changes."""
    versions = every(request)
    return sorted({versions[0], versions[len(versions) // 2], versions[-1], *also})
