"""One member of the soak, in a process of its own: reads, tells what it read, commits; until told to leave.

Started by `crew`; runs the adapter of a client. What it tells is in the pipe before it commits, so that a
kill at any point takes nothing from the ledger that was committed.
Source: none.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from compat_tests.clients.adapter import Client, Consumer, ConsumerSettings, Place, Received

PRELOADED = [
    f"compat_tests.clients.{name}" for name in ("confluent", "kafka_python", "aiokafka_client", "java_client")
]
POLL_SECONDS = 0.2
START_SECONDS = 60.0
LEAVE_SECONDS = 30.0
STANDARD_ERROR = 2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told:
    """What a member says after each poll."""

    read: tuple[Place, ...]
    holds: bool
    """Whether any partition is its own."""
    refused: str | None = None
    """What its client raised, if it did; the member goes on."""


@dataclass(frozen=True, slots=True)
class Post:
    """What a member is to be."""

    client_class: type[Client]
    bootstrap: str
    settings: ConsumerSettings
    topic: str
    log: Path
    """Where its client may say what it likes: that the broker is gone, forty times a second."""


class MemberProcess:
    """The crew's end."""

    def __init__(self, post: Post) -> None:
        context = multiprocessing.get_context("forkserver")
        # So that a member costs a fork, and not the import of its library.
        context.set_forkserver_preload(PRELOADED)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_live, args=(theirs, post), daemon=True)
        self._process.start()
        theirs.close()

    def told(self, timeout_seconds: float) -> Told | None:
        """What it says next; None when it says nothing in that time, or has ended."""
        try:
            if not self._pipe.poll(timeout_seconds):
                return None
            told: Told = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            return None
        return told

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def leave(self) -> None:
        """Let it close its consumer; what it tells until it has ended can still be heard."""
        with contextlib.suppress(BrokenPipeError):  # it has ended already, which is told by `is_alive`
            self._pipe.send("leave")

    def kill(self) -> None:
        """End it at once: the group is not told."""
        self._process.kill()

    def ended(self) -> bool:
        """Wait for its end, and whether it came by itself in time."""
        self._process.join(LEAVE_SECONDS)
        in_time = not self._process.is_alive()
        if not in_time:
            self._process.kill()
            self._process.join()
        self._pipe.close()
        return in_time


def _live(pipe: Connection, post: Post) -> None:
    with post.log.open("ab") as log:
        os.dup2(log.fileno(), STANDARD_ERROR)
    client, consumer = _opened(post)
    while not pipe.poll():
        _step(pipe, consumer)
    consumer.close()
    client.close()


def _step(pipe: Connection, consumer: Consumer) -> None:
    records, refused = _tried(lambda: consumer.poll(POLL_SECONDS))
    read = tuple((each.partition, each.offset) for each in records or ())
    pipe.send(Told(read, _holds(consumer), refused))
    if records:
        offsets = _behind(records)
        _, refused = _tried(lambda: consumer.commit(offsets))
        if refused is not None:
            pipe.send(Told((), _holds(consumer), refused))


def _opened(post: Post) -> tuple[Client, Consumer]:
    """A consumer that has subscribed; where the broker is just being started again, on a later try."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        opened, refused = _tried(lambda: _subscribed(post))
        if opened is not None:
            return opened
        if time.monotonic() > deadline:
            raise RuntimeError(refused)
        time.sleep(POLL_SECONDS)


def _subscribed(post: Post) -> tuple[Client, Consumer]:
    client = post.client_class(post.bootstrap)
    consumer = client.consumer(post.settings)
    consumer.subscribe([post.topic])
    return client, consumer


def _tried(act: Callable[[], T]) -> tuple[T | None, str | None]:
    """What a client's call gives, or what it raised.

    Whatever it raised: five libraries have no error in common, and one that a call ends with (a rebalance, a
    broker that is down) is not yet a fault. The judge looks at what was read and when.
    """
    try:
        return act(), None
    except Exception as error:  # noqa: BLE001  # see above
        return None, f"{type(error).__name__}: {error}"


def _holds(consumer: Consumer) -> bool:
    held, _ = _tried(consumer.assignment)
    return bool(held)


def _behind(records: Sequence[Received]) -> dict[tuple[str, int], int]:
    """The offset behind the last record of each partition."""
    return {(each.topic, each.partition): each.offset + 1 for each in records}
