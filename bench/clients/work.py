"""What a stock client is told to do, and how its program is told: one JSON line each way.

A program of this folder imports its client once and then works off as many works as it is sent. Each is
told in two steps, so that what comes before the first record (import, connection, metadata) is not counted,
and several programs begin together: a line with the work, answered by `ready`; then a line `go`, answered by
a line with the outcome. Called by the programs (`work_off`) and by `fleet`.
"""

import dataclasses
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from instrument.processes import busiest_seconds, thread_seconds

READY, GO = "ready", "go"
PATIENCE_SECONDS = 60.0
"""A consumer that has got nothing for so long gives up."""
SILENT = {"log_level": 0}
"""librdkafka need not say that a broker which was ended is gone."""
_VALUES_BYTES = 4 * 1024 * 1024
"""More than a producer's batch, so that no batch has a value twice and packs too well."""
_CAPITALS = bytes(ord("A") + byte % 26 for byte in range(256))


@dataclass(frozen=True, slots=True)
class Work:
    """Records to be sent to a topic, or to be read from its start."""

    verb: str
    """`produce` or `consume`."""
    bootstrap: str
    topic: str
    records: int
    record_bytes: int
    partitions: int = 1
    acks: str = "all"
    compression: str = "none"
    together: int = 1
    """So many clients in one process, each of which does all this."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    records: int
    seconds: float
    cpu_seconds: float
    """Of all threads of the client's process."""
    busiest_seconds: float
    """Of that thread which used most: the client cannot be quicker, whatever the broker."""


Counted = Callable[[], None]
"""The part of a work that is timed."""
Prepare = Callable[[Work], AbstractContextManager[Counted]]
"""Connect; give what is timed; close."""


def work_off(verbs: dict[str, Prepare]) -> None:
    """Do what comes down standard input until it ends."""
    for line in sys.stdin:
        work = Work(**json.loads(line))
        with verbs[work.verb](work) as counted:
            wait_for_go()
            begun, used, threads = time.perf_counter(), time.process_time(), thread_seconds(os.getpid())
            counted()
            outcome = Outcome(
                work.records,
                time.perf_counter() - begun,
                time.process_time() - used,
                busiest_seconds(threads, thread_seconds(os.getpid())),
            )
        del counted  # and with it the client
        tell(outcome)


def wait_for_go() -> None:
    """Say that all is ready, and wait until the others are."""
    print(READY, flush=True)
    if sys.stdin.readline().strip() != GO:
        sys.exit("told nothing more")


def tell(outcome: Outcome) -> None:
    """Say what came of the work."""
    print(json.dumps(dataclasses.asdict(outcome)), flush=True)


def values(record_bytes: int) -> list[bytes]:
    """Random capitals, as kafka-producer-perf-test sends them, cut into values of one size."""
    text = random.Random(record_bytes).randbytes(max(_VALUES_BYTES, record_bytes)).translate(_CAPITALS)
    return [text[at : at + record_bytes] for at in range(0, len(text) - record_bytes + 1, record_bytes)]


def repeated(values: list[bytes], records: int) -> Iterable[bytes]:
    """So many of the values, from the first one again when they are over."""
    whole, rest = divmod(records, len(values))
    for _ in range(whole):
        yield from values
    yield from values[:rest]


class NothingComes(Exception):
    """A consumer waited in vain."""
