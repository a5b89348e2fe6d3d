"""Does the size of a log matter? To find a record in it, and to append to it.

    python bench/log_size.py [--rounds N] [--quick]

One broker, a small log of 10 MiB and a large one of 10 GiB, of batches of 16 KiB whose timestamps are a
millisecond apart. To look up: a fetch of one batch at random offsets, and ListOffsets for random times, on
the small log and the large one in turn; the figure is the ratio of the times an answer takes. To append:
16 MiB each to a new log and to the large one, in turn; the figures are the ratios of processor time and of
time a MiB. The large log is in the page cache, as far as the machine's memory goes.
"""

import os
import random
import socket
import struct
import time
from collections.abc import Callable, Iterator

from crc32c import crc32c
from frames import (
    LIST_VERSION,
    RECORD_BYTES,
    ask,
    check_fetched,
    check_produced,
    create_topic,
    fetch_frame,
    list_offsets_frame,
    produce_frame,
    receive_frame,
)
from instrument.answers import Answer
from instrument.figures import Figure, ratios
from instrument.processes import pin_this_process
from instrument.question import Options, Question, progress, run
from servers import Server, start_broker

from wirekafka.protocol.apis.list_offsets import ListOffsetsResponse
from wirekafka.protocol.records import RecordBatch

LARGE_LOG_MIB = 10 * 1024
BATCH_BYTES = 16 * 1024
_SMALL_LOG_MIB = 10
_SEGMENTS_OF_LARGE = 10
_APPENDED_MIB = 16
_APPENDS_A_ROUND = 3
_LOOKUPS_A_TURN = 200
_IN_FLIGHT = 16
_PROGRESS_MIB = 1024
_FIRST_TIMESTAMP_MS = int(time.time() * 1000)
_MAX_LOOKUP_RATIO, _MAX_GROWTH = 1.5, 1.1
_BASE_TIMESTAMP_POSITION, _CRC_POSITION, _CRC_COVERS_FROM = 27, 17, 21


class Filler:
    """Appends to one log of a broker: batches that differ only in their timestamp."""

    def __init__(self, server: Server, topic: str) -> None:
        self.topic = topic
        self._sock = server.connect()
        self._space = bytearray(64 * 1024)
        request = produce_frame(BATCH_BYTES, topic)
        create_topic(self._sock, topic)
        self._request = bytearray(request)
        self._batch = memoryview(self._request)[_position_of_batch(request) :]
        self.batch_count = 0
        self.records_a_batch = RecordBatch(self._batch).record_count
        self._set_time()
        check_produced(self._sock, bytes(self._request))
        self.batch_count = 1

    def append(self, mib: int) -> None:
        """Append so many MiB of requests, _IN_FLIGHT on the way at a time."""
        count = mib * 1024 * 1024 // len(self._request)
        for n in range(count + _IN_FLIGHT):
            if n >= _IN_FLIGHT:
                receive_frame(self._sock, self._space)
            if n < count:
                self._set_time()
                self._sock.sendall(self._request)
                self.batch_count += 1

    def close(self) -> None:
        self._sock.close()

    def random_offset(self) -> int:
        return random.randrange(self.batch_count * self.records_a_batch)

    def random_time_ms(self) -> int:
        return _FIRST_TIMESTAMP_MS + random.randrange(self.batch_count)

    def _set_time(self) -> None:
        """Move all records of the batch to the next millisecond."""
        timestamp_ms = _FIRST_TIMESTAMP_MS + self.batch_count
        struct.pack_into(">qq", self._batch, _BASE_TIMESTAMP_POSITION, timestamp_ms, timestamp_ms)
        size = RecordBatch(self._batch).size_in_bytes
        crc = crc32c(self._batch[_CRC_COVERS_FROM:size])
        struct.pack_into(">I", self._batch, _CRC_POSITION, crc)


def _position_of_batch(request: bytes) -> int:
    """Where the batch begins: what stands behind it is a few bytes, so the size tells."""
    for position in range(len(request) - RECORD_BYTES):
        if request[position + 16] == 2:  # the magic
            batch = RecordBatch(request, position)
            rest = len(request) - position - batch.size_in_bytes
            if batch.base_offset == 0 and 0 <= rest < 8:
                return position
    raise ValueError("no batch in the request")


def answer(options: Options) -> Answer:
    """Fill the logs, then look up and append in turns."""
    log_mib = 320 if options.quick else LARGE_LOG_MIB
    broker = start_broker(options.folder, {"log.segment.bytes": log_mib * 1024 * 1024 // _SEGMENTS_OF_LARGE})
    pin_this_process()
    try:
        small, large = (Filler(broker, topic) for topic in ("small", "large"))
        small.append(_SMALL_LOG_MIB)
        for filled in _steps(log_mib):
            large.append(filled)
        figures = _lookups(broker, small, large, options.rounds)
        return Answer(figures + _growth(broker, large, options.rounds))
    finally:
        broker.stop()


def _steps(mib: int) -> Iterator[int]:
    """The way to `mib` in steps, with progress shown."""
    begun = time.perf_counter()
    for done in range(0, mib, _PROGRESS_MIB):
        yield min(_PROGRESS_MIB, mib - done)
        filled = min(done + _PROGRESS_MIB, mib)
        progress(f"{filled:,} of {mib:,} MiB filled, {filled / (time.perf_counter() - begun):,.0f} MiB/s")


def _lookups(broker: Server, small: Filler, large: Filler, rounds: int) -> list[Figure]:
    with broker.connect() as sock:
        for log in (small, large):
            check_fetched(sock, _random_fetch(log), log.records_a_batch * RECORD_BYTES)
            time_ms = log.random_time_ms()
            found = ask(sock, list_offsets_frame(time_ms, log.topic), ListOffsetsResponse, LIST_VERSION)
            data = found.topics[0].partitions[0]
            assert data.offset == (time_ms - _FIRST_TIMESTAMP_MS) * log.records_a_batch, data
        figures = []
        for name, request in (("fetch at a random offset", _random_fetch), ("ListOffsets", _random_search)):
            pairs = [(_seconds(sock, request, small), _seconds(sock, request, large)) for _ in range(rounds)]
            below, above = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            figures += [
                Figure(f"{name}, large log / small", ratios(above, below), _MAX_LOOKUP_RATIO, at_most=True),
                Figure(f"{name}, small log", [1e6 * seconds for seconds in below], unit="us"),
            ]
    return figures


def _random_fetch(log: Filler) -> bytes:
    return fetch_frame(log.random_offset(), 1, log.topic)


def _random_search(log: Filler) -> bytes:
    return list_offsets_frame(log.random_time_ms(), log.topic)


def _seconds(sock: socket.socket, request_for: Callable[[Filler], bytes], log: Filler) -> float:
    """Mean seconds an answer takes."""
    requests = [request_for(log) for _ in range(_LOOKUPS_A_TURN)]
    space = bytearray(1024 * 1024)
    begun = time.perf_counter()
    for request in requests:
        sock.sendall(request)
        receive_frame(sock, space)
    return (time.perf_counter() - begun) / len(requests)


def _growth(broker: Server, large: Filler, rounds: int) -> list[Figure]:
    pairs = []
    for n in range(rounds * _APPENDS_A_ROUND):
        new = Filler(broker, f"new-{n}")
        pairs.append((_cost(broker, new), _cost(broker, large)))
        new.close()
    processor = [pair[0][0] for pair in pairs], [pair[1][0] for pair in pairs]
    elapsed = [pair[0][1] for pair in pairs], [pair[1][1] for pair in pairs]
    return [
        Figure(
            "processor time a MiB, large log / empty", ratios(*reversed(processor)), _MAX_GROWTH, at_most=True
        ),
        Figure("time a MiB, large log / empty", ratios(*reversed(elapsed))),
        Figure("appended to an empty log", [_APPENDED_MIB / seconds for seconds in elapsed[0]], unit="MiB/s"),
    ]


def _cost(broker: Server, log: Filler) -> tuple[float, float]:
    """Seconds of processor, and seconds, that the broker takes for _APPENDED_MIB."""
    os.sync()  # or one side would pay for what the other left to be written
    used, begun = broker.cpu_seconds(), time.perf_counter()
    log.append(_APPENDED_MIB)
    return broker.cpu_seconds() - used, time.perf_counter() - begun


QUESTION = Question(
    "log_size",
    "Do look-ups and appends cost more in a large log?",
    answer,
    minutes=4,
    rounds=9,
    usual=False,
)

if __name__ == "__main__":
    run(QUESTION)
