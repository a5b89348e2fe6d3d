"""What is gained by sharing flushes: mode fsync with many producers against one fsync a request.

    python bench/group_commit.py [--rounds N] [--quick]

32 producers, each with one request of one small batch in flight (acks=all), and one producer alone, whose
every request has a flush of its own, on the same broker in mode fsync, in turn. The figure is the median of
the ratios of requests a second. Told besides: the same in
mode os, which waits for no disk; and a bare loop that writes and flushes each request, without any network.

How large the ratio is, is a matter of the disk: the slower its flush, the more is gained by sharing one.
"""

import os
import select
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from frames import check_produced, create_topic, produce_frame
from instrument.answers import Answer
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, progress, run
from servers import start_broker

PRODUCERS = 32
BATCH_BYTES = 1100
_TARGET = 5.0
_ALL = -1
_DURABLE, _CACHED = "durable", "cached"
_LENGTH_BYTES = 4
_ANSWER_BYTES = 1024


def ask(options: Options) -> Answer:
    """Measure many producers and one in turn."""
    seconds = 0.2 if options.quick else 0.5
    requests = {name: produce_frame(BATCH_BYTES, name, acks=_ALL) for name in (_DURABLE, _CACHED)}
    broker = start_broker(options.folder / "data", pinned=False)
    sockets = [broker.connect() for _ in range(PRODUCERS)]
    try:
        create_topic(sockets[0], _DURABLE, configs={"wirekafka.durability": "fsync"})
        create_topic(sockets[0], _CACHED)
        for request in requests.values():
            check_produced(sockets[0], request)
        many, one, cached, bare = [], [], [], []
        for number in range(options.rounds):
            progress(f"round {number + 1} of {options.rounds}")
            many.append(_answered_a_second(sockets, requests[_DURABLE], seconds))
            one.append(_answered_a_second(sockets[:1], requests[_DURABLE], seconds))
            cached.append(_answered_a_second(sockets, requests[_CACHED], seconds))
            bare.append(_flushed_a_second(options.folder / "bare", requests[_DURABLE], seconds))
    finally:
        for sock in sockets:
            sock.close()
        broker.stop()
    figures = [
        Figure(f"mode fsync, {PRODUCERS} producers / one", ratios(many, one), _TARGET),
        Figure(f"{PRODUCERS} producers, mode fsync", many, unit="requests/s"),
        Figure("one producer, mode fsync", one, unit="requests/s"),
        Figure(f"{PRODUCERS} producers, mode os", cached, unit="requests/s"),
        Figure("bare loop, write and fdatasync", bare, unit="requests/s"),
    ]
    return Answer(figures)


def _answered_a_second(sockets: Sequence[socket.socket], request: bytes, seconds: float) -> float:
    """Keep one request in flight on each connection for some seconds; give the rate of answers."""
    poll = select.epoll()
    by_descriptor = {sock.fileno(): sock for sock in sockets}
    for sock in sockets:
        poll.register(sock, select.EPOLLIN)
        sock.sendall(request)
    begun = time.perf_counter()
    answered, waiting = 0, len(sockets)
    while waiting:
        is_over = time.perf_counter() - begun >= seconds
        for descriptor, _ in poll.poll():
            sock = by_descriptor[descriptor]
            _take_answer(sock)
            answered += 1
            if is_over:
                waiting -= 1
            else:
                sock.sendall(request)
    elapsed = time.perf_counter() - begun
    poll.close()
    return answered / elapsed


def _take_answer(sock: socket.socket) -> None:
    """One answer, which comes in one piece."""
    answer = sock.recv(_ANSWER_BYTES)
    assert len(answer) == _LENGTH_BYTES + int.from_bytes(answer[:_LENGTH_BYTES], "big"), answer


def _flushed_a_second(path: Path, request: bytes, seconds: float) -> float:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    begun = time.perf_counter()
    flushed = 0
    while time.perf_counter() - begun < seconds:
        os.write(file, request)
        os.fdatasync(file)
        flushed += 1
    os.close(file)
    return flushed / (time.perf_counter() - begun)


QUESTION = Question(
    "group_commit",
    "What is gained by sharing flushes in mode fsync?",
    ask,
    minutes=0.7,
    rounds=15,
    usual=False,
)

if __name__ == "__main__":
    run(QUESTION)
