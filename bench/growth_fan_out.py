"""How does cost grow from 1 to 200 consumers that wait at the end of one log?

    python bench/growth_fan_out.py [--rounds N] [--quick]

So many connections have a Fetch waiting for the next record of one partition; then a producer appends a batch
of one record of 1 KiB, and every one of them is answered and asks again. Measured are the processor time of
the event loop for a record delivered, its append among it, and the time from the append's send until the last
consumer has it. The client is one process and receives them one by one, which is in that time. Apache Kafka
stands beside, as far as 50 consumers.
"""

import select
import time
from collections.abc import Sequence
from socket import socket

from frames import FETCH_VERSION, check_produced, frame, produce_frame, receive_frame
from growing import (
    FLAT,
    LINEAR,
    Curve,
    Growth,
    Plotted,
    connected,
    cost_us,
    fetch_both,
    make_topic,
    measure_kafka,
    pinned,
)
from instrument.answers import Answer
from instrument.question import Options, Question, alternating, progress, run
from rivals import RunningBroker, start

from wirekafka.protocol.apis.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic

_SIZES, _QUICK_SIZES = (1, 2, 10, 50, 200), (1, 10)
_APPENDS, _LEAST_APPENDS = 2_000, 40
_KAFKAS_MOST, _KAFKAS_WARMING = 50, 3
_BATCH_BYTES = 1_100
_LEAST_ANSWER_BYTES = 1_024
_SETTLE_SECONDS = 0.05
_WAIT_MS = 60_000

DELIVERED = Curve("a record delivered", "us of processor", FLAT)
LAST = Curve("append until the last consumer has it", "ms", LINEAR)


def ask(options: Options) -> Answer:
    """One broker; every number of consumers in every round."""
    growth = Growth("consumers")
    sizes = _QUICK_SIZES if options.quick else _SIZES
    with start("wirekafka", options.folder) as broker:
        pinned(broker)
        for number, size in alternating(options.rounds, *sizes):
            _measure(growth, broker, f"tail-{size}-{number}", size)
            if size == sizes[-1]:
                progress(f"round {number + 1}: {growth.told([DELIVERED, LAST], size)}")
    notes = measure_kafka(
        growth, options.folder / "kafka", lambda beside, broker: _ask_kafka(beside, broker, sizes)
    )
    return growth.answer(
        "Cost as consumers of one tail grow",
        [
            Plotted("delivered", "A record delivered", [DELIVERED]),
            Plotted("last", "From the append to the last consumer", [LAST]),
        ],
        notes,
    )


def _ask_kafka(growth: Growth, broker: RunningBroker, sizes: Sequence[int]) -> None:
    for number in range(_KAFKAS_WARMING):
        _measure(Growth(""), broker, f"warm-{number}", 1)
    for size in (size for size in sizes if size <= _KAFKAS_MOST):
        _measure(growth, broker, f"tail-{size}", size)


def _measure(growth: Growth, broker: RunningBroker, topic: str, size: int) -> None:
    producer = connected(broker)
    make_topic(broker, producer, topic)
    consumers = [connected(broker) for _ in range(size)]
    appends = max(_LEAST_APPENDS, _APPENDS // size // 4)
    tail = _Tail(producer, consumers, topic)
    for _ in range(5):
        tail.append_and_deliver()
    times: list[float] = []

    def deliver() -> int:
        times.extend(tail.append_and_deliver() for _ in range(appends))
        return appends * size

    growth.add(DELIVERED, size, cost_us(broker, deliver))
    growth.add(LAST, size, sorted(times)[len(times) // 2] * 1000)
    for sock in (producer, *consumers):
        sock.close()


class _Tail:
    """A producer and those who wait for what it writes."""

    def __init__(self, producer: socket, consumers: list[socket], topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self._request = produce_frame(_BATCH_BYTES, topic)
        self._space = bytearray(64 * 1024)
        self._consumers = {sock.fileno(): sock for sock in consumers}
        self._ready = select.epoll()
        for descriptor in self._consumers:
            self._ready.register(descriptor, select.EPOLLIN)
        self._offset = 0
        check_produced(producer, self._request)
        self._offset = 1
        self._all_wait()

    def append_and_deliver(self) -> float:
        """Give the seconds until the last had it; all wait for the next one then."""
        begun = time.perf_counter()
        self._producer.sendall(self._request)
        waiting = len(self._consumers)
        while waiting:
            for descriptor, _ in self._ready.poll(10):
                answer = receive_frame(self._consumers[descriptor], self._space)
                assert len(answer) > _LEAST_ANSWER_BYTES, len(answer)
                waiting -= 1
        seconds = time.perf_counter() - begun
        receive_frame(self._producer, self._space)
        self._offset += 1
        self._all_wait()
        return seconds

    def _all_wait(self) -> None:
        """Have every consumer's Fetch wait in the broker."""
        request = _fetch_that_waits(self._offset, self._topic)
        for sock in self._consumers.values():
            sock.sendall(request)
        time.sleep(_SETTLE_SECONDS if len(self._consumers) > 20 else _SETTLE_SECONDS / 10)


def _fetch_that_waits(offset: int, topic: str) -> bytes:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=_BATCH_BYTES)
    topics = [FetchTopic(topic=topic, partitions=[wanted])]
    request = FetchRequest(max_wait_ms=_WAIT_MS, min_bytes=1, max_bytes=_BATCH_BYTES, topics=topics)
    return frame(FETCH.key, FETCH_VERSION, request)


QUESTION = Question(
    "growth_fan_out",
    "How does cost grow with consumers of one tail?",
    ask,
    minutes=1.7,
    prepare=fetch_both,
)

if __name__ == "__main__":
    run(QUESTION)
