"""How near the broker comes to the least that produce and fetch can cost.

    python bench/hot_path.py [--rounds N] [--seconds S] [--batch-bytes N] [--target RATIO]

In: one connection sends produce requests of one batch (1 MiB by default), five in flight, to the broker;
and the same bytes to a bare trio loop that receives them, checks CRC-32C and appends them to a file. Out:
the same connection fetches what was written; and takes the same bytes from a bare trio loop that does
nothing but sendfile. Rounds alternate, so that both sides meet the same weather; the figure is the median
of the ratios broker / bare. Exit status 1 if one of them is below the target.

Two more are told and have no target: the ratio to a loop that writes over the same 256 MiB again and again,
which is spared the cost of new pages that every log has; and the ratios of processor time, which say the
same on a machine that is busy with other things.
"""

import argparse
import os
import select
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from figures import Figure, ratios
from frames import (
    check_fetched,
    check_produced,
    create_topic,
    fetch_frame,
    produce_frame,
    receive_frame,
)
from own_network import leave_bbr
from servers import Server, pin_this_process, start_bare, start_broker

IN_FLIGHT = 5
MIB_BATCH_BYTES = 1024 * 1024 - 4096
_REQUESTS_TO_FETCH = 4
_WARM_UP_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class Run:
    """One turn of one side."""

    mb_a_second: float
    mb_a_processor_second: float


def timed(server: Server, turn: Callable[[socket.socket, float], int], seconds: float) -> Run:
    """Measure one turn, which gives the bytes it moved, over a connection of its own.

    Of its own, since what the kernel has learnt of a connection stays with it for as long as that lasts.
    """
    with server.connect() as sock:
        turn(sock, _WARM_UP_SECONDS)
        begun, used = time.perf_counter(), server.cpu_seconds()
        moved = turn(sock, seconds) / 1e6
        return Run(moved / (time.perf_counter() - begun), moved / (server.cpu_seconds() - used))


def send_for(request: bytes, sock: socket.socket, seconds: float) -> int:
    """Keep IN_FLIGHT requests on the way for some seconds; give the bytes of requests answered."""
    space = bytearray(64 * 1024)
    begun = time.perf_counter()
    sent = answered = 0
    out = memoryview(b"")
    sock.setblocking(False)
    poll = select.poll()
    poll.register(sock, select.POLLIN | select.POLLOUT)
    held = b""
    while True:
        is_over = time.perf_counter() - begun >= seconds
        if is_over and sent == answered and not len(out):
            sock.setblocking(True)
            return answered * len(request)
        if not is_over and not len(out) and sent - answered < IN_FLIGHT:
            out = memoryview(request)
            sent += 1
        poll.modify(sock, select.POLLIN | (select.POLLOUT if len(out) else 0))
        (_, events) = poll.poll()[0]
        if events & select.POLLOUT and len(out):
            out = out[sock.send(out) :]
        if events & select.POLLIN:
            count = sock.recv_into(space)
            if count == 0:
                raise ConnectionError("the server hung up")
            held += bytes(space[:count])
            while len(held) >= 4 and len(held) >= 4 + int.from_bytes(held[:4], "big"):
                held = held[4 + int.from_bytes(held[:4], "big") :]
                answered += 1


def fetch_for(request: bytes, size: int, sock: socket.socket, seconds: float) -> int:
    """Ask and take whole answers for some seconds; give the bytes received."""
    space = bytearray(size + 1024 * 1024)
    begun, taken = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        sock.sendall(request)
        taken += len(receive_frame(sock, space))
    return taken


def measure_fetch(
    folder: Path, *, rounds: int, seconds: float, batch_bytes: int, target: float
) -> list[Figure]:
    """Give both sides the same bytes, then fetch them from both in turn."""
    request = produce_frame(batch_bytes)
    size = len(request)
    ask, bare_ask = fetch_frame(0, size), struct.pack(">iI", -1, size)
    broker, bare = start_broker(folder / "fetch"), start_bare(folder)
    pin_this_process()
    try:
        to_broker, to_bare = broker.connect(), bare.connect()
        create_topic(to_broker)
        for _ in range(_REQUESTS_TO_FETCH):
            check_produced(to_broker, request)
            to_bare.sendall(request)
            receive_frame(to_bare, bytearray(1024))
        check_fetched(to_broker, ask, size // 2)
        pairs = [
            (
                timed(broker, partial(fetch_for, ask, size), seconds),
                timed(bare, partial(fetch_for, bare_ask, size), seconds),
            )
            for _ in range(rounds)
        ]
    finally:
        broker.stop()
        bare.stop()
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return _compared("fetch / bare sendfile", ours, theirs, target)


def measure_produce(
    folder: Path, *, rounds: int, seconds: float, batch_bytes: int, target: float
) -> list[Figure]:
    """Send the same requests to the broker and to two bare loops in turn."""
    request = produce_frame(batch_bytes)
    settings = {"log.segment.bytes": 256 * 1024 * 1024}
    broker = start_broker(folder / "produce", settings)
    appending, overwriting = start_bare(folder), start_bare(folder, "--overwrite")
    servers = (broker, appending, overwriting)
    pin_this_process()
    try:
        with broker.connect() as sock:
            create_topic(sock)
            check_produced(sock, request)
        turns = []
        for _ in range(rounds):
            turn = []
            for server in servers:
                os.sync()  # or one side would pay for what the other left to be written
                turn.append(timed(server, partial(send_for, request), seconds))
            turns.append(turn)
    finally:
        for server in servers:
            server.stop()
    ours, appended, overwritten = ([turn[side] for turn in turns] for side in range(3))
    return [
        *_compared("produce / bare receive, check, append", ours, appended, target),
        *_compared("produce / the same over old pages", ours, overwritten, None),
    ]


def _compared(name: str, ours: list[Run], theirs: list[Run], target: float | None) -> list[Figure]:
    """The ratio of speed, then that of processor time, then the speeds themselves."""
    speeds = [run.mb_a_second for run in ours], [run.mb_a_second for run in theirs]
    processor = [run.mb_a_processor_second for run in ours], [run.mb_a_processor_second for run in theirs]
    return [
        Figure(name, ratios(*speeds), target),
        Figure("  by processor time", ratios(*processor)),
        Figure("  broker", speeds[0], unit="MB/s"),
        Figure("  bare", speeds[1], unit="MB/s"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="length of one turn of one side")
    parser.add_argument("--batch-bytes", type=int, default=MIB_BATCH_BYTES)
    parser.add_argument("--target", type=float, default=0.7, help="the least median ratio, each way")
    options = parser.parse_args()
    leave_bbr()
    missed = False
    for measure in (measure_fetch, measure_produce):
        with tempfile.TemporaryDirectory(prefix="wirekafka-bench-") as folder:
            figures = measure(
                Path(folder),
                rounds=options.rounds,
                seconds=options.seconds,
                batch_bytes=options.batch_bytes,
                target=options.target,
            )
        for figure in figures:
            print(figure, flush=True)
            missed = missed or figure.missed
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
