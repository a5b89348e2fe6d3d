"""The loop of a client program: orders come in as lines, and each is answered by the seconds it took.

Called by the client programs in Python; `clients.py` is at the other end.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

MESSAGE = b"x" * 200
PREFETCH = 1000
"""Messages; of these sizes about 200 KB."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done now."""

    name: str
    """Of the topic or the queue."""
    count: int
    batch: int
    """Messages a request, where a client can put together several."""
    acks: int


def serve(produce: Callable[[Order], float], consume: Callable[[Order], float]) -> None:
    """Obey until the input ends: `produce NAME COUNT BATCH ACKS` or `consume NAME COUNT`."""
    for line in sys.stdin:
        what, name, *numbers = line.split()
        count, batch, acks = [*map(int, numbers), 1, 0][:3]
        seconds = (produce if what == "produce" else consume)(Order(name, count, batch, acks))
        print(seconds, flush=True)
