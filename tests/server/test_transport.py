"""Tests of server/transport.py, over a pair of connected sockets."""

import errno
import random
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from wirekafka.server.transport import Buffer, SocketTransport
from wirekafka.storage import FileSlice
from wirekafka.storage.disk.files import FILES, OpenFile

SMALL_BUFFER_BYTES = 4096


Part = bytes | bytearray | memoryview | FileSlice


def file_of(path: Path, content: bytes) -> OpenFile:
    path.write_bytes(content)
    return OpenFile(FILES, str(path))


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Our end, non-blocking with small buffers, and the peer's."""
    ours, peer = socket.socketpair()
    ours.setblocking(False)
    peer.setblocking(False)
    for sock in (ours, peer):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER_BYTES)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
    with ours, peer:
        yield ours, peer


class Recording(SocketTransport):
    """Keeps, of each run of buffers that is sent, whether more was said to come."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self.more: list[bool] = []
        self._left: list[Buffer] = []

    def _send_at_once(self, buffers: list[Buffer], flags: int) -> list[Buffer]:
        if buffers is not self._left:
            self.more.append(flags != 0)
        self._left = super()._send_at_once(buffers, flags)
        return self._left


async def read_to_end(peer: socket.socket, received: bytearray) -> None:
    stream = trio.socket.from_stdlib_socket(peer.dup())
    with stream:
        while piece := await stream.recv(1000):
            received += piece


async def sent_through(pair: tuple[socket.socket, socket.socket], parts: list[Part]) -> bytes:
    """What a peer gets that reads a little at a time."""
    ours, peer = pair
    received = bytearray()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_to_end, peer, received)
        transport = SocketTransport(ours)
        await transport.send(parts)
        transport.close()
    return bytes(received)


async def test_buffers_arrive_in_order_whatever_the_peer_takes_at_a_time(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """Every kind of buffer, more of them than one call takes, larger than the socket's own."""
    rng = random.Random(1)
    pieces = [rng.randbytes(rng.choice([0, 1, 10, 5000])) for _ in range(200)]
    parts: list[Part] = [(bytes, bytearray, memoryview)[n % 3](piece) for n, piece in enumerate(pieces)]

    assert await sent_through(pair, parts) == b"".join(pieces)


async def test_slices_of_files_arrive_in_their_places(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    """A partial sendfile goes on where it stopped; bytes before, between and behind keep their order."""
    content = random.Random(2).randbytes(300_000)
    file = file_of(tmp_path / "segment", content)
    parts: list[Part] = [
        b"head",
        FileSlice(file, 1000, 200_000),
        FileSlice(file, 0, 10),
        b"between" * 1000,
        FileSlice(file, 250_000, 40_000),
        FileSlice(file, 299_999, 1),
        FileSlice(file, 5, 0),
    ]

    received = await sent_through(pair, parts)

    assert received == b"".join(
        [
            b"head",
            content[1000:201_000],
            content[:10],
            b"between" * 1000,
            content[250_000:290_000],
            content[-1:],
        ]
    )


async def test_more_small_slices_than_one_call_takes_arrive_in_order(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    """A fetch of many partitions with a little in each: heads and records alternate."""
    content = random.Random(3).randbytes(30_000)
    file = file_of(tmp_path / "segment", content)
    parts: list[Part] = []
    for n in range(100):
        parts += [b"head %d" % n, FileSlice(file, 100 * n, n)]

    received = await sent_through(pair, parts)

    assert received == b"".join(b"head %d" % n + content[100 * n : 101 * n] for n in range(100))


@pytest.mark.parametrize(("size", "calls"), [(32 * 1024, [False]), (32 * 1024 + 1, [True, False])])
async def test_a_small_slice_goes_in_one_call_with_what_stands_around_it(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path, size: int, calls: list[bool]
) -> None:
    """Three calls for a kilobyte of records would cost more than reading it; a large slice is not read."""
    file = file_of(tmp_path / "segment", bytes(size))
    recording = Recording(pair[0])
    received = bytearray()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_to_end, pair[1], received)
        await recording.send([b"head", FileSlice(file, 0, size), b"tail"])
        recording.close()

    assert received == b"head" + bytes(size) + b"tail"
    assert recording.more == calls


@pytest.mark.parametrize("length", [10, 100_000])
async def test_a_file_that_ends_too_early_is_an_error_and_no_endless_loop(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path, length: int
) -> None:
    """The length has been sent already, or is about to be: the connection cannot be kept."""
    file = file_of(tmp_path / "segment", b"short")

    with pytest.raises(OSError, match=f"ended {length - 5} bytes before") as failed:
        await SocketTransport(pair[0]).send([FileSlice(file, 0, length)])

    assert failed.value.errno == errno.EIO


async def test_what_is_neither_bytes_nor_a_file_is_refused(pair: tuple[socket.socket, socket.socket]) -> None:
    """A list would have a length too."""
    with pytest.raises(TypeError, match="neither bytes nor a slice of a file"):
        await SocketTransport(pair[0]).send([[1, 2]])


async def test_sending_nothing_sends_nothing(pair: tuple[socket.socket, socket.socket]) -> None:
    """No part, and parts without bytes."""
    assert await sent_through(pair, []) == b""


async def test_sending_to_a_closed_peer_is_an_oserror(pair: tuple[socket.socket, socket.socket]) -> None:
    """The connection answers it by closing."""
    pair[1].close()

    with pytest.raises(BrokenPipeError):
        await SocketTransport(pair[0]).send([b"x"])


async def test_receive_waits_for_the_first_bytes_and_gives_zero_at_the_end(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """As recv(2), but waiting."""
    ours, peer = pair
    transport, space = SocketTransport(ours), memoryview(bytearray(10))
    counts = []

    async def receive() -> None:
        counts.append(await transport.receive_into(space))
        counts.append(await transport.receive_into(space))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        before = list(counts)
        peer.send(b"abc")
        await trio.testing.wait_all_tasks_blocked()
        peer.close()

    assert before == []
    assert counts == [3, 0]
    assert bytes(space[:3]) == b"abc"


async def test_after_stop_receiving_what_has_come_is_given_and_then_the_end(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """Draining: requests that have arrived are answered, and nobody waits for more."""
    ours, peer = pair
    transport, space = SocketTransport(ours), memoryview(bytearray(10))
    peer.send(b"asked")
    transport.stop_receiving()

    counts = [await transport.receive_into(space), await transport.receive_into(space)]
    await transport.send([b"answer"])

    assert counts == [5, 0]
    assert peer.recv(100) == b"answer"


async def test_stop_receiving_of_a_lost_connection_does_nothing(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """The peer may go at any time."""
    transport = SocketTransport(pair[0])
    transport.close()

    transport.stop_receiving()

    assert pair[0].fileno() == -1


async def test_closing_wakes_who_waits_to_receive(pair: tuple[socket.socket, socket.socket]) -> None:
    """No task is left waiting at a socket that is gone."""
    transport, space = SocketTransport(pair[0]), memoryview(bytearray(10))
    woken = []

    async def receive() -> None:
        try:
            await transport.receive_into(space)
        except trio.ClosedResourceError:
            woken.append(True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        transport.close()

    assert woken == [True]


async def test_a_busy_peer_lets_other_tasks_have_their_turn(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """A socket that always has bytes never waits, and gives way all the same now and then."""
    ours, peer = pair
    peer.send(b"x" * 100)
    transport, space = SocketTransport(ours), memoryview(bytearray(1))
    turns: list[int] = []
    received = 0

    async def other() -> None:
        turns.append(received)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        for _ in range(100):
            received += await transport.receive_into(space)

    assert received == 100
    assert 0 < turns[0] < 100


async def test_an_empty_slice_holds_nothing_back(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    """What is sent with "more comes" waits in the system for 200 ms when nothing comes."""
    recording = Recording(pair[0])
    await recording.send([b"head", FileSlice(file_of(tmp_path / "segment", b""), 0, 0)])

    assert pair[1].recv(10) == b"head"
    assert recording.more == [False]


async def test_socket_is_readable_when_the_peer_says_something_or_hangs_up(
    pair: tuple[socket.socket, socket.socket], nursery: trio.Nursery
) -> None:
    """Nothing is received by waiting for it."""
    ours, peer = pair
    transport, woken = SocketTransport(ours), []

    async def wait_twice() -> None:
        await transport.wait_readable()
        woken.append(await transport.receive_into(memoryview(bytearray(8))))
        await transport.wait_readable()
        woken.append(await transport.receive_into(memoryview(bytearray(8))))

    nursery.start_soon(wait_twice)
    await trio.testing.wait_all_tasks_blocked()
    before = list(woken)
    peer.send(b"x")
    with trio.fail_after(5):
        while not woken:
            await trio.testing.wait_all_tasks_blocked()
        peer.close()
        while len(woken) < 2:
            await trio.testing.wait_all_tasks_blocked()

    assert (before, woken) == ([], [1, 0])
