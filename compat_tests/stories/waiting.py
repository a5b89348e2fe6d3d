"""Waiting for something to become true, within a deadline: no story sleeps and hopes.

Called by the stories; calls consumers' `poll`.
Source: none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from compat_tests.clients.adapter import (
    DEADLINE_SECONDS,
    Admin,
    BrokerError,
    Capability,
    Client,
    Code,
    Consumer,
    Received,
)

T = TypeVar("T")
CODECS = (Capability.GZIP, Capability.SNAPPY, Capability.LZ4, Capability.ZSTD)
POLL_SECONDS = 0.05


def codecs_of(client: type[Client] | Client) -> list[str]:
    """Give the codecs a client can write and read, `none` first."""
    return ["none", *(codec.value for codec in CODECS if codec not in client.not_supported)]


def read(consumer: Consumer, count: int) -> list[Received]:
    """Poll until at least `count` records have come; give all that came, fail at the deadline."""
    received: list[Received] = []
    poll_until([consumer], lambda: len(received) >= count, received)
    return received


def poll_until(
    consumers: Sequence[Consumer],
    reached: Callable[[], bool],
    received: list[Received] | None = None,
    *,
    poll_seconds: float = POLL_SECONDS,
) -> list[Received]:
    """Poll these consumers in turn until `reached()`; give what they received, fail at the deadline.

    `received`, if given, is the list that grows, so that `reached` can look at it.
    """
    received = [] if received is None else received
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not reached():
        if time.monotonic() > deadline:
            held = [sorted(consumer.assignment()) for consumer in consumers]
            raise AssertionError(f"not reached in time; {len(received)} received; assignments {held}")
        for consumer in consumers:
            received += consumer.poll(poll_seconds)
    return received


def eventually(probe: Callable[[], T]) -> T:
    """Ask until the answer is true, for what a broker may let a moment pass before it shows."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (answer := probe()):
        if time.monotonic() > deadline:
            raise AssertionError(f"the answer stayed {answer!r}")
        time.sleep(0.02)
    return answer


def partitions_of(admin: Admin, topic: str) -> set[int]:
    """Give the partitions the broker describes; none where it does not know the topic."""
    try:
        return admin.describe_topic(topic)
    except BrokerError as error:
        if error.code != Code.UNKNOWN_TOPIC_OR_PARTITION:
            raise
        return set()


def code_of(call: Callable[[], object]) -> int:
    """Give the error code with which the broker refuses a call; 0 where it does not."""
    try:
        call()
    except BrokerError as error:
        return error.code
    return 0


def refusal_while_polling(consumers: Sequence[Consumer]) -> int:
    """Poll these consumers until the broker refuses one of them something; give the error code."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        for consumer in consumers:
            try:
                consumer.poll(POLL_SECONDS)
            except BrokerError as error:
                return error.code
    raise AssertionError("nobody was refused anything in time")


def values(received: Iterable[Received]) -> list[bytes | None]:
    """Give the values in the order of arrival."""
    return [record.value for record in received]
