"""How near do produce and fetch come to the least that they can cost?

    python bench/limit.py [--rounds N] [--quick] [--results FOLDER]

In: four connections with five produce requests in flight on each, to the broker; and the same bytes to a
bare trio loop that receives them, checks CRC-32C and appends them to a file. Out: as many connections, with
as many fetches of one batch in flight on each, so that both servers always have something to do; and the
same bytes from a bare trio loop that does nothing but sendfile. With requests of 1 MiB and of 64 KiB. Turns
alternate, so that both sides meet the same weather; a figure is the median of the ratios broker / bare.

By processor time the same is said of the thread that has the event loop; that holds on a busy machine too.
"""

import os
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import frames
from instrument.answers import Answer, Bars, Spread, Table
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, alternating, progress, run
from load import InTurn, LoadGenerator, Requests, Same, Turn
from servers import Server, start_bare, start_broker

CONNECTIONS, IN_FLIGHT = 4, 5
MIB, KIB_64 = 1024 * 1024, 64 * 1024
TARGETS = {MIB: 0.75, KIB_64: 0.6}
_NAMES = {MIB: "1 MiB", KIB_64: "64 KiB"}
_ROOM_BYTES = 2048
"""Left in a request for what stands around the batch, and for a record that would not fit whole."""
_BATCHES_TO_FETCH = 16
_BARE_ANSWER_BYTES = 14
_BARE_SEND, _BARE_FORGET = -1, -2
_SETTINGS = {"log.segment.bytes": 256 * 1024 * 1024, "log.segment.delete.delay.ms": 0}
_SETTLING_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Side:
    """One server, what it is asked, and what is done before each turn of its own."""

    name: str
    server: Server
    requests: Callable[[], Sequence[Requests]]
    answer_bytes: int
    in_flight: int
    prepare: Callable[[], None]


def measure_out(
    load: LoadGenerator, folder: Path, size: int, *, rounds: int, seconds: float
) -> dict[str, list[Turn]]:
    """Give both sides the same bytes, then take them from both in turn."""
    batch = frames.batch_of(size - _ROOM_BYTES)
    request = frames.produce_frame_of(batch, version=frames.PRODUCE_VERSION)
    broker, bare = start_broker(folder / "out", _SETTINGS), start_bare(folder)
    try:
        with broker.connect() as to_broker, bare.connect() as to_bare:
            frames.create_topic(to_broker)
            asked = []
            for _ in range(_BATCHES_TO_FETCH):
                asked.append(frames.fetch_frame(frames.check_produced(to_broker, request), len(batch)))
                to_bare.sendall(request)
                frames.receive_frame(to_bare, bytearray(1024))
            (answer_bytes,) = {frames.check_answered(to_broker, each) for each in asked}
        assert answer_bytes > size - 2 * _ROOM_BYTES, "a fetch did not give a batch"
        bare_asked = [
            struct.pack(">iqI", _BARE_SEND, index * answer_bytes, answer_bytes - 4)
            for index in range(_BATCHES_TO_FETCH - 1)
        ]
        sides = [
            Side("broker", broker, _in_turn(asked), answer_bytes, IN_FLIGHT, _nothing),
            Side("bare", bare, _in_turn(bare_asked), answer_bytes, IN_FLIGHT, _nothing),
        ]
        return _turns(load, sides, rounds=rounds, seconds=seconds)
    finally:
        broker.stop()
        bare.stop()


def _in_turn(asked: Sequence[bytes]) -> Callable[[], Sequence[Requests]]:
    return lambda: [InTurn(asked, first=index) for index in range(CONNECTIONS)]


def _nothing() -> None:
    pass


def measure_in(
    load: LoadGenerator, folder: Path, size: int, *, rounds: int, seconds: float
) -> dict[str, list[Turn]]:
    """Send the same requests to both in turn."""
    request = frames.produce_frame(size - _ROOM_BYTES)
    each = [Same(request, IN_FLIGHT)] * CONNECTIONS
    broker, bare = start_broker(folder / "in", _SETTINGS), start_bare(folder)
    try:
        with broker.connect() as sock:
            frames.create_topic(sock)
            answer_bytes = frames.check_answered(sock, request)
        sides = [
            Side("broker", broker, lambda: each, answer_bytes, IN_FLIGHT, partial(_new_topic, broker)),
            Side("bare", bare, lambda: each, _BARE_ANSWER_BYTES, IN_FLIGHT, partial(_forget, bare)),
        ]
        return _turns(load, sides, rounds=rounds, seconds=seconds)
    finally:
        broker.stop()
        bare.stop()


def _new_topic(broker: Server) -> None:
    with broker.connect() as sock:
        frames.delete_topic(sock, frames.TOPIC)
        frames.create_topic(sock)


def _forget(bare: Server) -> None:
    with bare.connect() as sock:
        sock.sendall(struct.pack(">i", _BARE_FORGET))
        frames.receive_frame(sock, bytearray(1024))


def _turns(
    load: LoadGenerator, sides: Sequence[Side], *, rounds: int, seconds: float
) -> dict[str, list[Turn]]:
    measured: dict[str, list[Turn]] = {side.name: [] for side in sides}
    for _, side in alternating(rounds, *sides):
        side.prepare()
        os.sync()  # or one side would pay for what the other left to be written
        time.sleep(_SETTLING_SECONDS)
        turn = load.turn(
            side.server,
            side.requests(),
            in_flight=side.in_flight,
            answer_bytes=side.answer_bytes,
            seconds=seconds,
        )
        measured[side.name].append(turn)
        progress(f"{side.name}: {turn.requests_a_second:.0f} a second, {turn.processor_us_a_request:.0f} us")
    return measured


def figures(way: str, size: int, measured: dict[str, list[Turn]]) -> list[Figure]:
    """The ratio to the bare loop by wall and by processor time."""
    ours, theirs = measured["broker"], measured["bare"]
    speeds = [turn.requests_a_second for turn in ours], [turn.requests_a_second for turn in theirs]
    costs = [turn.processor_us_a_request for turn in theirs], [turn.processor_us_a_request for turn in ours]
    return [
        Figure(f"{way}, {_NAMES[size]}: broker / bare", ratios(*speeds), TARGETS[size]),
        Figure("  by processor time", ratios(*costs)),
    ]


def ask(options: Options) -> Answer:
    """Both ways, both sizes."""
    seconds = 0.2 if options.quick else 0.5
    found: list[Figure] = []
    rows, costs = [], []
    with LoadGenerator() as load:
        for way, measure in (("in", measure_in), ("out", measure_out)):
            for size in TARGETS:
                progress(f"{way}, {_NAMES[size]}")
                folder = options.folder / f"{way}-{size}"
                folder.mkdir()
                measured = measure(load, folder, size, rounds=options.rounds, seconds=seconds)
                found += figures(way, size, measured)
                rows += [_row(f"{way}, {_NAMES[size]}: {name}", size, measured[name]) for name in measured]
                costs.append({name: _costs(turns) for name, turns in measured.items()})
    groups = [f"{way}, {_NAMES[size]}" for way in ("in", "out") for size in TARGETS]
    return Answer(
        figures=found,
        tables=[Table("Against the limit", _COLUMNS, rows)],
        plots=[
            Bars(
                "cost",
                "Processor time of the event loop a request",
                "microseconds",
                groups,
                {name: [cost[name] for cost in costs] for name in ("broker", "bare")},
                log_y=True,
            )
        ],
    )


_COLUMNS = ["", "MB a second", "processor time a request", "server busy", "clients idle"]


def _row(name: str, size: int, turns: Sequence[Turn]) -> list[str | Spread]:
    return [
        name,
        Spread([turn.requests_a_second * size / 1e6 for turn in turns]),
        _costs(turns),
        Spread([turn.server_busy * 100 for turn in turns], "%"),
        Spread([turn.clients_idle * 100 for turn in turns], "%"),
    ]


def _costs(turns: Sequence[Turn]) -> Spread:
    return Spread([turn.processor_us_a_request for turn in turns], "us")


QUESTION = Question("limit", __doc__.splitlines()[0], ask, minutes=1.2, rounds=7)

if __name__ == "__main__":
    run(QUESTION)
