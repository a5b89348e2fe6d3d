"""How near the broker comes to the least that produce and fetch can cost.

    python bench/hot_path.py [--rounds N] [--seconds S] [--batch-bytes N] [--target RATIO]

In: one connection sends produce requests of one batch (1 MiB by default), five in flight, to the
broker; and the same bytes to a bare trio loop that receives them, checks CRC-32C and writes them to a
file. Out: the same connection fetches what was written; and takes the same bytes from a bare trio
loop that does nothing but sendfile. Rounds alternate, so that both sides meet the same weather; the
figure is the median of the ratios broker / bare. Exit status 1 if one of them is below the target.

Every server is a process of its own; this one is the client. Client and servers are pinned to two
processors where there are two: left to itself the scheduler now and then puts both on one, which halves
either side's figure by chance.
"""

import argparse
import os
import select
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from wirekafka.protocol.apis.create_topics import CreatableTopic, CreateTopicsRequest
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from wirekafka.protocol.apis.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.message import Message
from wirekafka.protocol.records import Record, build_batch

TOPIC = "bench"
IN_FLIGHT = 5
REQUESTS_TO_FETCH = 4
PRODUCE_VERSION, FETCH_VERSION, CREATE_VERSION = 9, 12, 7
HERE = Path(__file__).resolve().parent


def frame(key: int, version: int, header_version: int, message: Message) -> bytes:
    """A request with its length prefix."""
    header = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=1, client_id="bench"
    )
    body = codec_for(RequestHeader, header_version).build(header) + codec_for(type(message), version).build(
        message
    )
    return struct.pack(">i", len(body)) + body


def produce_frame(batch_bytes: int) -> bytes:
    """A produce request of one uncompressed batch of 1 KiB records, about `batch_bytes` in all."""
    record = Record(value=os.urandom(1024))
    batch = build_batch([record] * (batch_bytes // 1035), timestamp_ms=int(time.time() * 1000))
    data = PartitionProduceData(index=0, records=memoryview(batch))
    topic = TopicProduceData(name=TOPIC, partition_data=[data])
    return frame(0, PRODUCE_VERSION, 2, ProduceRequest(acks=1, timeout_ms=5000, topic_data=[topic]))


def fetch_frame(offset: int, max_bytes: int) -> bytes:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=max_bytes,
        topics=[FetchTopic(topic=TOPIC, partitions=[wanted])],
    )
    return frame(1, FETCH_VERSION, 2, request)


PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
"""Those we may run on, as it was at the start."""


def pin(process_id: int, place: int) -> None:
    """Keep a process on one processor, where there are at least two."""
    if len(PROCESSORS) > 1:
        os.sched_setaffinity(process_id, {PROCESSORS[place]})


class Server:
    """A server process that prints its port on its first line that has one."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        pin(self.process.pid, 1)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "127.0.0.1:" in line:
                self.port = int(line.split("127.0.0.1:")[1].split()[0])
                return
        raise RuntimeError(f"{command} did not start")

    def connect(self) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def receive_exactly(sock: socket.socket, space: memoryview) -> None:
    while len(space):
        count = sock.recv_into(space)
        if count == 0:
            raise ConnectionError("the server hung up")
        space = space[count:]


def receive_frame(sock: socket.socket, space: bytearray) -> memoryview:
    view = memoryview(space)
    receive_exactly(sock, view[:4])
    (length,) = struct.unpack_from(">i", space)
    receive_exactly(sock, view[:length])
    return view[:length]


def send_for(sock: socket.socket, request: bytes, seconds: float) -> float:
    """Keep IN_FLIGHT requests on the way for some seconds; give MB/s of requests answered."""
    space = bytearray(64 * 1024)
    begun = time.perf_counter()
    sent = answered = 0
    out = memoryview(b"")
    sock.setblocking(False)
    poll = select.poll()
    poll.register(sock, select.POLLIN | select.POLLOUT)
    held = b""
    while True:
        now = time.perf_counter()
        if now - begun >= seconds and sent == answered and not len(out):
            sock.setblocking(True)
            return answered * len(request) / (now - begun) / 1e6
        if not len(out) and sent - answered < IN_FLIGHT and now - begun < seconds:
            out = memoryview(request)
            sent += 1
        poll.modify(sock, select.POLLIN | (select.POLLOUT if len(out) else 0))
        (_, events) = poll.poll()[0]
        if events & select.POLLOUT and len(out):
            out = out[sock.send(out) :]
        if events & select.POLLIN:
            count = sock.recv_into(space)
            held += bytes(space[:count])
            while len(held) >= 4 and len(held) >= 4 + int.from_bytes(held[:4], "big"):
                held = held[4 + int.from_bytes(held[:4], "big") :]
                answered += 1


def fetch_for(sock: socket.socket, ask: Callable[[], bytes], seconds: float, size: int) -> float:
    """Ask and take whole answers for some seconds; give MB/s received."""
    space = bytearray(size + 1024 * 1024)
    begun, taken = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        sock.sendall(ask())
        taken += len(receive_frame(sock, space))
    return taken / (time.perf_counter() - begun) / 1e6


def create_topic(sock: socket.socket) -> None:
    topic = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1, assignments=[], configs=[])
    sock.sendall(frame(19, CREATE_VERSION, 2, CreateTopicsRequest(topics=[topic])))
    receive_frame(sock, bytearray(64 * 1024))


def check_produced(sock: socket.socket, request: bytes) -> None:
    """The broker really takes these requests: one is answered with no error."""
    sock.sendall(request)
    answer = receive_frame(sock, bytearray(64 * 1024))
    response = codec_for(ProduceResponse, PRODUCE_VERSION).parse(answer[5:])
    assert response.responses[0].partition_responses[0].error_code == 0, response


def check_fetched(sock: socket.socket, ask: bytes, size: int) -> None:
    """The broker really gives records: a whole batch or more."""
    sock.sendall(ask)
    answer = receive_frame(sock, bytearray(size + 1024 * 1024))
    response = codec_for(FetchResponse, FETCH_VERSION).parse(answer[5:])
    data = response.responses[0].partitions[0]
    assert data.error_code == 0, data.error_code
    assert data.records is not None
    assert len(data.records) >= size // 2, len(data.records)


def compare_fetch(
    to_broker: socket.socket, to_bare: socket.socket, request: bytes, rounds: int, seconds: float
) -> float:
    """Give both sides the same bytes, then fetch them from both in turn; give the median ratio."""
    for _ in range(REQUESTS_TO_FETCH):
        check_produced(to_broker, request)
        to_bare.sendall(request)
        receive_frame(to_bare, bytearray(1024))
    size = len(request)
    ask, bare_ask = fetch_frame(0, size), struct.pack(">iI", -1, size)
    check_fetched(to_broker, ask, size)
    pairs = [
        (
            fetch_for(to_broker, lambda: ask, seconds, size),
            fetch_for(to_bare, lambda: bare_ask, seconds, size),
        )
        for _ in range(rounds)
    ]
    return report("fetch", pairs)


def report(name: str, pairs: Sequence[tuple[float, ...]]) -> float:
    """Print one line, and give the median ratio."""
    broker, bare = ([pair[side] for pair in pairs] for side in (0, 1))
    ratios = [a / b for a, b in pairs]
    print(
        f"{name:<8} broker {statistics.median(broker):8.0f} MB/s   bare {statistics.median(bare):8.0f} MB/s"
        f"   ratio {statistics.median(ratios):.2f}  ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
    return statistics.median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one round of one side")
    parser.add_argument("--batch-bytes", type=int, default=1024 * 1024 - 4096)
    parser.add_argument("--target", type=float, default=0.5, help="the least median ratio, each way")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wirekafka-bench-") as folder:
        ratios = run(options.rounds, options.seconds, options.batch_bytes, Path(folder))
    if min(ratios) < options.target:
        sys.exit(f"below the target of {options.target}")


def run(rounds: int, seconds: float, batch_bytes: int, folder: Path) -> tuple[float, float]:
    """Compare both ways; give the median ratios of fetch and of produce."""
    broker = Server(
        "-m", "wirekafka", "serve", "--listen", "127.0.0.1:0", "--data-dir", str(folder / "data"),
        "--set", "message.max.bytes=20000000", "--set", "log.segment.bytes=268435456",
    )  # fmt: skip
    bare = Server(str(HERE / "bare_server.py"), str(folder))
    pin(0, 0)
    try:
        request = produce_frame(batch_bytes)
        to_broker, to_bare = broker.connect(), bare.connect()
        create_topic(to_broker)
        print(f"{rounds} rounds of {seconds} s a side, requests of {len(request):,} bytes", flush=True)
        # Fetch first, and of little: what produce leaves for the disk to write would disturb it.
        fetch_ratio = compare_fetch(to_broker, to_bare, request, rounds, seconds)
        pairs = [
            (send_for(to_broker, request, seconds), send_for(to_bare, request, seconds))
            for _ in range(rounds)
        ]
        return fetch_ratio, report("produce", pairs)
    finally:
        broker.stop()
        bare.stop()


if __name__ == "__main__":
    main()
