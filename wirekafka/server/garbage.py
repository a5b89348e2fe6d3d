"""When Python's collector of garbage may stop the broker, and for how long.

A collection of the oldest generation walks over every object there is: with 10,000 partitions some 300,000,
which takes a seventh of a second, and no request is answered meanwhile. Nearly all of them live as long as
the broker. So what has survived such a collection is put aside (`gc.freeze`, which takes no time), and the
next one walks only over what came since. As nothing is walked over twice, that may be done often, for a few
milliseconds each time. What was put aside and became garbage later, in a cycle that reference counts cannot
free, waits until everything is looked through again: that is done at a quiet moment, and so seldom that it
takes one part in two thousand of the time. The 99.9th percentile of latency does not see it, and no garbage
stays for ever.

`cli.serve` runs the broker so. `testing` does not: the process there is somebody else's, and so is its
collector.

Source: ours; the documentation of Python's gc for `freeze`. Kafka leaves this to G1 and its pause goal.
"""

import gc
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import trio

_OLDEST_GENERATION = 2
_YOUNGER_COLLECTIONS = 2
"""More of the generation before it than this make one due: after 24,000 new objects, instead of 85,000."""
_LEAST_SECONDS = 60.0
_PARTS_OF_TIME = 2000
"""What a walk over everything took is waited for so many times over before the next one."""
_QUIET_SECONDS = 1.0
_QUIET_SHARE = 0.05
"""A moment is quiet when less than this of a processor was used in the second before."""


@contextmanager
def survivors_put_aside() -> Iterator[None]:
    """In this block, put aside whatever has survived a collection of the oldest generation."""
    before = gc.get_threshold()
    gc.set_threshold(before[0], before[1], _YOUNGER_COLLECTIONS)
    gc.callbacks.append(_put_aside)
    try:
        yield
    finally:
        gc.callbacks.remove(_put_aside)
        gc.set_threshold(*before)
        gc.unfreeze()


def _put_aside(phase: str, collection: Mapping[str, int]) -> None:
    if phase == "stop" and collection["generation"] == _OLDEST_GENERATION:
        gc.freeze()


async def look_through_everything() -> None:
    """Put aside what there is, and from time to time collect the garbage among what is aside; forever.

    To be run within `survivors_put_aside`, once the data folder is open.
    """
    gc.freeze()
    took_seconds = 0.0
    while True:
        interval_seconds = max(_LEAST_SECONDS, took_seconds * _PARTS_OF_TIME)
        await trio.sleep(interval_seconds)
        with trio.move_on_after(interval_seconds):
            await _quiet_moment()
        took_seconds = _collect_all()


def _collect_all() -> float:
    """Collect in all that there is; give the seconds that it took."""
    begun = time.perf_counter()
    gc.unfreeze()
    gc.collect()
    gc.collect()  # of nothing: Python puts off the next one until a quarter of what the last found is new
    return time.perf_counter() - begun


async def _quiet_moment() -> None:
    """Wait for a second in which little was done."""
    is_quiet = False
    while not is_quiet:
        used_before = time.process_time()
        await trio.sleep(_QUIET_SECONDS)
        is_quiet = time.process_time() - used_before < _QUIET_SHARE * _QUIET_SECONDS
