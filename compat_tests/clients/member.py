"""A consumer in a process of its own, so that a story can end it without a farewell.

Called by the adapters of Python clients; runs the same adapter on the other side of a pipe.
Rejected: closing the client's sockets from inside. No client offers it, and each would need its own
private way; SIGKILL is what a dying process looks like to a broker.
Source: none.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

from compat_tests.clients.adapter import (
    DEADLINE_SECONDS,
    Client,
    Consumer,
    ConsumerSettings,
    Partition,
    Rebalance,
    Received,
    Start,
)


def _serve(pipe: Connection, client_class: type[Client], bootstrap: str, settings: ConsumerSettings) -> None:
    client = client_class(bootstrap)
    consumer: Consumer = client.consumer(settings)
    pipe.send(None)
    while True:
        method, arguments = pipe.recv()
        pipe.send(getattr(consumer, method)(*arguments))
        if method == "close":
            client.close()
            return


class MemberProcess:
    """The `MortalConsumer` of every Python client: each call crosses the pipe and waits for its answer."""

    def __init__(self, client_class: type[Client], bootstrap: str, settings: ConsumerSettings) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, client_class, bootstrap, settings), daemon=True
        )
        self._process.start()
        theirs.close()
        self._answer("open", DEADLINE_SECONDS)

    # The answer's type is that of the method called, which only the caller knows.
    def _answer(self, method: str, timeout_seconds: float) -> Any:
        if not self._pipe.poll(timeout_seconds):
            raise TimeoutError(f"the member process did not answer {method} in {timeout_seconds} s")
        return self._pipe.recv()

    def _ask(self, method: str, *arguments: object) -> Any:
        self._pipe.send((method, arguments))
        return self._answer(method, DEADLINE_SECONDS)

    def assign(self, topic: str, starts: Mapping[int, Start]) -> None:
        self._ask("assign", topic, dict(starts))

    def subscribe(self, topics: Sequence[str]) -> None:
        self._ask("subscribe", list(topics))

    def subscribe_pattern(self, pattern: str) -> None:
        self._ask("subscribe_pattern", pattern)

    def assignment(self) -> set[Partition]:
        found: set[Partition] = self._ask("assignment")
        return found

    def rebalances(self) -> list[Rebalance]:
        found: list[Rebalance] = self._ask("rebalances")
        return found

    def poll(self, timeout_seconds: float) -> list[Received]:
        received: list[Received] = self._ask("poll", timeout_seconds)
        return received

    def seek(self, partition: Partition, start: Start) -> None:
        self._ask("seek", partition, start)

    def position(self, partition: Partition) -> int:
        return int(self._ask("position", partition))

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._ask("pause", list(partitions))

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._ask("resume", list(partitions))

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        self._ask("commit", dict(offsets))

    def committed(self, partition: Partition) -> int | None:
        offset: int | None = self._ask("committed", partition)
        return offset

    def beginning_offset(self, partition: Partition) -> int:
        return int(self._ask("beginning_offset", partition))

    def end_offset(self, partition: Partition) -> int:
        return int(self._ask("end_offset", partition))

    def offset_for_time(self, partition: Partition, timestamp_ms: int) -> int | None:
        offset: int | None = self._ask("offset_for_time", partition, timestamp_ms)
        return offset

    def close(self) -> None:
        if self._process.is_alive():
            self._ask("close")
        self._end()

    def kill(self) -> None:
        self._process.kill()
        self._end()

    def freeze(self) -> None:
        os.kill(self._process_id, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._process_id, signal.SIGCONT)

    @property
    def _process_id(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def _end(self) -> None:
        self._process.join()
        self._pipe.close()
