"""What is gained by sharing flushes: mode fsync with many producers against one fsync a request.

    python bench/group_commit.py [--rounds N] [--seconds S] [--producers N] [--batch-bytes N]

32 producers, each with one request of one small batch in flight (acks=all), and one producer alone, whose
every request has a flush of its own, on the same broker in mode fsync, in turn. The figure is the median of
the ratios of requests a second, and the exit status 1 when it is below the target. Told besides: the same in
mode os, which waits for no disk; and a bare loop that writes and flushes each request, without any network.

How large the ratio is, is a matter of the disk: the slower its flush, the more is gained by sharing one.
"""

import argparse
import os
import select
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from figures import Figure, ratios, report
from frames import check_produced, create_topic, produce_frame
from servers import start_broker

PRODUCERS = 32
BATCH_BYTES = 1100
_TARGET = 5.0
_ALL = -1
_DURABLE, _CACHED = "durable", "cached"
_LENGTH_BYTES = 4
_ANSWER_BYTES = 1024


def measure(
    folder: Path,
    *,
    rounds: int,
    seconds: float,
    producers: int = PRODUCERS,
    batch_bytes: int = BATCH_BYTES,
) -> list[Figure]:
    """Measure many producers and one in turn."""
    requests = {name: produce_frame(batch_bytes, name, acks=_ALL) for name in (_DURABLE, _CACHED)}
    broker = start_broker(folder / "data", pinned=False)
    sockets = [broker.connect() for _ in range(producers)]
    try:
        create_topic(sockets[0], _DURABLE, configs={"wirekafka.durability": "fsync"})
        create_topic(sockets[0], _CACHED)
        for request in requests.values():
            check_produced(sockets[0], request)
        many, one, cached, bare = [], [], [], []
        for _ in range(rounds):
            many.append(_answered_a_second(sockets, requests[_DURABLE], seconds))
            one.append(_answered_a_second(sockets[:1], requests[_DURABLE], seconds))
            cached.append(_answered_a_second(sockets, requests[_CACHED], seconds))
            bare.append(_flushed_a_second(folder / "bare", requests[_DURABLE], seconds))
    finally:
        for sock in sockets:
            sock.close()
        broker.stop()
    return [
        Figure(f"fsync, {producers} producers / one fsync a request", ratios(many, one), _TARGET),
        Figure(f"  {producers} producers, mode fsync", many, unit="requests/s"),
        Figure("  one producer, mode fsync", one, unit="requests/s"),
        Figure(f"  {producers} producers, mode os", cached, unit="requests/s"),
        Figure("  bare loop, write and fdatasync", bare, unit="requests/s"),
    ]


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one turn")
    parser.add_argument("--producers", type=int, default=PRODUCERS)
    parser.add_argument("--batch-bytes", type=int, default=BATCH_BYTES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wirekafka-bench-") as folder:
        figures = measure(
            Path(folder),
            rounds=options.rounds,
            seconds=options.seconds,
            producers=options.producers,
            batch_bytes=options.batch_bytes,
        )
    report(figures)


if __name__ == "__main__":
    main()
