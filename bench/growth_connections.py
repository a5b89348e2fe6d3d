"""How does cost grow from 1 to 5,000 connections, mostly idle, and to 500 busy ones?

    python bench/growth_connections.py [--rounds N] [--quick]

Idle: in every round a new broker; more and more clients connect and ask for ApiVersions once, as all clients
do, and then say nothing. At each size are measured the processor time of the event loop for a connection that
was accepted and asked, the memory that one holds, and what a produce costs on one connection that works
beside them. At once: so many clients connect in the same moment; the time until the last has its first
answer. Busy: each connection sends a produce as soon as the one before is answered; the processor time of a
request. Apache Kafka stands beside, as far as 1,000 idle and 100 busy ones; at once it is not
asked for more than its backlog of 50 allows, for it resets the rest.
"""

import selectors
import socket
import time
from collections.abc import Sequence
from functools import partial

from frames import (
    TOPIC,
    api_versions_frame,
    check_answered,
    check_produced,
    produce_frame,
    receive_frame,
)
from growing import (
    FLAT,
    LINEAR,
    Curve,
    Growth,
    Plotted,
    allow_connections,
    connected,
    cost_us,
    fetch_both,
    make_topic,
    measure_kafka,
    pinned,
    request_cost_us,
    seconds_since,
    settle,
)
from instrument.answers import Answer
from instrument.question import Options, Question, progress, run
from rivals import RunningBroker, start

_IDLE, _BUSY = (1, 10, 100, 1_000, 5_000), (1, 10, 100, 500)
_QUICK_IDLE, _QUICK_BUSY = (1, 10, 100), (1, 10)
_REQUESTS, _BUSY_REQUESTS = 500, 2_000
_KAFKAS_IDLE, _KAFKAS_BUSY, _KAFKAS_WARMING = 1_000, 100, 4_000
_BATCH_BYTES = 1100
_KIB = 1024
_FIRST_ONES, _ACCEPTED = 20, 50

ACCEPT = Curve("accept, and a first answer", "us of processor", FLAT)
BESIDE = Curve("produce beside idle connections", "us of processor", FLAT)
BUSY = Curve("produce, all connections busy", "us of processor", FLAT)
MEMORY = Curve("memory of a connection", "KiB")
ALL_MEMORY = Curve("resident with all connections", "MiB", LINEAR)
AT_ONCE = Curve("all at once: until the last has its answer", "ms", LINEAR)


def ask(options: Options) -> Answer:
    """Every round: a broker, connections more and more, then all at once, then busy ones."""
    idle, busy = (_QUICK_IDLE, _QUICK_BUSY) if options.quick else (_IDLE, _BUSY)
    allow_connections(2 * idle[-1])
    growth = Growth("connections")
    for number in range(options.rounds):
        with start("wirekafka", options.folder / str(number)) as broker:
            pinned(broker)
            with connected(broker) as sock:
                make_topic(broker, sock, TOPIC)
            _add_idle(growth, broker, idle)
            _connect_at_once(growth, broker, idle)
            _keep_busy(growth, broker, busy)
        progress(f"round {number + 1}: {growth.told([ACCEPT, BESIDE, MEMORY, AT_ONCE], idle[-1])}")
    notes = measure_kafka(
        growth, options.folder / "kafka", lambda beside, broker: _ask_kafka(beside, broker, idle, busy)
    )
    requests = Plotted("requests", "A request as connections grow", [ACCEPT, BESIDE, BUSY])
    at_once = Plotted("at_once", "All connect at once", [AT_ONCE])
    memory = Plotted("memory", "Memory as connections grow", [ALL_MEMORY])
    return growth.answer("Cost as connections grow", [requests, at_once, memory], notes)


def _ask_kafka(growth: Growth, broker: RunningBroker, idle: Sequence[int], busy: Sequence[int]) -> None:
    idle = [size for size in idle if size <= _KAFKAS_IDLE]
    busy = [size for size in busy if size <= _KAFKAS_BUSY]
    with connected(broker) as sock:
        make_topic(broker, sock, TOPIC)
        request_cost_us(broker, sock, [produce_frame(_BATCH_BYTES), api_versions_frame()] * _KAFKAS_WARMING)
    _add_idle(Growth(""), broker, [_KAFKAS_BUSY])
    _add_idle(growth, broker, idle)
    _keep_busy(growth, broker, busy)


def _add_idle(growth: Growth, broker: RunningBroker, sizes: Sequence[int]) -> None:
    versions, produce = api_versions_frame(), produce_frame(_BATCH_BYTES)
    with connected(broker) as working:
        check_answered(working, versions)
        check_produced(working, produce)
        request_cost_us(broker, working, [produce] * _REQUESTS)
        _seconds_until_all_are_answered(broker, _FIRST_ONES)  # what the first ones cost is told elsewhere
        empty_mib = broker.resident_mib()
        held: list[socket.socket] = []
        for size in sizes:
            _connect(broker, held, size - len(held), versions)
            settle(broker)
            growth.add(ALL_MEMORY, size, broker.resident_mib())
            growth.add(BESIDE, size, request_cost_us(broker, working, [produce] * _REQUESTS))
            more: list[socket.socket] = []
            growth.add(ACCEPT, size, cost_us(broker, partial(_connect, broker, more, _ACCEPTED, versions)))
            for sock in more:
                sock.close()
        growth.add(MEMORY, sizes[-1], (broker.resident_mib() - empty_mib) * _KIB / len(held))
        for sock in held:
            sock.close()


def _connect(broker: RunningBroker, held: list[socket.socket], count: int, request: bytes) -> int:
    """So many connections more, each with one answer; give how many."""
    space = bytearray(64 * _KIB)
    for _ in range(count):
        held.append(connected(broker))
        held[-1].sendall(request)
        receive_frame(held[-1], space)
    return count


def _connect_at_once(growth: Growth, broker: RunningBroker, sizes: Sequence[int]) -> None:
    for size in sizes:
        settle(broker)
        growth.add(AT_ONCE, size, _seconds_until_all_are_answered(broker, size) * 1000)


def _seconds_until_all_are_answered(broker: RunningBroker, count: int) -> float:
    host, _, port = broker.bootstrap.rpartition(":")
    request = api_versions_frame()
    begun = time.perf_counter()
    with selectors.DefaultSelector() as ready:
        for _ in range(count):
            sock = socket.socket()
            sock.setblocking(False)
            sock.connect_ex((host, int(port)))
            ready.register(sock, selectors.EVENT_WRITE)
        waiting = count
        while waiting:
            for key, events in ready.select():
                sock = key.fileobj  # type: ignore[assignment]
                if events & selectors.EVENT_WRITE:
                    sock.sendall(request)
                    ready.modify(sock, selectors.EVENT_READ)
                elif sock.recv(64 * _KIB):
                    ready.unregister(sock)
                    sock.close()
                    waiting -= 1
                else:
                    raise ConnectionError("the broker hung up")
    return seconds_since(begun)


def _keep_busy(growth: Growth, broker: RunningBroker, sizes: Sequence[int]) -> None:
    request, space = produce_frame(_BATCH_BYTES), bytearray(64 * _KIB)
    for size in sizes:
        sockets = [connected(broker) for _ in range(size)]
        for sock in sockets:
            check_produced(sock, request)
        settle(broker)

        def send_and_receive(sockets: list[socket.socket] = sockets) -> int:
            turns = max(1, _BUSY_REQUESTS // len(sockets))
            for _ in range(turns):
                for sock in sockets:
                    sock.sendall(request)
                for sock in sockets:
                    receive_frame(sock, space)
            return turns * len(sockets)

        growth.add(BUSY, size, cost_us(broker, send_and_receive))
        for sock in sockets:
            sock.close()


QUESTION = Question(
    "growth_connections",
    "How does cost grow with connections?",
    ask,
    minutes=0.7,
    prepare=fetch_both,
)

if __name__ == "__main__":
    run(QUESTION)
