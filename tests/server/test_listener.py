"""Tests of server/listener.py."""

import errno
import logging
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from tests.support.raw_client import RawClient
from wirekafka.broker import BrokerConfig, ListenerConfig, open_broker
from wirekafka.metadata import Settings
from wirekafka.protocol.apis.api_versions import ApiVersionsRequest
from wirekafka.protocol.apis.describe_cluster import DescribeClusterRequest
from wirekafka.protocol.apis.describe_groups import DescribeGroupsRequest
from wirekafka.protocol.apis.find_coordinator import FindCoordinatorRequest
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.server.listener import Listener
from wirekafka.testing import running_broker

Accepted = tuple[socket.socket, tuple[str, int]]
LOOPBACK = ListenerConfig("PLAINTEXT", "127.0.0.1", 0)
API_VERSIONS = ApiVersionsRequest(client_software_name="t", client_software_version="1")


def has_ipv6_loopback() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6_loopback(), reason="this machine has no IPv6 loopback")


class ScriptedSocket:
    """A listening socket whose first accepts fail as the script says."""

    def __init__(self, real: socket.socket, *errors: OSError) -> None:
        self.real, self.errors = real, list(errors)
        self.accepted_at: list[float] = []

    def accept(self) -> Accepted:
        self.accepted_at.append(trio.current_time())
        if self.errors:
            raise self.errors.pop(0)
        return self.real.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@asynccontextmanager
async def listening(
    folder: Path, config: ListenerConfig = LOOPBACK, *, wrap: Callable[[socket.socket], Any] | None = None
) -> AsyncIterator[Listener]:
    """A listener that runs in this trio run, of a broker of its own."""
    settings = Settings.load(None, {"log.dirs": str(folder)})
    async with open_broker(BrokerConfig.from_settings(settings)) as broker, trio.open_nursery() as nursery:
        listener = Listener(config, broker)
        if wrap is not None:
            listener._socket = wrap(listener._socket)
        nursery.start_soon(listener.run)
        yield listener
        nursery.cancel_scope.cancel()
        listener.close()


@contextmanager
def connected(host: str, port: int) -> Iterator[RawClient]:
    with RawClient(f"{host}:{port}") as raw:
        yield raw


async def ask(port: int) -> int:
    """Ask for the versions in a thread, and give the error code."""

    def in_thread() -> int:
        with connected("127.0.0.1", port) as raw:
            return int(raw.ask(API_VERSIONS, 4).error_code)

    return await trio.to_thread.run_sync(in_thread)


def told_to(host: str, port: int) -> set[tuple[str, int]]:
    """The addresses that a client is told which reaches the broker by this one."""
    with connected(host, port) as raw:
        metadata = raw.ask(MetadataRequest(topics=[]), 12).brokers[0]
        cluster = raw.ask(DescribeClusterRequest(include_cluster_authorized_operations=False), 1).brokers[0]
        coordinator = raw.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4).coordinators[0]
    return {(each.host, each.port) for each in (metadata, cluster, coordinator)}


async def test_port_zero_is_a_free_port_that_is_told(tmp_path: Path) -> None:
    """Two brokers with port 0 never meet."""
    async with listening(tmp_path / "a") as one, listening(tmp_path / "b") as other:
        ports = {one.port, other.port}

        assert len(ports) == 2
        assert [await ask(port) for port in ports] == [0, 0]


async def test_a_taken_port_is_an_oserror_that_names_the_address(tmp_path: Path) -> None:
    """The one who starts the broker must learn which address it was."""
    async with listening(tmp_path) as first:
        taken = ListenerConfig("PLAINTEXT", "127.0.0.1", first.port)
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{first.port}: .*in use") as refused:
            Listener(taken, first._broker)

    assert refused.value.errno == errno.EADDRINUSE


async def test_an_address_of_another_machine_is_an_oserror(tmp_path: Path) -> None:
    """192.0.2.0/24 is nobody's (RFC 5737)."""
    async with listening(tmp_path) as first:
        with pytest.raises(OSError, match=r"cannot listen on 192\.0\.2\.1:0"):
            Listener(ListenerConfig("PLAINTEXT", "192.0.2.1", 0), first._broker)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
async def test_out_of_descriptors_the_listener_pauses_and_does_not_spin(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    """Ten tries a second, and one log line that names the cure; the connections already open go on."""
    scripted: list[ScriptedSocket] = []

    def wrap(real: socket.socket) -> ScriptedSocket:
        scripted.append(ScriptedSocket(real, *(OSError(code, "Too many open files") for _ in range(5))))
        return scripted[0]

    start = trio.current_time()
    async with listening(tmp_path, wrap=wrap):
        await trio.sleep(100)

    tries = [round(at - start, 3) for at in scripted[0].accepted_at]
    assert tries == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert caplog.text.count("raise the limit (ulimit -n)") == 1


async def test_the_end_of_a_lack_of_descriptors_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, when the next connection is accepted; and another lack is news again."""
    scripted: list[ScriptedSocket] = []

    def wrap(real: socket.socket) -> ScriptedSocket:
        scripted.append(ScriptedSocket(real, OSError(errno.EMFILE, "Too many open files")))
        return scripted[0]

    caplog.set_level(logging.INFO, logger="wirekafka")
    async with listening(tmp_path, wrap=wrap) as listener:
        for _ in range(2):
            assert await ask(listener.port) == 0
        scripted[0].errors.append(OSError(errno.EMFILE, "Too many open files"))
        assert await ask(listener.port) == 0

    told = [record.levelname for record in caplog.records if "accept on" in record.getMessage()]
    assert told == ["ERROR", "INFO", "ERROR", "INFO"]


async def test_a_peer_that_has_gone_before_it_was_accepted_is_passed_over(tmp_path: Path) -> None:
    """ECONNABORTED and its like concern that peer only: the next is accepted at once."""
    errors = [OSError(errno.ECONNABORTED, "gone"), OSError(errno.EPERM, "firewall")]
    async with listening(tmp_path, wrap=lambda real: ScriptedSocket(real, *errors)) as listener:
        assert await ask(listener.port) == 0


async def test_a_socket_that_cannot_be_made_ready_is_closed_and_no_more(tmp_path: Path) -> None:
    """Some systems refuse options of a socket whose peer has gone already."""
    made: list[socket.socket] = []

    class Broken(socket.socket):
        def setsockopt(self, *args: Any) -> None:
            raise OSError(errno.EINVAL, "Invalid argument")

    class BreaksTheFirst(ScriptedSocket):
        def accept(self) -> Accepted:
            sock, address = super().accept()
            if not made:
                sock = Broken(fileno=sock.detach())
                made.append(sock)
            return sock, address

    async with listening(tmp_path, wrap=BreaksTheFirst) as listener:
        with socket.create_connection(("127.0.0.1", listener.port), timeout=5) as unlucky:
            gone = await trio.to_thread.run_sync(unlucky.recv, 1)
        after = await ask(listener.port)

    assert (gone, made[0].fileno(), after) == (b"", -1, 0)


async def test_draining_stops_accepting_and_ends_when_the_last_peer_has_gone(tmp_path: Path) -> None:
    """Idle connections are closed: there is nothing they wait for."""
    async with listening(tmp_path) as listener:
        port = listener.port
        idle = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(3)]
        before = await ask(port)
        listener.drain()
        listener.drain()
        ends = [await trio.to_thread.run_sync(sock.recv, 1) for sock in idle]
        for sock in idle:
            sock.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    assert before == 0
    assert ends == [b""] * 3


def test_each_client_is_told_the_address_it_reached() -> None:
    """On 0.0.0.0 there is no one address: 127.0.0.1 and 127.0.0.2 are told themselves."""
    with running_broker(settings={"listeners": "PLAINTEXT://0.0.0.0:0"}) as broker:
        told = [told_to(host, broker.port) for host in ("127.0.0.1", "127.0.0.2")]

    assert told == [{("127.0.0.1", broker.port)}, {("127.0.0.2", broker.port)}]


def test_the_address_advertised_is_told_whatever_was_reached() -> None:
    """Behind a port mapping the broker cannot see the client's address."""
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "advertised.listeners": "PLAINTEXT://broker.example:19092",
    }
    with running_broker(settings=settings) as broker:
        assert told_to("127.0.0.1", broker.port) == {("broker.example", 19092)}


def test_each_listener_tells_its_own_address() -> None:
    """Two listeners: one advertised, one not."""
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0,OUTSIDE://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "advertised.listeners": "OUTSIDE://outside.example:1234",
    }
    with running_broker(settings=settings) as broker:
        assert told_to("127.0.0.1", broker.port) == {("127.0.0.1", broker.port)}


@needs_ipv6
def test_an_ipv6_client_is_told_its_ipv6_address() -> None:
    """[::1] in the settings, ::1 in metadata."""
    with running_broker(settings={"listeners": "PLAINTEXT://[::1]:0"}) as broker:
        assert broker.bootstrap == f"[::1]:{broker.port}"
        assert told_to("::1", broker.port) == {("::1", broker.port)}


@needs_ipv6
def test_an_empty_host_takes_ipv4_and_ipv6() -> None:
    """Kafka's PLAINTEXT://:9092 is every interface; an IPv4 client is told an IPv4 address."""
    with running_broker(settings={"listeners": "PLAINTEXT://:0"}) as broker:
        told = [told_to(host, broker.port) for host in ("127.0.0.2", "::1")]

    assert told == [{("127.0.0.2", broker.port)}, {("::1", broker.port)}]


def test_a_group_member_is_described_by_its_address_as_kafka_writes_it(raw: RawClient) -> None:
    """With a slash in front, as Java prints an InetAddress."""
    join = JoinGroupRequest(
        group_id="listener-hosts",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=1000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    raw.ask(FindCoordinatorRequest(coordinator_keys=["listener-hosts"]), 4)
    joined = raw.ask(join, 3)
    described = raw.ask(DescribeGroupsRequest(groups=["listener-hosts"]), 5)

    assert joined.error_code == 0
    assert [member.client_host for member in described.groups[0].members] == ["/127.0.0.1"]


def test_a_flood_of_connections_that_do_nothing_keeps_nobody_out(raw: RawClient) -> None:
    """Three hundred peers that say nothing, some of which go by reset."""
    idle = [socket.create_connection(raw.socket.getpeername()[:2]) for _ in range(300)]
    answered = raw.ask(API_VERSIONS, 4).error_code
    for number, sock in enumerate(idle):
        if number % 3 == 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()

    assert answered == 0
    assert raw.ask(API_VERSIONS, 4).error_code == 0


def _most_that_the_system_lets_wait() -> int:
    try:
        return int(Path("/proc/sys/net/core/somaxconn").read_text())
    except OSError:
        return 128


@pytest.mark.skipif(_most_that_the_system_lets_wait() < 1000, reason="the system's limit is lower")
async def test_a_thousand_clients_that_come_at_once_need_not_try_again(tmp_path: Path) -> None:
    """Who finds no room before it is accepted is heard a second later at the soonest, as TCP has it."""
    settings = Settings.load(None, {"log.dirs": str(tmp_path)})
    async with open_broker(BrokerConfig.from_settings(settings)) as broker:
        listener = Listener(LOOPBACK, broker)  # nobody accepts yet
        clients = [socket.create_connection(("127.0.0.1", listener.port), timeout=0.9) for _ in range(900)]
        for client in clients:
            client.close()
        listener.close()


@pytest.fixture(autouse=True)
def _debug_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
