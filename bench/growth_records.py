"""How does cost grow from records of 1 B to records of 10 MiB?

    python bench/growth_records.py [--rounds N] [--quick]

For each size of a record two kinds of request, produced and fetched again: a batch of 64 KiB full of such
records, as clients that gather send it, or one record where that is larger; and a batch of a single record.
Measured is the processor time of the event loop, and said for a record and for a byte of records.

The broker does not look into a batch. So a record in a full batch should cost as much as its bytes do, and no
byte more in a large record than in a small one; and a record that comes alone should cost what a request
costs until its bytes cost more than that. Apache Kafka stands beside.
"""

import os
import time
from collections.abc import Iterator, Sequence
from socket import socket

from frames import check_fetched, check_produced, fetch_frame, produce_frame_of, receive_frame
from growing import (
    FLAT,
    LINEAR,
    Curve,
    Growth,
    Plotted,
    connection,
    cost_us,
    fetch_both,
    make_topic,
    measure_kafka,
    pinned,
)
from instrument.answers import Answer
from instrument.question import Options, Question, alternating, progress, run
from rivals import RunningBroker, start

from wirekafka.protocol.records import Record, build_batch

_SIZES = (1, 10, 100, 1_024, 10_240, 102_400, 1_048_576, 10_485_760)
_QUICK_SIZES = (1, 1_024, 1_048_576)
_GATHERED_BYTES = 64 * 1024
_BYTES_A_TURN = 32 * 1024 * 1024
_REQUESTS_A_TURN = 200
_PRODUCE_VERSION = 9
_ROOM_BYTES = 4096
_KAFKAS_WARMING = 2
_SETTINGS = {"message.max.bytes": 12 * 1024 * 1024}

PRODUCE_BYTE = Curve("produce, full batch: a byte", "ns of processor", FLAT)
FETCH_BYTE = Curve("fetch, full batch: a byte", "ns of processor", FLAT)
PRODUCE_RECORD = Curve("produce, full batch: a record", "us of processor", LINEAR)
FETCH_RECORD = Curve("fetch, full batch: a record", "us of processor", LINEAR)
PRODUCE_ALONE = Curve("produce, alone: a record", "us of processor", LINEAR)
FETCH_ALONE = Curve("fetch, alone: a record", "us of processor", LINEAR)


def ask(options: Options) -> Answer:
    """One broker; every size in every round, gathered and alone."""
    growth = Growth("bytes of a record")
    sizes = _QUICK_SIZES if options.quick else _SIZES
    with start("wirekafka", options.folder, _SETTINGS) as broker, connection(broker) as sock:
        pinned(broker)
        for number, size in alternating(options.rounds, *sizes):
            _measure_both(growth, broker, sock, str(number), size)
            if size == sizes[-1]:
                progress(f"round {number + 1}: {growth.told([PRODUCE_BYTE, FETCH_BYTE], size)}")
    notes = measure_kafka(
        growth,
        options.folder / "kafka",
        lambda beside, broker: _ask_kafka(beside, broker, sizes),
        _SETTINGS,
    )
    records = Plotted(
        "record",
        "A record as it grows",
        [PRODUCE_RECORD, FETCH_RECORD, PRODUCE_ALONE, FETCH_ALONE],
    )
    return growth.answer(
        "Cost as records grow",
        [records, Plotted("byte", "A byte as records grow", [PRODUCE_BYTE, FETCH_BYTE])],
        notes,
    )


def _ask_kafka(growth: Growth, broker: RunningBroker, sizes: Sequence[int]) -> None:
    with connection(broker) as sock:
        for number in range(_KAFKAS_WARMING):
            for size in sizes:
                _measure_both(Growth(""), broker, sock, f"warm-{number}", size)
        for size in sizes:
            _measure_both(growth, broker, sock, "kafka", size)


def _measure_both(growth: Growth, broker: RunningBroker, sock: socket, suffix: str, size: int) -> None:
    """A full batch, then a record alone."""
    for gathered in (True, False):
        topic = f"{size}-{suffix}-{gathered}"
        make_topic(broker, sock, topic)
        _measure(growth, broker, sock, topic, size, gathered=gathered)


def _measure(
    growth: Growth, broker: RunningBroker, sock: socket, topic: str, size: int, *, gathered: bool
) -> None:
    count = max(1, _GATHERED_BYTES // (size + 8)) if gathered else 1
    batch = build_batch([Record(value=os.urandom(size))] * count, timestamp_ms=int(time.time() * 1000))
    request = produce_frame_of(bytearray(batch), topic, version=_PRODUCE_VERSION)
    requests = max(5, min(_REQUESTS_A_TURN, _BYTES_A_TURN // len(request)))
    room = bytearray(len(request) + _ROOM_BYTES)
    check_produced(sock, request)
    check_fetched(sock, fetch_frame(0, len(batch), topic), len(batch))
    produced_us = cost_us(broker, lambda: _ask_all(sock, iter([request] * requests), room))
    fetches = [fetch_frame(number * count, len(batch), topic) for number in range(requests)]
    fetched_us = cost_us(broker, lambda: _ask_all(sock, iter(fetches), room))
    if gathered:
        growth.add(PRODUCE_BYTE, size, produced_us * 1000 / (count * size))
        growth.add(FETCH_BYTE, size, fetched_us * 1000 / (count * size))
    growth.add(PRODUCE_RECORD if gathered else PRODUCE_ALONE, size, produced_us / count)
    growth.add(FETCH_RECORD if gathered else FETCH_ALONE, size, fetched_us / count)


def _ask_all(sock: socket, requests: Iterator[bytes], room: bytearray) -> int:
    count = 0
    for request in requests:
        sock.sendall(request)
        receive_frame(sock, room)
        count += 1
    return count


QUESTION = Question(
    "growth_records",
    "How does cost grow with records?",
    ask,
    minutes=0.5,
    prepare=fetch_both,
)

if __name__ == "__main__":
    run(QUESTION)
