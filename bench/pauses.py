"""Does Python's garbage collector keep requests waiting?

    python bench/pauses.py [--rounds N] [--quick]

Two brokers with 10,000 partitions each run at the same time: one with the collector as Python has it, one
with the policy of `wirekafka serve` (`wirekafka/server/garbage.py`). In turn each is sent 1,000 small
requests a second, produce and fetch, at fixed times whether or not the last one was answered; an answer's
latency counts from the time when its request was due. Meanwhile clients connect, stay for some seconds and
go, and topics are made, as in a large test suite: what survives of that is what makes the collector walk.
Each broker notes every walk over the oldest generation, and how long it took.
"""

import os
import resource
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from frames import check_fetched, check_produced, create_topic, fetch_frame, produce_frame
from instrument.answers import Answer, Bars, Cell, Spread, Table
from instrument.figures import Figure, ratios
from instrument.processes import free_port
from instrument.question import Options, Question, alternating, progress, run
from rivals.running import RunningBroker, execute, wait_until_it_answers

PYTHONS, OURS = "as Python has it", "as serve has it"
_PROGRAM = """
import contextlib, gc, sys, time
import trio
from wirekafka.cli import main, serve

is_pythons, file = sys.argv.pop(1) == "python", open(sys.argv.pop(1), "w", buffering=1)
if is_pythons:
    serve.survivors_put_aside, serve.look_through_everything = contextlib.nullcontext, trio.sleep_forever
begun = 0.0

def note(phase, collection):
    global begun
    if phase == "start":
        begun = time.perf_counter()
    elif collection["generation"] == 2:
        print(time.perf_counter(), time.perf_counter() - begun, file=file)

gc.callbacks.insert(0, note)
main.main()
"""
_PARTITIONS_A_TOPIC = 100
_RATE = 1000
_CLIENTS_A_SECOND, _CLIENT_STAYS_SECONDS = 300, 4.0
_TOPICS_A_SECOND, _PARTITIONS_OF_NEW_TOPICS = 10, 25
_PERCENTILES = (50.0, 99.0, 99.9)
_OPEN_FILES = 8192


@dataclass
class Side:
    """One broker, and what its turns have shown."""

    name: str
    broker: RunningBroker
    notes: Path
    topics_made: int = 0
    percentiles_ms: dict[float, list[float]] = field(default_factory=lambda: {p: [] for p in _PERCENTILES})
    largest_ms: list[float] = field(default_factory=list)
    walks: list[float] = field(default_factory=list)
    """How many walks a turn."""
    longest_walk_ms: list[float] = field(default_factory=list)
    walking_percent: list[float] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.broker.bootstrap.rpartition(":")[2])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port))

    def play(self, seconds: float) -> None:
        """Have one turn."""
        begun = time.perf_counter()
        ended = threading.Event()
        life = [
            threading.Thread(target=each, args=(ended,)) for each in (self._come_and_go, self._make_topics)
        ]
        for thread in life:
            thread.start()
        try:
            latencies = sorted(self._ask(seconds))
        finally:
            ended.set()
            for thread in life:
                thread.join()
        for percentile, samples in self.percentiles_ms.items():
            samples.append(latencies[int(len(latencies) * percentile / 100)] * 1000)
        self.largest_ms.append(latencies[-1] * 1000)
        self._read_notes(begun, time.perf_counter())

    def _ask(self, seconds: float) -> list[float]:
        """Send requests at their times; give how long after it each was answered."""
        requests = (produce_frame(100), fetch_frame(0, 1024))
        latencies: list[float] = []
        due: deque[float] = deque()
        with self.connect() as sock:
            check_produced(sock, requests[0])
            check_fetched(sock, requests[1], 100)
            receiver = threading.Thread(target=_receive, args=(sock, due, latencies, int(seconds * _RATE)))
            receiver.start()
            begun = time.perf_counter()
            for number in range(int(seconds * _RATE)):
                at = begun + number / _RATE
                while (left := at - time.perf_counter()) > 0:
                    time.sleep(left)
                due.append(at)
                sock.sendall(requests[number % 2])
            receiver.join()
        return latencies

    def _come_and_go(self, ended: threading.Event) -> None:
        """Connect again and again; each connection makes itself known by a request and stays for a while."""
        request = fetch_frame(0, 1024)
        clients: deque[socket.socket] = deque()
        while not ended.wait(1 / _CLIENTS_A_SECOND):
            clients.append(self.connect())
            clients[-1].sendall(request)
            if len(clients) > _CLIENTS_A_SECOND * _CLIENT_STAYS_SECONDS:
                clients.popleft().close()
        for client in clients:
            client.close()

    def _make_topics(self, ended: threading.Event) -> None:
        with self.connect() as sock:
            while not ended.wait(1 / _TOPICS_A_SECOND):
                create_topic(sock, f"new-{self.topics_made}", partitions=_PARTITIONS_OF_NEW_TOPICS)
                self.topics_made += 1

    def _read_notes(self, begun: float, ended: float) -> None:
        notes = [tuple(map(float, line.split())) for line in self.notes.read_text().splitlines()]
        took = [took for at, took in notes if begun <= at <= ended]
        self.walks.append(len(took))
        self.longest_walk_ms.append(max(took, default=0.0) * 1000)
        self.walking_percent.append(100 * sum(took) / (ended - begun))


def _receive(sock: socket.socket, due: deque[float], latencies: list[float], count: int) -> None:
    """Take so many answers, which come in the order of their requests."""
    buffer = bytearray()
    while len(latencies) < count:
        data = sock.recv(65536)
        now = time.perf_counter()
        if not data:
            raise ConnectionError("the broker hung up")
        buffer += data
        while len(buffer) >= 4 and len(buffer) >= (length := 4 + int.from_bytes(buffer[:4], "big")):
            del buffer[:length]
            latencies.append(now - due.popleft())


def ask(options: Options) -> Answer:
    """Start both, make the partitions, and let them have their turns."""
    partitions, seconds = (500, 2.0) if options.quick else (10_000, 5.0)
    _allow_open_files()
    with ExitStack() as stack:
        sides = []
        for name in (PYTHONS, OURS):
            side = _start(name, options.folder)
            stack.callback(side.broker.stop)
            _make_partitions(side, partitions)
            sides.append(side)
        for number, side in alternating(options.rounds, *sides):
            side.play(seconds)
            progress(
                f"{number + 1}, {side.name}: p99.9 {side.percentiles_ms[99.9][-1]:.1f} ms, longest walk "
                f"{side.longest_walk_ms[-1]:.1f} ms, {side.walking_percent[-1]:.2f} % of the time"
            )
    return _answer(*sides, partitions=partitions)


def _allow_open_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, most), most))


def _start(name: str, folder: Path) -> Side:
    port, place = free_port(), folder / ("python" if name == PYTHONS else "ours")
    notes = folder / f"{place.name}.walks"
    command = [sys.executable, "-c", _PROGRAM, place.name, str(notes), "serve"]
    command += ["--listen", f"127.0.0.1:{port}", "--data-dir", str(place / "data")]
    broker = execute(place.name, port, command, place, os.environ)
    wait_until_it_answers(broker)
    return Side(name, broker, notes)


def _make_partitions(side: Side, partitions: int) -> None:
    begun = time.perf_counter()
    with side.connect() as sock:
        create_topic(sock)
        for number in range(partitions // _PARTITIONS_A_TOPIC):
            topic = f"many-{number}"
            create_topic(sock, topic, partitions=_PARTITIONS_A_TOPIC)
            check_produced(sock, produce_frame(100, topic, partitions=range(_PARTITIONS_A_TOPIC)))
    took = time.perf_counter() - begun
    progress(f"{side.name}: {partitions:,} partitions with a record each made in {took:.1f} s")


def _answer(pythons: Side, ours: Side, *, partitions: int) -> Answer:
    figures = [
        Figure(
            f"latency p{percentile:g}, ours / Python's",
            ratios(ours.percentiles_ms[percentile], pythons.percentiles_ms[percentile]),
            1.0 if percentile == 99.9 else None,
            at_most=True,
        )
        for percentile in _PERCENTILES
    ]
    figures.append(Figure("longest walk, ours", ours.longest_walk_ms, unit="ms"))
    rows: list[Sequence[Cell]] = [
        (
            f"latency p{percentile:g}",
            *(Spread(side.percentiles_ms[percentile], "ms") for side in (pythons, ours)),
        )
        for percentile in _PERCENTILES
    ]
    rows += [
        ("largest latency", Spread(pythons.largest_ms, "ms"), Spread(ours.largest_ms, "ms")),
        ("longest walk of a turn", Spread(pythons.longest_walk_ms, "ms"), Spread(ours.longest_walk_ms, "ms")),
        ("walks a turn", Spread(pythons.walks), Spread(ours.walks)),
        ("time in walks", Spread(pythons.walking_percent, "%"), Spread(ours.walking_percent, "%")),
    ]
    groups = [f"p{percentile:g}" for percentile in _PERCENTILES]
    bars = Bars(
        "latency",
        f"Latency at {_RATE:,} requests a second, {partitions:,} partitions in memory",
        "ms",
        [*groups, "largest", "longest walk"],
        {
            side.name: [
                *(Spread(side.percentiles_ms[percentile]) for percentile in _PERCENTILES),
                Spread(side.largest_ms),
                Spread(side.longest_walk_ms),
            ]
            for side in (pythons, ours)
        },
        log_y=True,
    )
    return Answer(
        figures,
        [Table(f"{partitions:,} partitions in memory", ["", pythons.name, ours.name], rows)],
        [bars],
        [_made(ours)],
    )


def _made(side: Side) -> str:
    topics_a_turn = side.topics_made / max(1, len(side.walks))
    return (
        f"A walk is a collection of the oldest generation. {_CLIENTS_A_SECOND} clients a second come and "
        f"stay {_CLIENT_STAYS_SECONDS:g} s; in a turn about {topics_a_turn:.0f} topics of "
        f"{_PARTITIONS_OF_NEW_TOPICS} partitions are made."
    )


QUESTION = Question(
    "pauses", "Does Python's garbage collector keep requests waiting?", ask, minutes=1.6, rounds=5
)

if __name__ == "__main__":
    run(QUESTION)
