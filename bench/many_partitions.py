"""How soon is a broker with many partitions there, and how much memory does it hold?

    python bench/many_partitions.py [--rounds N] [--quick]

A hundred topics with 10,000 partitions together, a batch in each, are made; the broker stops cleanly and
starts again, several times, allowed 4,000 file descriptors. The figures are the time from exec until a
client has the metadata of all of it, and the memory resident then; the time a clean stop takes is told
besides.
"""

import time

from frames import (
    METADATA_VERSION,
    check_fetched,
    check_produced,
    create_topic,
    fetch_frame,
    metadata_frame,
    produce_frame,
    receive_frame,
)
from instrument.answers import Answer
from instrument.figures import Figure
from instrument.question import Options, Question, progress, run
from servers import Server, start_broker

from wirekafka.protocol.apis.metadata import MetadataResponse
from wirekafka.protocol.codec import codec_for

PARTITIONS = 10_000
OPEN_FILES = 4_000
_PARTITIONS_A_TOPIC = 100
_MOST_SECONDS, _MOST_MIB = 10.0, 1024.0
_LARGEST_ANSWER = 64 * 1024 * 1024


def ask(options: Options) -> Answer:
    """Make the partitions, then stop and start."""
    partitions, open_files = (1_000, 400) if options.quick else (PARTITIONS, OPEN_FILES)
    broker = start_broker(options.folder, pinned=False, open_files=open_files)
    _make(broker, partitions)
    starts, memory, stops = [], [], []
    for _ in range(options.rounds):
        begun = time.perf_counter()
        broker.stop()
        stops.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        broker = start_broker(options.folder, pinned=False, open_files=open_files)
        _ask_for_all(broker, partitions)
        starts.append(time.perf_counter() - begun)
        memory.append(broker.resident_mib())
        progress(
            f"stopped in {stops[-1]:.1f} s, there again in {starts[-1]:.1f} s with {memory[-1]:.0f} MiB, "
            f"{broker.open_files()} open files"
        )
    broker.stop()
    figures = [
        Figure(f"clean start, {partitions:,} partitions", starts, _MOST_SECONDS, at_most=True, unit="s"),
        Figure("resident memory then", memory, _MOST_MIB, at_most=True, unit="MiB"),
        Figure("clean stop", stops, unit="s"),
    ]
    return Answer(figures)


def _make(broker: Server, partitions: int) -> None:
    topics = [f"bench-{n}" for n in range(partitions // _PARTITIONS_A_TOPIC)]
    begun = time.perf_counter()
    with broker.connect() as sock:
        for name in topics:
            create_topic(sock, name, partitions=_PARTITIONS_A_TOPIC)
        progress(f"{partitions:,} partitions made in {time.perf_counter() - begun:.1f} s")
        begun = time.perf_counter()
        for name in topics:
            check_produced(sock, produce_frame(1100, name, partitions=range(_PARTITIONS_A_TOPIC)))
        progress(f"a batch written to each in {time.perf_counter() - begun:.1f} s")


def _ask_for_all(broker: Server, partitions: int) -> None:
    """The metadata names every partition, on line; and the records of one are there."""
    with broker.connect() as sock:
        sock.sendall(metadata_frame())
        answer = receive_frame(sock, bytearray(_LARGEST_ANSWER))
        check_fetched(sock, fetch_frame(0, 4096, "bench-0"), 1024)
    response = codec_for(MetadataResponse, METADATA_VERSION).parse(bytes(answer[5:]))
    found = [partition for topic in response.topics for partition in topic.partitions]
    assert len(found) == partitions, len(found)
    assert not any(partition.error_code for partition in found)


QUESTION = Question(
    "many_partitions",
    "How soon is a broker with 10,000 partitions there, and how much memory does it hold?",
    ask,
    minutes=2,
    usual=False,
)

if __name__ == "__main__":
    run(QUESTION)
