"""How many small requests does the broker answer, against the least a trio server can do?

    python bench/small_requests.py [--rounds N] [--quick] [--results FOLDER]

Sixteen connections send produce requests of one batch of 1 KiB, five in flight on each. The same bytes go to
two bare trio servers (`bare_echo.py`). The one takes requests one by one, as a server has to: it finds length
and body and answers each. The other is the echo of trio's tutorial, which sends back whatever came. It does
not know what a request is: it answers all that are there by one send, and so costs what two system calls do.
The target is held to the first; the ratio to the second is told. Once the batches are plain and go by topic
name, once they are as Java's producers send them by default: by topic id, with a producer's id and sequence
numbers. Requests differ in correlation id and records, as a client's do.

All run at the same time and have their turns one after the other. Turns of the broker alone tell what other
kinds of small requests cost: as stock clients send them (topic ids, idempotent), to one partition and to
many, and reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import frames
from instrument.answers import Answer, Bars, Spread, Table
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, alternating, progress, run
from load import InTurn, LoadGenerator, Numbered, Requests, Turn
from servers import Server, start_broker

CONNECTIONS, IN_FLIGHT, BATCH_BYTES = 16, 5, 1024
PARTITIONS = 16
_TARGET = 0.35
TOPIC = "small"
_BY_NAME, _BY_ID, _OLD = 9, 13, 7
_HERE = Path(__file__).resolve().parent
_SEGMENT_BYTES = 256 * 1024 * 1024
_DIFFERENT = 64
_PLAIN, _IDEMPOTENT = "broker", "broker, idempotent"
_ONE_BY_ONE, _WHATEVER_CAME = "one-by-one", "whatever-came"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request: what each connection sends, and how long an answer is."""

    name: str
    server: Server
    requests: Sequence[Requests]
    answer_bytes: int


@dataclass(slots=True)
class Kinds:
    """All kinds that are sent to one broker with one topic."""

    server: Server
    topic_id: bytes
    batches: Sequence[bytearray] = field(
        default_factory=lambda: [frames.batch_of(BATCH_BYTES) for _ in range(_DIFFERENT)]
    )
    producer_id: int = 1_000_000

    def reading(self, name: str, request: bytes) -> Kind:
        return self._in_turn(name, [request] * _DIFFERENT)

    def plain(self, name: str, topic: str | bytes, version: int) -> Kind:
        return self._in_turn(name, self.produce_requests(topic, version))

    def produce_requests(self, topic: str | bytes, version: int) -> list[bytes]:
        return [frames.produce_frame_of(batch, topic, version=version) for batch in self.batches]

    def _in_turn(self, name: str, requests: Sequence[bytes]) -> Kind:
        each = differing(requests)
        return Kind(name, self.server, each, self._answer_bytes(requests[0]))

    def idempotent(self, name: str, partitions: Sequence[Sequence[int]]) -> Kind:
        """A producer of its own for each connection, which writes to these partitions with each request."""
        batch, requests = self.batches[0], []
        for index in range(CONNECTIONS):
            to = partitions[index % len(partitions)]
            request = frames.produce_frame_of(batch, self.topic_id, version=_BY_ID, partitions=to)
            self.producer_id += 1
            requests.append(Numbered(request, bytes(batch), self.producer_id, IN_FLIGHT))
        return Kind(name, self.server, requests, self._answer_bytes(request))

    def all(self) -> list[Kind]:
        one_each = [[index] for index in range(PARTITIONS)]
        four_each = [list(range(first, first + 4)) for first in range(0, PARTITIONS, 4)]
        return [
            self.plain("produce v9, by name", TOPIC, _BY_NAME),
            self.plain("produce v7, by name, before flexible versions", TOPIC, _OLD),
            self.plain("produce v13, by topic id", self.topic_id, _BY_ID),
            self.idempotent("produce v13, idempotent", [[0]]),
            self.idempotent("the same, to 16 partitions", one_each),
            self.idempotent("the same, 4 batches a request", four_each),
            self.reading("fetch v12 of one batch", frames.fetch_frame(0, BATCH_BYTES, TOPIC)),
            self.reading("metadata v12 of 16 partitions", frames.metadata_frame()),
            self.reading("ApiVersions v3", frames.api_versions_frame()),
        ]

    def _answer_bytes(self, request: bytes) -> int:
        with self.server.connect() as sock:
            return frames.check_answered(sock, request)


def differing(requests: Sequence[bytes]) -> list[Requests]:
    """For each connection these requests in turn, with correlation ids that differ: as clients send them."""
    numbered = [frames.numbered(request, index) for index, request in enumerate(requests)]
    return [InTurn(numbered, first=index) for index in range(CONNECTIONS)]


def ask(options: Options) -> Answer:
    """Measure against both echoes, then the kinds against each other."""
    broker = start_broker(options.folder / "data", {"log.segment.bytes": _SEGMENT_BYTES})
    echoes = {way: Server(str(_HERE / "bare_echo.py"), way) for way in (_ONE_BY_ONE, _WHATEVER_CAME)}
    try:
        with LoadGenerator() as load, broker.connect() as sock:
            kinds = Kinds(broker, frames.create_topic(sock, TOPIC, partitions=PARTITIONS))
            measured = _against_echoes(load, kinds, echoes, options)
            by_kind = _by_kind(load, kinds, options)
    finally:
        for server in (broker, *echoes.values()):
            server.stop()
    return _answer(measured, by_kind)


def _seconds(options: Options) -> float:
    return 0.2 if options.quick else 0.6


def _turn(load: LoadGenerator, kind: Kind, options: Options) -> Turn:
    return load.turn(
        kind.server,
        kind.requests,
        in_flight=IN_FLIGHT,
        answer_bytes=kind.answer_bytes,
        seconds=_seconds(options),
    )


def _against_echoes(
    load: LoadGenerator, kinds: Kinds, echoes: Mapping[str, Server], options: Options
) -> dict[str, list[Turn]]:
    requests = kinds.produce_requests(TOPIC, _BY_NAME)
    sides: dict[str, Callable[[], Kind]] = {
        _PLAIN: lambda: kinds.plain(_PLAIN, TOPIC, _BY_NAME),
        _IDEMPOTENT: lambda: kinds.idempotent(_IDEMPOTENT, [[0]]),
    }
    for way, echo in echoes.items():
        sides[way] = partial(Kind, way, echo, differing(requests), len(requests[0]))
    measured: dict[str, list[Turn]] = {side: [] for side in sides}
    for _, side in alternating(options.rounds, *sides):
        turn = _turn(load, sides[side](), options)
        measured[side].append(turn)
        progress(f"{side}: {turn.requests_a_second:.0f} a second, {turn.processor_us_a_request:.1f} us each")
    return measured


def _by_kind(load: LoadGenerator, kinds: Kinds, options: Options) -> dict[str, list[Turn]]:
    """The kinds are made anew for each round: an idempotent producer does not write the same twice."""
    measured: dict[str, list[Turn]] = {}
    for number in range(options.rounds):
        progress(f"kinds of requests, round {number + 1} of {options.rounds}")
        for kind in kinds.all():
            measured.setdefault(kind.name, []).append(_turn(load, kind, options))
    return measured


def _answer(measured: Mapping[str, list[Turn]], by_kind: Mapping[str, list[Turn]]) -> Answer:
    speeds = {side: [turn.requests_a_second for turn in turns] for side, turns in measured.items()}
    costs = {side: [turn.processor_us_a_request for turn in turns] for side, turns in measured.items()}
    figures = []
    for echo, target in ((_ONE_BY_ONE, _TARGET), (_WHATEVER_CAME, None)):
        for ours in (_PLAIN, _IDEMPOTENT):
            figures += [
                Figure(f"requests a second, {ours} / {echo}", ratios(speeds[ours], speeds[echo]), target),
                Figure("  by processor time", ratios(costs[echo], costs[ours])),
            ]
    first = next(iter(by_kind))
    relative = {
        name: ratios(
            [turn.processor_us_a_request for turn in turns],
            [turn.processor_us_a_request for turn in by_kind[first]],
        )
        for name, turns in by_kind.items()
    }
    return Answer(
        figures=figures,
        tables=[
            _table("Small produce requests", measured),
            _table("Kinds of small requests, broker", by_kind, relative),
        ],
        plots=[
            Bars(
                "cost",
                "Processor time a request of 1 KiB",
                "microseconds",
                list(measured),
                {"event loop": [Spread(costs[side], "us") for side in measured]},
            )
        ],
        notes=[
            "The target is held to the echo that takes requests one by one. The tutorial's echo "
            "(whatever-came) answers all requests that are there by one send and looks into none; "
            "the ratio to it is told.",
        ],
    )


def _table(
    title: str, measured: Mapping[str, list[Turn]], relative: Mapping[str, list[float]] | None = None
) -> Table:
    columns = ["", "requests a second", "processor time each", "server busy", "clients idle"]
    rows = []
    for name, turns in measured.items():
        row: list[str | Spread] = [
            name,
            Spread([turn.requests_a_second for turn in turns]),
            Spread([turn.processor_us_a_request for turn in turns], "us"),
            Spread([turn.server_busy * 100 for turn in turns], "%"),
            Spread([turn.clients_idle * 100 for turn in turns], "%"),
        ]
        if relative is not None:
            row.append(Spread(relative[name]))
        rows.append(row)
    return Table(title, [*columns, "cost / the first's"] if relative is not None else columns, rows)


QUESTION = Question("small_requests", __doc__.splitlines()[0], ask, minutes=0.9, rounds=5)

if __name__ == "__main__":
    run(QUESTION)
