"""How much faster the compiled codec is than the interpreted construct it was compiled from.

For every API at its newest version: one realistic message, made by walking the construct tree
(three topics of four partitions, tagged fields at their defaults). Both codecs must give the same
bytes and the same message before either is timed. Figures are ratios of medians within one run;
the repetitions alternate, so that a busy machine slows both sides.

    python bench/codec.py [--rounds N] [--target RATIO]

Exit status 1 if the median ratio of parsing or of building is below the target.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import construct

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from wirekafka.protocol.apis import APIS
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.message import Message
from wirekafka.protocol.nodes import TAGGED, ArrayOf, Instance, NullableStruct, Sized

ELEMENTS_BY_DEPTH = (3, 4, 2)
"""How many elements an array has: topics, their partitions, and what lies deeper."""

RECORDS = bytes(range(256)) * 4
"""Stands for a record batch of one kilobyte, which no codec looks into."""

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
class Figure:
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
    parse: Figure
    build: Figure


def seconds_per_call(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def compare(interpreted: Callable[[], object], compiled: Callable[[], object], rounds: int) -> Figure:
    """Time both by turns; the median of each."""
    plan = [
        (call, max(1, round(SAMPLE_SECONDS / seconds_per_call(call, 3)))) for call in (interpreted, compiled)
    ]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for (call, calls), seen in zip(plan, times, strict=True):
            seen.append(seconds_per_call(call, calls))
    slow, fast = (statistics.median(seen) * 1e6 for seen in times)
    return Figure(slow, fast)


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


def table(rows: Sequence[Row]) -> str:
    columns = (f"  {direction + ' us':>9}{'was':>9}{'ratio':>7}" for direction in ("parse", "build"))
    lines = [f"{'message':38}{'bytes':>7}" + "".join(columns)]
    for row in rows:
        figures = (
            f"  {figure.compiled_us:9.2f}{figure.interpreted_us:9.1f}{figure.ratio:7.1f}"
            for figure in (row.parse, row.build)
        )
        lines.append(f"{row.name:38}{row.size_bytes:7}" + "".join(figures))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compiled codec against interpreted construct.")
    parser.add_argument("--rounds", type=int, default=15, help="repetitions of each measurement")
    parser.add_argument("--target", type=float, default=10.0, help="the median ratio that must be reached")
    options = parser.parse_args(arguments)
    classes = [cls for api in APIS.values() for cls in (api.request, api.response)]
    rows = [measure(cls, options.rounds) for cls in classes]
    parse = statistics.median(row.parse.ratio for row in rows)
    build = statistics.median(row.build.ratio for row in rows)
    sys.stdout.write(f"{table(rows)}\n\nmedian ratio: parse {parse:.1f}, build {build:.1f}\n")
    return 0 if min(parse, build) >= options.target else 1


if __name__ == "__main__":
    raise SystemExit(main())
