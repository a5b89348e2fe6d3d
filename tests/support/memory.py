"""How much memory a call takes at its peak."""

import tracemalloc
from collections.abc import Callable

TRIES = 3


def least_peak_bytes(call: Callable[[], object]) -> int:
    """The least peak of a few calls: other threads of the test session allocate now and then, too."""
    peaks = []
    for _ in range(TRIES):
        tracemalloc.start()
        try:
            call()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)
