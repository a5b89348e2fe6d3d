"""How soon does a broker take a record, and how much memory does it hold: idle, and under load?

    python bench/startup.py [--rounds N] [--quick] [--results FOLDER]

Every broker is started on a new folder, asked for a topic from the moment of exec on and then sent a record,
until that is acknowledged; a second later its memory is read. Once more each is given the same bytes by
confluent-kafka with its memory watched, and for a while nothing before and after. Before anything is counted
every broker is started once.
"""

import itertools
import socket
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing

import frames
import rivals
from clients import Fleet, Point, Side
from confluent_kafka import Producer
from instrument.answers import Answer, Bars, Cell, Lines, Series, Spread, Table
from instrument.figures import Figure, ratios
from instrument.processes import MemoryOverTime
from instrument.question import Options, Question, alternating, progress, run

from wirekafka.protocol.apis.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from wirekafka.protocol.apis.produce import ProduceResponse
from wirekafka.protocol.error_codes import ErrorCode

OURS, KAFKA = "wirekafka", "apache-kafka"
OTHERS = ("kfake", "tansu", "librdkafka-mock")
BROKERS = (OURS, KAFKA, *OTHERS)
TARGET = 1 / 8
IDLE_AFTER_SECONDS, REST_SECONDS = 1.0, 2.0
AGAIN_SECONDS = 0.002
GIVE_UP_SECONDS = 60.0
LOAD = Point("load")
LOAD_CLIENT = "confluent-kafka"
LOADS = 3
"""Turns of writing and reading: of 300 MB each way, when they are not quick."""
BATCH_BYTES = 1100
NOTES = (
    "Exec is that of the broker itself: what Apache Kafka needs before it for the first time, formatting its "
    "folder by another start of Java, is not counted. wirekafka's modules are compiled, as pip does it.",
    "The topic is made and the record sent by hand over a plain socket, so that no client is waited for; but "
    "the mock cluster, which cannot be asked for a topic, has both from confluent-kafka.",
    "Memory is what is resident (VmRSS). kfake, Tansu and the mock cluster keep all records, or their "
    "newest, in memory; the other two on disk. Apache Kafka has the heap that its script gives, 1 GiB.",
)


class Bench:
    """What was measured so far."""

    def __init__(self, options: Options) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.idle_mib: dict[str, list[float]] = defaultdict(list)
        self.loaded: dict[str, MemoryOverTime] = {}
        self.absent: dict[str, str] = {}
        self._options = options
        self._folders = (options.folder / str(number) for number in itertools.count())

    def start(self, name: str, *, counted: bool) -> None:
        """Start a broker, send it a record, and read its memory when it has been idle for a while."""
        if name in self.absent:
            return
        try:
            with rivals.start(name, next(self._folders)) as broker:
                seconds = _first_acknowledged(broker) - broker.exec_at
                if counted:
                    time.sleep(IDLE_AFTER_SECONDS)
                    self.seconds[name].append(seconds)
                    self.idle_mib[name].append(broker.resident_mib())
        except rivals.NotAvailable as reason:
            self.absent[name] = str(reason)

    def load(self, name: str, fleet: Fleet) -> None:
        """Watch a broker's memory while it rests, works and rests."""
        share = 0.1 if self._options.quick else 1.0
        with rivals.start(name, next(self._folders)) as broker, MemoryOverTime(broker.process_id) as memory:
            side = Side(broker)
            time.sleep(REST_SECONDS)
            with side.topic(frames.TOPIC, LOAD.partitions):
                for _ in range(LOADS):
                    for verb in ("produce",) if "keeping" in side.lacks else ("produce", "consume"):
                        side.turn(fleet, LOAD, verb, frames.TOPIC, share=share)
                time.sleep(REST_SECONDS)
            self.loaded[name] = memory


def _first_acknowledged(broker: rivals.RunningBroker) -> float:
    """When the first record was acknowledged, by `time.perf_counter()`."""
    if "topics" in rivals.RIVALS[broker.name].lacks:
        return _first_acknowledged_to_client(broker.bootstrap)
    host, _, port = broker.bootstrap.rpartition(":")
    record = frames.produce_frame(BATCH_BYTES, acks=-1)
    with socket.create_connection((host, int(port)), timeout=GIVE_UP_SECONDS) as sock:
        while not _is_created(sock):
            time.sleep(AGAIN_SECONDS)
        while not _is_acknowledged(sock, record):
            time.sleep(AGAIN_SECONDS)
        return time.perf_counter()


def _first_acknowledged_to_client(bootstrap: str) -> float:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "log_level": 0})
    producer.produce(frames.TOPIC, bytes(BATCH_BYTES))
    if producer.flush(GIVE_UP_SECONDS):
        raise TimeoutError(f"{bootstrap} acknowledged nothing")
    return time.perf_counter()


def _is_created(sock: socket.socket) -> bool:
    """Whether the broker has made the topic; Apache Kafka refuses it until it has registered with itself."""
    topic = CreatableTopic(
        name=frames.TOPIC, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=int(GIVE_UP_SECONDS * 1000))
    sent = frames.frame(CREATE_TOPICS.key, frames.CREATE_VERSION, request)
    answer = frames.ask(sock, sent, CREATE_TOPICS.response, frames.CREATE_VERSION)
    return answer.topics[0].error_code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)


def _is_acknowledged(sock: socket.socket, record: bytes) -> bool:
    answer = frames.ask(sock, record, ProduceResponse, frames.PRODUCE_VERSION)
    return answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def ask(options: Options) -> Answer:
    """Measure, and tell."""
    bench = Bench(options)
    for name in BROKERS:
        progress(f"once uncounted: {name}")
        bench.start(name, counted=False)
    for number, name in alternating(options.rounds, *BROKERS):
        progress(f"round {number + 1} of {options.rounds}: {name}")
        bench.start(name, counted=True)
    with closing(Fleet(LOAD_CLIENT, 1)) as fleet:
        for name in BROKERS:
            if name not in bench.absent:
                progress(f"under load: {name}")
                bench.load(name, fleet)
    absent = [f"{name} was not measured: {reason}" for name, reason in bench.absent.items()]
    return Answer(_figures(bench), [_table(bench)], _plots(bench), [*NOTES, *absent])


def _figures(bench: Bench) -> list[Figure]:
    measured = {"exec to first acknowledged record": bench.seconds, "memory idle": bench.idle_mib}
    return [
        Figure(f"{name}, {OURS} / {KAFKA}", ratios(by_broker[OURS], by_broker[KAFKA]), TARGET, at_most=True)
        for name, by_broker in measured.items()
    ]


def _table(bench: Bench) -> Table:
    rows: list[list[Cell]] = [
        [
            name,
            Spread(bench.seconds[name], "s"),
            Spread(bench.idle_mib[name], "MiB"),
            max(mib for _, mib in bench.loaded[name].samples),
        ]
        for name in BROKERS
        if name in bench.loaded
    ]
    columns = ["broker", "exec to first acknowledged record", "idle", "most under load, MiB"]
    return Table("Start and memory", columns, rows)


def _plots(bench: Bench) -> list[Bars | Lines]:
    by_broker = {name: [Spread(bench.seconds[name])] for name in bench.loaded}
    start = Bars("start", "Exec to first acknowledged record", "s", [""], by_broker, log_y=True)
    title = "Memory: at rest, while the same bytes go in and out, at rest again"
    series = [_curve(name, memory.samples) for name, memory in bench.loaded.items()]
    return [start, Lines("memory", title, "s", "MiB resident", series, log_y=True)]


def _curve(name: str, samples: Sequence[tuple[float, float]]) -> Series:
    return Series(name, [seconds for seconds, _ in samples], [mib for _, mib in samples])


QUESTION = Question(
    "startup",
    "How soon does a broker take a record, and how much memory does it hold?",
    ask,
    minutes=1.9,
    prepare=rivals.fetch_all,
)

if __name__ == "__main__":
    run(QUESTION)
