"""What does a start import, and how much memory does a broker hold: idle, and after 1, 100 and 10,000 topics?

    python bench/footprint.py [--rounds N] [--quick]

The imports are those of `wirekafka serve`, each module with the time of its own (`python -X importtime`),
gathered by package and for ours by room; the least of all rounds counts, as whatever else the machine does
only adds to it. Memory is what is resident (RSS): of a broker that has just answered, and after so many
topics of one partition have been made, with a record written to each. Apache Kafka stands beside it as far
as 100 topics.
"""

import functools
import os
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from frames import ask as ask_broker
from frames import batch_of, check_answered, frame
from instrument.answers import Answer, Lines, Series, Spread, Table
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, alternating, progress, run
from rivals import NotAvailable, RunningBroker, fetch, start

from wirekafka.protocol.apis.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from wirekafka.protocol.apis.produce import (
    PRODUCE,
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from wirekafka.protocol.error_codes import ErrorCode

_OURS, _KAFKA = "wirekafka", "apache-kafka"
_SIZES, _QUICK_SIZES = (1, 100, 10_000), (1, 100)
_KAFKAS_MOST = 100
_AT_A_TIME = 100
_CREATE_VERSION, _PRODUCE_VERSION = 7, 9
_RECORD_BYTES = 100
_LEADER_SECONDS = 60.0
_NO_LEADER_YET = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER)
_BYTECODE = "bytecode"
_SMALL_MS = 1.0
_SERVE = "import wirekafka.cli.main, wirekafka.cli.serve"


@dataclass
class Memory:
    """MiB resident: idle, and after so many topics."""

    idle: list[float] = field(default_factory=list)
    after: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))


def ask(options: Options) -> Answer:
    """Import, then start and fill."""
    costs, modules = _imports(options)
    memory = {_OURS: Memory(), _KAFKA: Memory()}
    sizes = _QUICK_SIZES if options.quick else _SIZES
    notes = ["The time of imports is that of the modules' own code, without what they import in turn."]
    few = [size for size in sizes if size <= _KAFKAS_MOST]
    absent: set[str] = set()
    for number, name in alternating(options.rounds, _OURS, _KAFKA):
        if name in absent:
            continue
        try:
            folder = options.folder / f"{name}-{number}"
            _fill(name, folder, few if name == _KAFKA else sizes, memory[name])
        except NotAvailable as reason:
            absent.add(name)
            notes.append(f"No {name}: {reason}.")
        progress(f"{number + 1}, {name}: {_told(memory[name])}")
    tables = [_imports_table(costs, modules), _memory_table(memory, sizes)]
    return Answer(_figures(memory, sizes), tables, [_plot(memory)], notes)


def _told(memory: Memory) -> str:
    if not memory.idle:
        return "not here"
    after = (f"{samples[-1]:.0f} MiB after {size:,}" for size, samples in memory.after.items())
    return ", ".join([f"{memory.idle[-1]:.0f} MiB idle", *after])


# --- imports


def _imports(options: Options) -> tuple[dict[str, float], dict[str, int]]:
    """The least milliseconds of each package or room, and how many modules it has."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(options.folder / _BYTECODE)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    least: dict[str, int] = {}
    for number in range(2 * options.rounds + 1):
        command = [sys.executable, "-X", "importtime", "-c", _SERVE]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
        if number:  # the first one compiles
            least = {name: min(us, least.get(name, us)) for name, us in _modules_in(said)}
    costs: dict[str, float] = defaultdict(float)
    modules: dict[str, int] = defaultdict(int)
    for name, us in least.items():
        costs[_package_of(name)] += us / 1000
        modules[_package_of(name)] += 1
    progress(f"{len(least)} modules imported in {sum(costs.values()):.0f} ms")
    return costs, modules


def _modules_in(said: str) -> Iterator[tuple[str, int]]:
    """Module and microseconds of each line of `-X importtime`."""
    for line in said.splitlines():
        fields = line.removeprefix("import time:").split("|")
        if len(fields) == 3 and fields[0].strip().isdigit():
            yield fields[2].strip(), int(fields[0])


def _package_of(module: str) -> str:
    """For ours the room, for Python's own modules one name, for others the package."""
    package = module.partition(".")[0]
    if package == "wirekafka":
        return ".".join(module.split(".")[:2])
    return "Python's own" if package in sys.stdlib_module_names else package


def _imports_table(costs: dict[str, float], modules: dict[str, int]) -> Table:
    names = sorted((name for name in costs if costs[name] >= _SMALL_MS), key=lambda name: -costs[name])
    rows = [(name, modules[name], round(costs[name], 1)) for name in names]
    small = costs.keys() - set(names)
    rows.append(
        ("the rest", sum(modules[name] for name in small), round(sum(costs[name] for name in small), 1))
    )
    rows.append(("all", sum(modules.values()), round(sum(costs.values()), 1)))
    return Table("What `wirekafka serve` imports", ["package or room", "modules", "ms"], rows)


# --- memory


def _fill(name: str, folder: Path, sizes: Sequence[int], memory: Memory) -> None:
    """Start a broker, and make more and more topics."""
    with start(name, folder) as broker, _connection(broker) as sock:
        memory.idle.append(broker.resident_mib())
        made = 0
        for size in sizes:
            for first in range(made, size, _AT_A_TIME):
                _make(sock, [f"topic-{number}" for number in range(first, min(first + _AT_A_TIME, size))])
            made = size
            memory.after[size].append(broker.resident_mib())


def _connection(broker: RunningBroker) -> socket.socket:
    host, _, port = broker.bootstrap.rpartition(":")
    return socket.create_connection((host, int(port)))


def _make(sock: socket.socket, names: Sequence[str]) -> None:
    """Create these topics, with one partition and a record each."""
    check_answered(sock, frame(CREATE_TOPICS.key, _CREATE_VERSION, _creation_of(names)))
    deadline = time.perf_counter() + _LEADER_SECONDS
    while names := _without_leader(sock, names):
        if time.perf_counter() > deadline:
            raise RuntimeError(f"no leader for {len(names)} topics after {_LEADER_SECONDS:.0f} s")
        time.sleep(0.05)


def _without_leader(sock: socket.socket, names: Sequence[str]) -> list[str]:
    """Write a record to each of these topics; give those that were not to be written to yet."""
    request = frame(PRODUCE.key, _PRODUCE_VERSION, _records_for(names))
    response = ask_broker(sock, request, ProduceResponse, _PRODUCE_VERSION)
    codes = {topic.name: topic.partition_responses[0].error_code for topic in response.responses}
    assert set(codes.values()) <= {ErrorCode.NONE, *_NO_LEADER_YET}, codes
    return [name for name, code in codes.items() if code]


def _creation_of(names: Iterable[str]) -> CreateTopicsRequest:
    topics = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
        for name in names
    ]
    return CreateTopicsRequest(topics=topics, timeout_ms=120_000)


def _records_for(names: Iterable[str]) -> ProduceRequest:
    batch = memoryview(batch_of(_RECORD_BYTES))
    data = [
        TopicProduceData(name=name, partition_data=[PartitionProduceData(index=0, records=batch)])
        for name in names
    ]
    return ProduceRequest(acks=1, timeout_ms=30_000, topic_data=data)


def _figures(memory: dict[str, Memory], sizes: Sequence[int]) -> list[Figure]:
    ours, kafka = memory[_OURS], memory[_KAFKA]
    most, fewer = sizes[-1], sizes[-2]
    figures = [Figure("idle", ours.idle, unit="MiB"), *_ratios(ours, kafka)]
    each = [
        (many - few) * 1024 / (most - fewer)
        for many, few in zip(ours.after[most], ours.after[fewer], strict=True)
    ]
    figures.append(Figure(f"a topic, from {fewer:,} to {most:,}", each, unit="KiB"))
    return figures


def _ratios(ours: Memory, kafka: Memory) -> list[Figure]:
    """Ours over Apache Kafka's, round by round."""
    if not kafka.idle:
        return []
    loaded = ratios(ours.after[_KAFKAS_MOST], kafka.after[_KAFKAS_MOST])
    return [
        Figure("idle, ours / Apache Kafka's", ratios(ours.idle, kafka.idle), 1 / 8, at_most=True),
        Figure(f"after {_KAFKAS_MOST} topics, ours / Apache Kafka's", loaded, 1 / 6, at_most=True),
    ]


def _memory_table(memory: dict[str, Memory], sizes: Sequence[int]) -> Table:
    rows = []
    for name, each in memory.items():
        if each.idle:
            after = (Spread(each.after[size], "MiB") if size in each.after else "" for size in sizes)
            rows.append((name, Spread(each.idle, "MiB"), *after))
    columns = ["", "idle", *(f"{size:,} topic{'s' if size > 1 else ''}" for size in sizes)]
    return Table("Resident memory, a record in each topic", columns, rows)


def _plot(memory: dict[str, Memory]) -> Lines:
    series = [_series(name, each) for name, each in memory.items() if each.idle]
    return Lines("memory", "Resident memory", "topics", "MiB", series, log_x=True, log_y=True)


def _series(name: str, memory: Memory) -> Series:
    spreads = {size: Spread(samples) for size, samples in memory.after.items()}
    return Series(
        name,
        list(spreads),
        [each.median for each in spreads.values()],
        [min(each.samples) for each in spreads.values()],
        [max(each.samples) for each in spreads.values()],
    )


QUESTION = Question(
    "footprint",
    "What does a start import, and how much memory does a broker hold?",
    ask,
    minutes=2.2,
    rounds=5,
    prepare=functools.partial(fetch, _OURS, _KAFKA),
)

if __name__ == "__main__":
    run(QUESTION)
