"""How does cost grow from an empty log to one of 20 GiB?

    python bench/growth_log.py [--rounds N] [--quick]

One broker with one partition that grows, in batches of 256 KiB whose timestamps are a millisecond apart, at
default settings: segments of 1 GiB. At each size, in every round, are measured the processor time of the
event loop for a batch appended, for a fetch of one batch at a random offset and for ListOffsets of a random
time; and the broker is stopped cleanly and started again: the time from exec to the first fetched record, the
processor time of all threads until then, and the memory resident.

The first size is 1 MiB: an empty log has nothing to fetch. What is beyond the machine's memory is read from
the disk, which costs the processor little, and is told as time beside: the median of the answers of a fetch.
"""

import os
import random
import statistics
import struct
import time
from collections.abc import Callable
from socket import socket

from crc32c import crc32c
from frames import (
    LIST_VERSION,
    check_fetched,
    check_produced,
    create_topic,
    fetch_frame,
    list_offsets_frame,
    produce_frame,
    receive_frame,
)
from frames import (
    ask as ask_frame,
)
from growing import FLAT, Curve, Growth, Plotted, connection, cost_us, pinned
from instrument.answers import Answer
from instrument.question import Options, Question, progress, run
from rivals import RunningBroker, start

from wirekafka.protocol.apis.list_offsets import ListOffsetsResponse
from wirekafka.protocol.records import RecordBatch

_SIZES_MIB, _QUICK_SIZES_MIB = (1, 100, 1_024, 4_096, 20_480), (1, 100, 2_048)
_BATCH_BYTES = 256 * 1024
_IN_FLIGHT = 16
_APPENDED, _LOOKED_UP = 64, 150
_FIRST_TIMESTAMP_MS = int(time.time() * 1000)
_BASE_TIMESTAMP_POSITION, _CRC_POSITION, _CRC_COVERS_FROM = 27, 17, 21
_MOST_BEHIND_BATCH = 8
_MIB = 1024 * 1024
_SETTINGS = {"log.retention.hours": -1}

APPEND = Curve("append of 256 KiB", "us of processor", FLAT)
FETCH = Curve("fetch at a random offset", "us of processor", FLAT)
LIST = Curve("ListOffsets of a random time", "us of processor", FLAT)
FETCH_TIME = Curve("fetch: median time of an answer", "us")
START = Curve("exec to first record", "s", FLAT)
START_CPU = Curve("processor time until then", "s", FLAT)
MEMORY = Curve("resident after a start", "MiB", FLAT)


class Filler:
    """Appends to the one log: batches that differ only in their timestamp."""

    def __init__(self) -> None:
        self._request = bytearray(produce_frame(_BATCH_BYTES))
        self._batch = memoryview(self._request)[_position_of_batch(self._request) :]
        self._space = bytearray(64 * 1024)
        self.records_a_batch = RecordBatch(self._batch).record_count
        self.batch_count = 0

    @property
    def mib(self) -> float:
        return self.batch_count * len(self._request) / _MIB

    def append(self, sock: socket, count: int) -> int:
        """Append so many batches, _IN_FLIGHT on the way at a time; give how many that was."""
        for n in range(count + _IN_FLIGHT):
            if n >= _IN_FLIGHT:
                receive_frame(sock, self._space)
            if n < count:
                sock.sendall(self._next())
        return count

    def check(self, sock: socket) -> None:
        """Append one, which must be taken."""
        check_produced(sock, bytes(self._next()))

    def fill(self, sock: socket, mib: int) -> None:
        """Append until the log has that size."""
        wanted = mib * _MIB // len(self._request) - self.batch_count
        if wanted > 0:
            self.append(sock, wanted)

    def random_offset(self) -> int:
        return random.randrange(self.batch_count * self.records_a_batch)

    def random_time_ms(self) -> int:
        return _FIRST_TIMESTAMP_MS + random.randrange(self.batch_count)

    def _next(self) -> bytearray:
        """The request with all records of the batch moved to the next millisecond."""
        timestamp_ms = _FIRST_TIMESTAMP_MS + self.batch_count
        struct.pack_into(">qq", self._batch, _BASE_TIMESTAMP_POSITION, timestamp_ms, timestamp_ms)
        size = RecordBatch(self._batch).size_in_bytes
        struct.pack_into(">I", self._batch, _CRC_POSITION, crc32c(self._batch[_CRC_COVERS_FROM:size]))
        self.batch_count += 1
        return self._request


def _position_of_batch(request: bytearray) -> int:
    """Where the batch begins: what stands behind it is a few bytes, so the size tells."""
    for position in range(len(request) - 17):
        if request[position + 16] == 2:  # the magic
            batch = RecordBatch(request, position)
            rest = len(request) - position - batch.size_in_bytes
            if batch.base_offset == 0 and 0 <= rest < _MOST_BEHIND_BATCH:
                return position
    raise ValueError("no batch in the request")


def ask(options: Options) -> Answer:
    """Let one log grow from size to size, and measure at each."""
    growth, filler = Growth("MiB of log"), Filler()
    for size in _QUICK_SIZES_MIB if options.quick else _SIZES_MIB:
        begun, before = time.perf_counter(), filler.mib
        with start("wirekafka", options.folder, _SETTINGS) as broker, connection(broker) as sock:
            if not before:
                create_topic(sock)
            filler.check(sock)
            filler.fill(sock, size)
            os.sync()  # by the stop, which has its time, little is left to write
        seconds = time.perf_counter() - begun
        progress(f"{size:,} MiB: {(filler.mib - before) / seconds:.0f} MiB a second written")
        for _ in range(options.rounds):
            with start("wirekafka", options.folder, _SETTINGS) as broker, connection(broker) as sock:
                _measure(growth, size, broker, sock, filler)
        progress(growth.told([APPEND, FETCH, LIST, START], size))
    requests = Plotted("requests", "A request as the log grows", [APPEND, FETCH, LIST])
    starts = Plotted("start", "A start as the log grows", [START, START_CPU])
    memory = Plotted("memory", "Memory as the log grows", [MEMORY])
    return growth.answer("Cost as the log grows", [requests, starts, memory])


def _measure(growth: Growth, size: int, broker: RunningBroker, sock: socket, filler: Filler) -> None:
    check_fetched(sock, fetch_frame(filler.random_offset(), _BATCH_BYTES), _BATCH_BYTES // 2)
    growth.add(START, size, time.perf_counter() - broker.exec_at)
    growth.add(START_CPU, size, broker.cpu_seconds())
    growth.add(MEMORY, size, broker.resident_mib())
    pinned(broker)
    _check_listed(sock, filler)
    fetches = [fetch_frame(filler.random_offset(), _BATCH_BYTES) for _ in range(_LOOKED_UP)]
    lists = [list_offsets_frame(filler.random_time_ms()) for _ in range(_LOOKED_UP)]
    for request in (*fetches, *lists):  # the first look into a segment reads its indexes
        _answered(sock, request)
    times: list[float] = []
    growth.add(FETCH, size, cost_us(broker, _timed(sock, fetches, times)))
    growth.add(FETCH_TIME, size, statistics.median(times) * 1e6)
    growth.add(LIST, size, cost_us(broker, _timed(sock, lists, [])))
    filler.append(sock, _IN_FLIGHT)
    growth.add(APPEND, size, cost_us(broker, lambda: filler.append(sock, _APPENDED)))


def _timed(sock: socket, requests: list[bytes], times: list[float]) -> Callable[[], int]:
    """Ask all, one after the other; put the time of each answer into `times`."""

    def work() -> int:
        for request in requests:
            begun = time.perf_counter()
            _answered(sock, request)
            times.append(time.perf_counter() - begun)
        return len(requests)

    return work


def _answered(sock: socket, request: bytes, space: bytearray = bytearray(2 * _BATCH_BYTES)) -> None:  # noqa: B008
    sock.sendall(request)
    receive_frame(sock, space)


def _check_listed(sock: socket, filler: Filler) -> None:
    """The broker finds the first record of the batch with that time."""
    number = random.randrange(filler.batch_count)
    request = list_offsets_frame(_FIRST_TIMESTAMP_MS + number)
    response = ask_frame(sock, request, ListOffsetsResponse, LIST_VERSION)
    found = response.topics[0].partitions[0]
    assert (found.error_code, found.offset) == (0, number * filler.records_a_batch), found


QUESTION = Question("growth_log", "How does cost grow with the log?", ask, minutes=1.6)

if __name__ == "__main__":
    run(QUESTION)
