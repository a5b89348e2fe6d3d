"""How does cost grow from 1 to 10,000 partitions?

    python bench/growth_partitions.py [--rounds N] [--quick]

In every round each size is made on an empty folder, in topics of up to 100 partitions, and a batch is written
to every partition; then it is started again after a clean stop. Measured are the processor time of the event
loop to create all, to create one more topic beside them, to write to and read from one partition picked at
random, to answer for the metadata of one topic and of all (the first time after a change, and again); the
time from exec to the first answer, the processor time of all threads until then, and the memory held then.

A request about one partition should cost the same however many there are. What is done for all, to create, to
name, to open and to hold them, grows with the number, and no faster. Most of a creation is the file system's:
a folder and four files each. Apache Kafka stands beside, as far as 1,000 partitions, with what one request
costs and what memory it holds.
"""

import random
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from frames import (
    CREATE_VERSION,
    METADATA_VERSION,
    check_answered,
    check_fetched,
    check_produced,
    create_topic,
    fetch_frame,
    frame,
    metadata_frame,
    produce_frame,
)
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
    request_cost_us,
    seconds_since,
    settle,
)
from instrument.answers import Answer
from instrument.question import Options, Question, alternating, progress, run
from rivals import RunningBroker, start

from wirekafka.protocol.apis.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from wirekafka.protocol.apis.metadata import METADATA, MetadataRequest, MetadataRequestTopic

_SIZES, _QUICK_SIZES = (1, 10, 100, 1_000, 10_000), (1, 10, 100)
_A_TOPIC = 100
_REQUESTS = 300
_KAFKAS_MOST, _WARMING = 1_000, 2_000
_NAMED_IN_ALL = 20_000
"""So many partitions are named in a round by answers about all."""
_BATCH_BYTES = 1100
_NOTES = ("Apache Kafka's memory is that of the broker which made the partitions, not of one started again.",)

CREATED = Curve("all created", "ms of processor", LINEAR)
ONE_MORE = Curve("one more topic", "us of processor", FLAT)
PRODUCE = Curve("produce to one of them", "us of processor", FLAT)
FETCH = Curve("fetch from one of them", "us of processor", FLAT)
METADATA_ONE = Curve("metadata of one topic", "us of processor", FLAT)
METADATA_ALL = Curve("metadata of all", "us of processor", LINEAR)
METADATA_ANEW = Curve("metadata of all, after a change", "us of processor", LINEAR)
START = Curve("exec to first answer", "s", LINEAR)
START_CPU = Curve("processor time of a start", "s", LINEAR)
MEMORY = Curve("resident after a start", "MiB", LINEAR)
STOP = Curve("clean stop", "s", LINEAR)


def ask(options: Options) -> Answer:
    """Make every size in every round, and start it again."""
    sizes = _QUICK_SIZES if options.quick else _SIZES
    growth = Growth("partitions")
    for number, size in alternating(options.rounds, *sizes):
        folder = options.folder / f"{size}-{number}"
        _make(growth, folder, size)
        with start("wirekafka", folder) as broker:
            growth.add(START, size, seconds_since(broker.exec_at))
            growth.add(START_CPU, size, broker.cpu_seconds())
            growth.add(MEMORY, size, broker.resident_mib())
            pinned(broker)
            with connection(broker) as sock:
                _ask_about(growth, broker, sock, size)
            stopping = time.perf_counter()
        growth.add(STOP, size, seconds_since(stopping))
        progress(f"round {number + 1}, {size:,} partitions: {growth.told([CREATED, START, MEMORY], size)}")
    kafkas_sizes = [size for size in sizes if size <= _KAFKAS_MOST]
    notes = measure_kafka(
        growth, options.folder / "kafka", lambda beside, broker: _grow(beside, broker, kafkas_sizes)
    )
    requests = Plotted("requests", "A request as partitions grow", [ONE_MORE, PRODUCE, FETCH, METADATA_ONE])
    metadata = Plotted("metadata", "Metadata of all as partitions grow", [METADATA_ALL, METADATA_ANEW])
    created = Plotted("created", "To create so many partitions", [CREATED])
    starts = Plotted("start", "Start and stop as partitions grow", [START, START_CPU, STOP])
    memory = Plotted("memory", "Memory as partitions grow", [MEMORY])
    return growth.answer(
        "Cost as partitions grow", [requests, metadata, created, starts, memory], [*notes, *_NOTES]
    )


def _grow(growth: Growth, broker: RunningBroker, sizes: Sequence[int]) -> None:
    """One broker with more and more partitions, asked at each size."""
    with connection(broker) as sock:
        make_topic(broker, sock, "warm")
        warming = [_produce("warm", 0), fetch_frame(0, _BATCH_BYTES, "warm"), metadata_frame()]
        request_cost_us(broker, sock, warming * _WARMING)
        made = 1
        for size in sizes:
            while made < size:
                partitions = min(_A_TOPIC, size - made)
                make_topic(broker, sock, f"grown-{made}", partitions)
                check_produced(
                    sock, produce_frame(_BATCH_BYTES, f"grown-{made}", partitions=range(partitions))
                )
                made += partitions
            for curve, request in (
                (PRODUCE, _produce("warm", 0)),
                (FETCH, fetch_frame(0, _BATCH_BYTES, "warm")),
                (METADATA_ONE, _metadata_of("warm")),
                (METADATA_ALL, metadata_frame()),
            ):
                request_cost_us(broker, sock, [request] * 20)
                growth.add(curve, size, request_cost_us(broker, sock, [request] * _REQUESTS))
            growth.add(MEMORY, size, broker.resident_mib())


def _topics(size: int) -> list[tuple[str, int]]:
    """Names with how many partitions each."""
    return [(f"bench-{first}", min(_A_TOPIC, size - first)) for first in range(0, size, _A_TOPIC)]


def _make(growth: Growth, folder: Path, size: int) -> None:
    """Create all partitions, write a batch to each, and stop cleanly."""
    with start("wirekafka", folder) as broker, connection(broker) as sock:
        pinned(broker)
        check_answered(sock, _creation_tried())

        def create() -> int:
            for name, partitions in _topics(size):
                create_topic(sock, name, partitions=partitions)
            return size

        growth.add(CREATED, size, cost_us(broker, create) * size / 1000)
        for name, partitions in _topics(size):
            check_produced(sock, produce_frame(_BATCH_BYTES, name, partitions=range(partitions)))


def _ask_about(growth: Growth, broker: RunningBroker, sock: socket.socket, size: int) -> None:
    """One request after the other to partitions picked at random, and about all of them."""
    picked = [random.choice(_topics(size)) for _ in range(_REQUESTS)]
    produces = [_produce(name, random.randrange(partitions)) for name, partitions in picked]
    fetches = [fetch_frame(0, _BATCH_BYTES, name) for name, _ in picked]
    check_answered(sock, _creation_tried())
    growth.add(ONE_MORE, size, cost_us(broker, lambda: _create_more(sock)))
    one = _metadata_of("more-0")
    check_answered(sock, one)
    for produce, fetch in zip(produces, fetches, strict=True):  # the first use opens a file
        check_produced(sock, produce)
        check_fetched(sock, fetch, _BATCH_BYTES // 2)
    growth.add(PRODUCE, size, request_cost_us(broker, sock, produces))
    growth.add(FETCH, size, request_cost_us(broker, sock, fetches))
    growth.add(METADATA_ONE, size, request_cost_us(broker, sock, [one] * _REQUESTS))
    times = min(_REQUESTS, max(3, _NAMED_IN_ALL // size))
    request_cost_us(broker, sock, [metadata_frame()])  # the first one has a codec compiled
    create_topic(sock, "last")
    settle(broker)
    growth.add(METADATA_ANEW, size, request_cost_us(broker, sock, [metadata_frame()]))
    growth.add(METADATA_ALL, size, request_cost_us(broker, sock, [metadata_frame()] * times))


def _create_more(sock: socket.socket, count: int = 10) -> int:
    for number in range(count):
        create_topic(sock, f"more-{number}")
    return count


def _creation_tried() -> bytes:
    """Have the codec of CreateTopics compiled, and no topic made."""
    topic = CreatableTopic(name="tried", num_partitions=1, replication_factor=1, assignments=[], configs=[])
    request = CreateTopicsRequest(topics=[topic], timeout_ms=60_000, validate_only=True)
    return frame(CREATE_TOPICS.key, CREATE_VERSION, request)


def _produce(topic: str, partition: int) -> bytes:
    return produce_frame(_BATCH_BYTES, topic, partitions=[partition])


def _metadata_of(topic: str) -> bytes:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    return frame(METADATA.key, METADATA_VERSION, request)


QUESTION = Question(
    "growth_partitions",
    "How does cost grow with partitions?",
    ask,
    minutes=3.4,
    prepare=fetch_both,
)

if __name__ == "__main__":
    run(QUESTION)
