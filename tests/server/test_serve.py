"""Tests of server/serve.py: a whole broker, over TCP from outside and by its trio face from inside."""

import logging
import os
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from tests.support.raw_client import RawClient, parse_response, request_frame
from tests.support.requests import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    batch_of,
    create_topic,
    create_topic_request,
    fetch,
    fetch_request,
    produce,
    produce_request,
    values_in,
)
from wirekafka.broker import BrokerConfig
from wirekafka.metadata import Settings
from wirekafka.protocol.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from wirekafka.protocol.apis.fetch import FETCH
from wirekafka.protocol.apis.metadata import METADATA, MetadataRequest
from wirekafka.protocol.records import Record, batches_in, build_batch
from wirekafka.server import Serving, serve
from wirekafka.server.serve import DRAIN_SECONDS
from wirekafka.storage import DataDirectoryInUse
from wirekafka.testing import RunningBroker

LONG_POLL_MS = 60_000
LARGE_BYTES = 5 * 1024 * 1024
SLOWLY = 0.2
"""The rate of a clock that mostly jumps, and yet lets a test that would hang come to its end."""
VERSIONS = ApiVersionsRequest(client_software_name="t", client_software_version="1")


def config_for(folder: Path, **settings: str) -> BrokerConfig:
    given = {"log.dirs": str(folder), "listeners": "PLAINTEXT://127.0.0.1:0"}
    return BrokerConfig.from_settings(
        Settings.load(None, given | {k.replace("_", "."): v for k, v in settings.items()})
    )


@pytest.fixture(scope="module")
def topic(broker: RunningBroker) -> str:
    """A topic without records."""
    with RawClient(broker.bootstrap) as raw:
        create_topic(raw, "serve-empty")
    return "serve-empty"


@pytest.fixture(scope="module")
def large_topic(broker: RunningBroker) -> tuple[str, bytes]:
    """A topic with 5 MiB in it, and the bytes that a fetch from its start gives."""
    rng = random.Random(5)
    stored = bytearray()
    with RawClient(broker.bootstrap) as raw:
        create_topic(raw, "serve-large")
        while len(stored) < LARGE_BYTES:
            batch = build_batch([Record(value=rng.randbytes(900_000))], timestamp_ms=1)
            assert produce(raw, "serve-large", bytes(batch)) == 0
            struct.pack_into(">q", batch, 0, len(list(batches_in(bytes(stored)))))
            stored += batch
    return "serve-large", bytes(stored)


def test_fifty_requests_in_one_send_are_answered_strictly_in_order(raw: RawClient) -> None:
    """Requests of one connection are answered one after the other, whatever each is."""
    asked = [METADATA if n % 3 else API_VERSIONS for n in range(50)]
    raw.send(
        b"".join(
            request_frame(MetadataRequest(topics=[]), 12, correlation_id=n)
            if api is METADATA
            else request_frame(VERSIONS, 3, correlation_id=n)
            for n, api in enumerate(asked)
        )
    )

    frames = [raw.receive_frame() for _ in asked]

    answers = [
        parse_response(api, 12 if api is METADATA else 3, f) for api, f in zip(asked, frames, strict=True)
    ]
    assert [correlation_id for correlation_id, _ in answers] == list(range(50))
    assert [hasattr(answer, "brokers") for _, answer in answers] == [api is METADATA for api in asked]


def test_produce_without_acks_is_not_answered_and_is_done(raw: RawClient) -> None:
    """acks=0: the next thing the client gets is the answer to its next request."""
    create_topic(raw, "serve-acks-0")
    raw.send(
        request_frame(
            produce_request("serve-acks-0", batch_of(b"x"), acks=0), PRODUCE_VERSION, correlation_id=1
        )
    )
    raw.send(request_frame(fetch_request("serve-acks-0"), FETCH_VERSION, correlation_id=2))

    correlation_id, answer = parse_response(FETCH, FETCH_VERSION, raw.receive_frame())

    assert correlation_id == 2
    assert values_in(bytes(answer.responses[0].partitions[0].records)) == [b"x"]


def test_a_failed_produce_without_acks_closes_the_connection(broker: RunningBroker) -> None:
    """A closed connection is all that can tell the client to ask for metadata again."""
    with RawClient(broker.bootstrap) as raw:
        raw.send(request_frame(VERSIONS, 3, correlation_id=1))
        raw.send(request_frame(produce_request("serve-nowhere", batch_of(b"x"), acks=0), PRODUCE_VERSION))
        raw.send(request_frame(VERSIONS, 3, correlation_id=3))

        assert parse_response(API_VERSIONS, 3, raw.receive_frame())[0] == 1
        assert raw.hung_up()


def test_a_long_poll_holds_up_no_answer_to_what_was_asked_before_it(
    broker: RunningBroker, topic: str
) -> None:
    """Metadata and a fetch of a minute in one send: the metadata is there at once, the fetch with
    the first record, and what was asked behind it after that."""
    with RawClient(broker.bootstrap) as raw, RawClient(broker.bootstrap) as other:
        raw.send(
            request_frame(MetadataRequest(topics=[]), 12, correlation_id=1)
            + request_frame(fetch_request(topic, max_wait_ms=LONG_POLL_MS), FETCH_VERSION, correlation_id=2)
            + request_frame(VERSIONS, 3, correlation_id=3)
        )
        first = parse_response(METADATA, 12, raw.receive_frame())[0]
        produce(other, topic, batch_of(b"woken"))
        second, answer = parse_response(FETCH, FETCH_VERSION, raw.receive_frame())
        third = parse_response(API_VERSIONS, 3, raw.receive_frame())[0]

    assert (first, second, third) == (1, 2, 3)
    assert values_in(bytes(answer.responses[0].partitions[0].records)) == [b"woken"]


def slow_reader(broker: RunningBroker) -> socket.socket:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(10)
    sock.connect((broker.host, broker.port))
    return sock


def test_a_reader_that_never_reads_delays_no_other_client(
    broker: RunningBroker, raw: RawClient, large_topic: tuple[str, bytes]
) -> None:
    """Ten peers ask for megabytes and take none of them; another is served as if they were not there."""
    name, _ = large_topic
    with ExitStack() as stack:
        for _ in range(10):
            sock = stack.enter_context(slow_reader(broker))
            sock.sendall(request_frame(fetch_request(name), FETCH_VERSION) * 3)
        create_topic(raw, "serve-beside-slow-readers")
        codes = [produce(raw, "serve-beside-slow-readers", batch_of(b"%d" % n)) for n in range(20)]
        values = values_in(fetch(raw, "serve-beside-slow-readers"))

    assert codes == [0] * 20
    assert values == [b"%d" % n for n in range(20)]


def test_a_large_fetch_arrives_byte_for_byte_at_a_reader_with_a_small_buffer(
    broker: RunningBroker, large_topic: tuple[str, bytes]
) -> None:
    """Every partial sendfile goes on where it stopped; the next answer begins where this one ends."""
    name, stored = large_topic
    with slow_reader(broker) as sock:
        sock.sendall(request_frame(fetch_request(name), FETCH_VERSION) + request_frame(VERSIONS, 3))
        stream = sock.makefile("rb")
        frames = [stream.read(int.from_bytes(stream.read(4), "big")) for _ in range(2)]
        stream.close()

    records = bytes(parse_response(FETCH, FETCH_VERSION, frames[0])[1].responses[0].partitions[0].records)
    assert without_epochs(records) == without_epochs(stored)
    assert parse_response(API_VERSIONS, 3, frames[1])[1].error_code == 0


def without_epochs(records: bytes) -> list[bytes]:
    """The batches without the leader epoch, which the broker writes into each."""
    batches = [records[b.position : b.position + b.size_in_bytes] for b in batches_in(records)]
    assert sum(map(len, batches)) == len(records)
    return [batch[:12] + batch[16:] for batch in batches]


@asynccontextmanager
async def running(config: BrokerConfig) -> AsyncIterator[Serving]:
    """A broker in this trio run; the block has to stop it."""
    async with trio.open_nursery() as nursery:
        yield await nursery.start(serve, config)


async def connect(serving: Serving) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", serving.listeners[0][1])


async def receive_frame(stream: trio.SocketStream) -> bytes:
    data = bytearray()
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        data += await stream.receive_some(4 - len(data) if len(data) < 4 else None)
    return bytes(data[4:])


async def read_to_end(stream: trio.SocketStream) -> bytes:
    return b"".join([piece async for piece in stream])


def correlation_ids(data: bytes) -> list[int]:
    ids = []
    while data:
        length, correlation_id = struct.unpack_from(">ii", data)
        ids.append(correlation_id)
        data = data[4 + length :]
    return ids


async def create(stream: trio.SocketStream, topic: str) -> None:
    await stream.send_all(request_frame(create_topic_request(topic), 5))
    await receive_frame(stream)


async def test_requests_sent_before_the_stop_are_answered_and_then_the_connection_is_closed(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    """Draining: a poll that ends in time and what was asked behind it; new peers are refused."""
    mock_clock.rate = SLOWLY
    async with running(config_for(tmp_path)) as serving:
        stream = await connect(serving)
        await create(stream, "t")
        await stream.send_all(
            request_frame(VERSIONS, 3, correlation_id=1)
            + request_frame(fetch_request("t", max_wait_ms=1000), FETCH_VERSION, correlation_id=2)
            + request_frame(VERSIONS, 3, correlation_id=3)
        )
        first = await receive_frame(stream)
        serving.stop()
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(OSError, match="all attempts to connect"):
            await connect(serving)
        mock_clock.jump(1.0)
        rest = await read_to_end(stream)
        await stream.aclose()

    assert parse_response(API_VERSIONS, 3, first)[0] == 1
    assert correlation_ids(rest) == [2, 3]


async def test_a_poll_of_a_minute_is_cut_when_the_time_to_drain_is_over(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    """A stop takes two seconds at most, whatever clients wait for."""
    ended = trio.Event()

    async def wait_for_end(stream: trio.SocketStream) -> None:
        assert await read_to_end(stream) == b""
        await stream.aclose()
        ended.set()

    mock_clock.rate = SLOWLY
    async with trio.open_nursery() as nursery, running(config_for(tmp_path)) as serving:
        stream = await connect(serving)
        await create(stream, "t")
        await stream.send_all(request_frame(fetch_request("t", max_wait_ms=LONG_POLL_MS), FETCH_VERSION))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(wait_for_end, stream)
        serving.stop()
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(DRAIN_SECONDS - 1)
        await trio.testing.wait_all_tasks_blocked()
        at_first = ended.is_set()
        mock_clock.jump(1.1)

    assert DRAIN_SECONDS == 2.0
    assert not at_first
    assert ended.is_set()


async def test_idle_connections_are_closed_at_once(tmp_path: Path) -> None:
    """They wait for nothing, so a stop does not wait for them."""
    async with running(config_for(tmp_path)) as serving:
        streams = [await connect(serving) for _ in range(5)]
        for stream in streams:
            await stream.send_all(request_frame(VERSIONS, 3))
            await receive_frame(stream)
        stopped_at = trio.current_time()
        serving.stop()
        serving.stop()
        ends = [await read_to_end(stream) for stream in streams]
        for stream in streams:
            await stream.aclose()

    assert ends == [b""] * 5
    assert trio.current_time() - stopped_at < DRAIN_SECONDS


async def test_a_connection_accepted_just_before_the_stop_is_closed_too(tmp_path: Path) -> None:
    """Between accept and the first receive there is no gap to fall into."""
    started_at = trio.current_time()
    async with running(config_for(tmp_path)) as serving:
        with socket.create_connection(("127.0.0.1", serving.listeners[0][1])):
            await trio.lowlevel.checkpoint()
            serving.stop()

    assert trio.current_time() - started_at < DRAIN_SECONDS


async def test_stopping_and_cancelling_let_go_of_ports_connections_and_data(tmp_path: Path) -> None:
    """However it ends, another broker can take its place."""
    ends = []
    for _ in range(2):
        async with running(config_for(tmp_path)) as serving:
            stream = await connect(serving)
            await stream.send_all(request_frame(VERSIONS, 3))
            await receive_frame(stream)
            port = serving.listeners[0][1]
            serving.stop()
            ends.append(await read_to_end(stream))
            await stream.aclose()

    assert ends == [b"", b""]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    with trio.CancelScope() as scope:
        async with running(config_for(tmp_path)) as serving:
            scope.cancel()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", serving.listeners[0][1]))


async def test_one_address_that_is_taken_lets_go_of_the_others_and_of_the_data(tmp_path: Path) -> None:
    """A broker listens everywhere it was told to, or nowhere."""
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as free:
        ports = [sock.getsockname()[1] for sock in (free, taken)]
        free.close()
        both = ",".join(f"L{n}://127.0.0.1:{port}" for n, port in enumerate(ports))
        mapping = "L0:PLAINTEXT,L1:PLAINTEXT"
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{ports[1]}"):
            await serve(config_for(tmp_path, listeners=both, listener_security_protocol_map=mapping))

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", ports[0]))
    async with running(config_for(tmp_path)) as serving:
        serving.stop()


async def test_a_second_broker_on_the_same_data_is_refused(tmp_path: Path) -> None:
    """Two writers of one log would ruin it; the refusal names the process that has it."""
    async with running(config_for(tmp_path)) as serving:
        with pytest.raises(DataDirectoryInUse, match=f"in use by process {os.getpid()}"):
            await serve(config_for(tmp_path))
        serving.stop()


async def test_all_listeners_are_told_with_their_ports(tmp_path: Path) -> None:
    """Who starts the broker learns where it can be reached, in the order of the settings."""
    listeners = "A://127.0.0.1:0,B://127.0.0.2:0"
    mapping = "A:PLAINTEXT,B:PLAINTEXT"
    async with running(
        config_for(tmp_path, listeners=listeners, listener_security_protocol_map=mapping)
    ) as serving:
        serving.stop()

    assert [(listener.name, listener.host) for listener, _ in serving.listeners] == [
        ("A", "127.0.0.1"),
        ("B", "127.0.0.2"),
    ]
    assert all(port > 0 for _, port in serving.listeners)
    assert len(serving.cluster_id) == 22


@pytest.mark.parametrize(
    ("listeners", "advertised", "is_hinted"),
    [
        ("PLAINTEXT://0.0.0.0:0", None, True),
        ("PLAINTEXT://:0", None, True),
        ("PLAINTEXT://0.0.0.0:0", "PLAINTEXT://broker.example:9092", False),
        ("PLAINTEXT://127.0.0.1:0", None, False),
    ],
)
async def test_a_listener_beyond_loopback_without_advertised_address_is_hinted_at(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    listeners: str,
    advertised: str | None,
    is_hinted: bool,
) -> None:
    """The commonest trouble with Kafka in containers, said before it happens."""
    settings = {"listeners": listeners} | ({"advertised_listeners": advertised} if advertised else {})
    with caplog.at_level(logging.INFO):
        async with running(config_for(tmp_path, **settings)) as serving:
            serving.stop()

    assert ("--advertise" in caplog.text) is is_hinted
