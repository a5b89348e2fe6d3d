"""Runs work that unpacks batches in threads, a little at a time, and leaves nothing of it behind.

Called by `preparing` and `looking_up`, and by `fetching` for indexes. Each may unpack megabytes, so that only
a few run at once, and the others wait their turn. What such work raises is given back as a value, without
the frames it came through: trio raises it in a thread and again on the event loop, which ties it and its
frames, and so what is half unpacked, into a cycle that would stay until Python collects its oldest garbage.

Source: ours; Kafka's LogValidator works in the request's own thread.
"""

from collections.abc import Callable
from typing import TypeVar

import trio

from wirekafka.protocol.error_codes import KafkaError

T = TypeVar("T")

_AT_A_TIME = 2
_limiter: trio.lowlevel.RunVar[trio.CapacityLimiter] = trio.lowlevel.RunVar("unpacking")


async def run_unpacking(work: Callable[[], T]) -> T:
    """Give what `work` gives, called in a thread. Raises what it raises."""
    outcome = await trio.to_thread.run_sync(lambda: _outcome(work), limiter=_few_at_a_time())
    try:
        if isinstance(outcome, _Refusal):
            raise outcome.error
        return outcome
    finally:
        del outcome  # the error holds this frame, which is not to hold the error


class _Refusal:
    __slots__ = ("error",)

    def __init__(self, error: KafkaError | OSError) -> None:
        self.error = error


def _outcome(work: Callable[[], T]) -> T | _Refusal:
    try:
        return work()
    except (KafkaError, OSError) as error:
        # Those that it came of have frames too.
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return _Refusal(error)


def _few_at_a_time() -> trio.CapacityLimiter:
    """One for each trio run: brokers of one process do not wait for each other."""
    try:
        return _limiter.get()
    except LookupError:
        limiter = trio.CapacityLimiter(_AT_A_TIME)
        _limiter.set(limiter)
        return limiter
