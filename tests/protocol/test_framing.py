"""Tests of protocol/framing.py."""

import random
import tracemalloc

import pytest

from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.framing import FrameBuffer, Spares

MAX_FRAME_BYTES = 100 * 1024 * 1024
FIRST_BUFFER_BYTES = 4 * 1024


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def receive(frames: FrameBuffer, data: bytes) -> int:
    """Put in as much of `data` as there is space for, as a socket would."""
    space = frames.space()
    count = min(len(space), len(data))
    space[:count] = data[:count]
    frames.received(count)
    return count


def feed(frames: FrameBuffer, data: bytes, piece_bytes: int = 1 << 30) -> list[bytes]:
    """Put in all of `data`, at most `piece_bytes` at a time, and take every frame on the way."""
    taken = []
    position = 0
    while position < len(data):
        position += receive(frames, data[position : position + piece_bytes])
        while (frame := frames.next_frame()) is not None:
            taken.append(bytes(frame))
    return taken


def test_many_frames_of_one_receive_come_out_one_by_one_in_order() -> None:
    """A client may pipeline: whatever came together is cut at the lengths."""
    bodies = [b"%d" % n * (n % 7 + 1) for n in range(100)]
    frames = FrameBuffer(MAX_FRAME_BYTES)

    assert receive(frames, b"".join(map(framed, bodies))) == sum(len(framed(body)) for body in bodies)

    assert [bytes(frames.next_frame() or b"") for _ in bodies] == bodies
    assert frames.next_frame() is None
    assert not frames.holds_part


def test_a_frame_of_one_receive_is_a_view_and_no_copy() -> None:
    """The common case costs no copy: the frame is the received bytes in place."""
    frames = FrameBuffer(MAX_FRAME_BYTES)
    space = frames.space()
    space[:7] = framed(b"abc")
    frames.received(7)

    frame = frames.next_frame()

    assert frame is not None
    space[4:5] = b"X"
    assert bytes(frame) == b"Xbc"


def test_a_frame_that_comes_a_byte_at_a_time_is_there_with_its_last_byte() -> None:
    """TCP promises no borders: every cut of a frame is waited for."""
    frames = FrameBuffer(MAX_FRAME_BYTES)
    data = framed(b"one") + framed(b"two")
    seen = []
    for byte in data:
        receive(frames, bytes([byte]))
        frame = frames.next_frame()
        seen.append(None if frame is None else bytes(frame))

    assert [frame for frame in seen if frame is not None] == [b"one", b"two"]
    assert seen.index(b"one") == len(framed(b"one")) - 1


def test_holds_part_tells_a_begun_frame_from_none() -> None:
    """A connection cut in the middle of a request is worth a log line; one cut between is not."""
    frames = FrameBuffer(MAX_FRAME_BYTES)
    before = frames.holds_part
    receive(frames, framed(b"whole")[:6])
    within = frames.holds_part
    receive(frames, framed(b"whole")[6:])
    frames.next_frame()

    assert (before, within, frames.holds_part) == (False, True, False)


@pytest.mark.parametrize("piece_bytes", [1500, 64 * 1024, 1 << 30])
def test_a_large_frame_makes_the_buffer_grow_in_steps(piece_bytes: int) -> None:
    """A 3 MiB request arrives whole; space is taken in steps as it fills, a few copies in all."""
    body = random.Random(1).randbytes(3 * 1024 * 1024)
    data = framed(body)
    frames = FrameBuffer(MAX_FRAME_BYTES)
    position = 0
    while frames.next_frame() is None:
        space = frames.space()
        assert len(space) <= 4 * max(position, FIRST_BUFFER_BYTES), "space runs ahead of what has come"
        count = min(len(space), piece_bytes, len(data) - position)
        space[:count] = data[position : position + count]
        frames.received(count)
        position += count
        if position == len(data):
            break

    assert bytes(frames.next_frame() or b"") == body


def test_frames_may_be_taken_by_place() -> None:
    """For who knows them by their bytes; the next is taken as any other."""
    frames = FrameBuffer(100)
    data = framed(b"one") + framed(b"two") + framed(b"three")
    receive(frames, data)

    view, begin, end = frames.unread()
    frames.pass_over(begin + 7)

    assert bytes(view[begin:end]) == data
    frame = frames.next_frame()
    assert frame is not None
    assert bytes(frame) == b"two"
    assert frames.unread()[1:] == (begin + 14, end)


def test_the_space_for_a_large_frame_ends_where_the_frame_does() -> None:
    """The next frame then begins at the buffer's start, and need not be moved."""
    frames = FrameBuffer(MAX_FRAME_BYTES)
    receive(frames, framed(b"x" * 3500)[:3000])

    assert len(frames.space()) == len(framed(b"x" * 3500)) - 3000


def test_a_large_frame_is_followed_by_the_next_without_loss() -> None:
    """Small, large, small again, in pieces that fit none of them."""
    bodies = [b"a", b"b" * 300_000, b"c", b"d" * 2_500_000, b"e" * 4092, b"f"]

    taken = feed(FrameBuffer(MAX_FRAME_BYTES), b"".join(map(framed, bodies)), 1021)

    assert taken == bodies


def test_random_frames_in_random_pieces_come_out_as_they_went_in() -> None:
    """Whatever the cuts, the stream is the frames."""
    rng = random.Random(2)
    bodies = [rng.randbytes(rng.choice([1, 2, 50, 4091, 4092, 4093, 20_000])) for _ in range(300)]
    data = b"".join(map(framed, bodies))
    frames, taken, position = FrameBuffer(MAX_FRAME_BYTES), [], 0
    while position < len(data):
        piece = data[position : position + rng.choice([1, 3, 100, 5000, 70_000])]
        taken += feed(frames, piece)
        position += len(piece)

    assert taken == bodies


def test_an_announced_length_takes_no_memory_until_the_bytes_come() -> None:
    """A peer that announces 100 MiB and sends a few bytes, one at a time, costs next to nothing."""
    tracemalloc.start()
    try:
        frames = FrameBuffer(MAX_FRAME_BYTES)
        feed(frames, MAX_FRAME_BYTES.to_bytes(4, "big") + b"x" * 40, piece_bytes=1)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 64 * 1024


def test_a_large_frame_begun_behind_many_small_ones_takes_no_memory_either() -> None:
    """What was taken before does not count as sent by the large one."""
    tracemalloc.start()
    try:
        frames = FrameBuffer(MAX_FRAME_BYTES)
        feed(frames, framed(b"s" * 96) * 2000 + MAX_FRAME_BYTES.to_bytes(4, "big") + b"x")
        feed(frames, b"x" * 40, piece_bytes=1)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 2 * 1024 * 1024


def test_a_buffer_that_grew_is_given_back_once_it_is_empty() -> None:
    """One large request does not hold its memory for the life of the connection."""
    frames = FrameBuffer(MAX_FRAME_BYTES)
    feed(frames, framed(b"x" * 8 * 1024 * 1024), 1 << 20)

    assert len(frames.space()) == FIRST_BUFFER_BYTES


def test_the_next_large_frame_gets_the_buffer_of_the_last_whoever_sends_it() -> None:
    """New memory costs more than the frame: its pages come empty, and the bytes move each time it grows."""
    spares = Spares()
    one, other = FrameBuffer(MAX_FRAME_BYTES, spares), FrameBuffer(MAX_FRAME_BYTES, spares)
    feed(one, framed(b"x" * 8 * 1024 * 1024), 1 << 20)
    used = one.unread()[0].obj
    one.space()
    body = random.Random(2).randbytes(5 * 1024 * 1024)

    assert feed(other, framed(body), 1 << 20) == [body]
    assert other.unread()[0].obj is used
    assert feed(other, framed(b"next")) == [b"next"]


def test_a_spare_buffer_that_is_too_small_is_not_used() -> None:
    spares = Spares()
    frames = FrameBuffer(MAX_FRAME_BYTES, spares)
    feed(frames, framed(b"x" * 3 * 1024 * 1024), 1 << 20)
    frames.space()
    body = random.Random(3).randbytes(9 * 1024 * 1024)

    assert feed(frames, framed(body), 1 << 20) == [body]


def test_few_buffers_are_kept_to_spare_and_none_very_large() -> None:
    """What many connections have used at one time is the system's again."""
    spares = Spares()
    for size in (17, 3, 4, 5):
        spares.give_back(bytearray(size * 1024 * 1024))

    kept = [spares.take(1), spares.take(1), spares.take(1)]
    assert [buffer and len(buffer) >> 20 for buffer in kept] == [4, 3, None]


@pytest.mark.parametrize("length", [-1, 0, -(2**31), 2**31 - 1, MAX_FRAME_BYTES + 1])
def test_a_length_that_no_request_has_is_refused(length: int) -> None:
    """Kafka's InvalidReceiveException: socket.request.max.bytes and down to one byte."""
    frames = FrameBuffer(MAX_FRAME_BYTES)
    receive(frames, length.to_bytes(4, "big", signed=True))

    with pytest.raises(MalformedMessage, match=f"a request of {length} bytes"):
        frames.next_frame()


def test_the_largest_length_allowed_is_allowed() -> None:
    """The limit is the last that is taken."""
    frames = FrameBuffer(10)

    assert feed(frames, framed(b"0123456789")) == [b"0123456789"]
    with pytest.raises(MalformedMessage, match="1 to 10 are taken"):
        feed(frames, framed(b"0123456789a"))


@pytest.mark.parametrize(
    "start",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST /x HTTP/1.1\r\n",
        b"PUT / HTTP/1.1",
        b"HEAD / HTTP/1.1",
        b"DELETE /",
        b"OPTIONS *",
        b"PATCH /",
    ],
)
def test_an_http_request_is_named_as_one(start: bytes) -> None:
    """The log says what the peer took this port for."""
    with pytest.raises(MalformedMessage, match="an HTTP request"):
        feed(FrameBuffer(MAX_FRAME_BYTES), start)


@pytest.mark.parametrize("minor_version", [1, 3])
def test_a_tls_hello_is_named_as_one(minor_version: int) -> None:
    """A client with security.protocol=SSL at a plaintext port is the commonest mistake."""
    with pytest.raises(MalformedMessage, match="a TLS hello"):
        feed(FrameBuffer(MAX_FRAME_BYTES), bytes([0x16, 3, minor_version, 2, 0, 1, 0, 1, 0xFC]))


def test_an_odd_length_without_known_face_gets_no_guess() -> None:
    """No hint is better than a wrong one."""
    with pytest.raises(MalformedMessage) as refused:
        feed(FrameBuffer(MAX_FRAME_BYTES), b"\x7f\x00\x00\x00")

    assert "(" not in str(refused.value)
