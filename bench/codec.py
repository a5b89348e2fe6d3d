"""How much faster the compiled codec is than the interpreted construct it was compiled from.

For every API at its newest version: one realistic message, made by walking the construct tree
(three topics of four partitions, tagged fields at their defaults). Both codecs must give the same
bytes and the same message before either is timed. Figures are ratios of medians within one run;
the repetitions alternate, so that a busy machine slows both sides.

    python bench/codec.py [--rounds N] [--quick]
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import construct
from instrument.answers import Answer, Cell, Table
from instrument.figures import Figure
from instrument.question import Options, Question, progress, run

from wirekafka.protocol.apis import APIS
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.message import Message
from wirekafka.protocol.nodes import TAGGED, ArrayOf, Instance, NullableStruct, Sized

ELEMENTS_BY_DEPTH = (3, 4, 2)
"""How many elements an array has: topics, their partitions, and what lies deeper."""

RECORDS = bytes(range(256)) * 4
"""Stands for a record batch of one kilobyte, which no codec looks into."""

TARGET = 10.0
"""What the median ratio must reach."""

SAMPLE_SECONDS = 0.002
"""How long one repetition should last: calls are repeated within it as often as that takes."""


def sample(node: construct.Construct, name: str, depth: int = 0) -> Any:
    """A value such as a client or broker would send, for a node of the construct tree."""
    if isinstance(node, Instance):
        fields = [f for f in node.subcon.subcons if f.name != TAGGED]
        return node.cls(**{f.name: sample(f.subcon, f.name, depth) for f in fields})
    if isinstance(node, NullableStruct):
        return sample(node.inner, name, depth)
    if isinstance(node, ArrayOf):
        n = ELEMENTS_BY_DEPTH[min(depth, len(ELEMENTS_BY_DEPTH) - 1)]
        return [sample(node.element, name, depth + 1) for _ in range(n)]
    if isinstance(node, Sized):
        return {"text": f"a-{name}", "bytes": b"0123456789abcdef" * 4, "records": RECORDS}[node.payload]
    if isinstance(node, construct.Bytes):
        return bytes(range(16))
    if node is construct.Flag:
        return True
    return 7


@dataclass(frozen=True, slots=True)
class Comparison:
    """Microseconds a call of one direction of one message."""

    interpreted_us: float
    compiled_us: float

    @property
    def ratio(self) -> float:
        return self.interpreted_us / self.compiled_us


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    size_bytes: int
    parse: Comparison
    build: Comparison


def seconds_per_call(call: Callable[[], object], calls: int) -> float:
    """Processor time: a busy machine is then as good as a quiet one."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def compare(interpreted: Callable[[], object], compiled: Callable[[], object], rounds: int) -> Comparison:
    """Time both by turns; the median of each."""
    plan = [
        (call, max(1, round(SAMPLE_SECONDS / seconds_per_call(call, 3)))) for call in (interpreted, compiled)
    ]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for (call, calls), seen in zip(plan, times, strict=True):
            seen.append(seconds_per_call(call, calls))
    slow, fast = (statistics.median(seen) * 1e6 for seen in times)
    return Comparison(slow, fast)


def measure(cls: type[Message], rounds: int) -> Row:
    version = cls.versions.newest
    instance, codec = cls.instance(version), codec_for(cls, version)
    message = sample(instance, "message")
    data = codec.build(message)
    view = memoryview(data)
    assert instance.build(message) == data, f"{codec.name}: the two codecs build different bytes"
    assert instance.parse(data) == codec.parse(view) == message, (
        f"{codec.name}: they parse different messages"
    )
    parse = compare(lambda: instance.parse(data), lambda: codec.parse(view), rounds)
    build = compare(lambda: instance.build(message), lambda: codec.build(message), rounds)
    return Row(codec.name, len(data), parse, build)


def table(rows: Sequence[Row]) -> Table:
    columns = ["message", "bytes"]
    for direction in ("parse", "build"):
        columns += [f"{direction}, us", "interpreted, us", "ratio"]
    return Table("Every message at its newest version", columns, [_cells(row) for row in rows])


def _cells(row: Row) -> list[Cell]:
    cells: list[Cell] = [row.name, row.size_bytes]
    for one in (row.parse, row.build):
        cells += [one.compiled_us, one.interpreted_us, one.ratio]
    return cells


def ask(options: Options) -> Answer:
    """Measure every request and response."""
    classes = [cls for api in APIS.values() for cls in (api.request, api.response)]
    rows = []
    for number, cls in enumerate(classes, 1):
        rows.append(measure(cls, options.rounds))
        if number % 10 == 0:
            progress(f"{number} of {len(classes)} messages")
    figures = [
        Figure(f"{name}: interpreted / compiled, over all messages", ratios, TARGET)
        for name, ratios in (
            ("parse", [row.parse.ratio for row in rows]),
            ("build", [row.build.ratio for row in rows]),
        )
    ]
    return Answer(figures, [table(rows)])


QUESTION = Question(
    "codec",
    "How much faster is the compiled codec than the interpreted construct it was compiled from?",
    ask,
    minutes=0.1,
    rounds=15,
)

if __name__ == "__main__":
    run(QUESTION)
