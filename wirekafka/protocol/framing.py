"""Length-prefixed frames out of a byte stream, with no copy for a frame that arrives in order.

Called by `protocol.connection`. The caller receives into `space()`, says how much came, and takes
whole frames. A frame is a view of the buffer: it is valid until `space()` is called again.

A length is refused before memory is taken for it, and a buffer grows only as bytes arrive, so a
peer that announces much and sends little costs little. A large buffer that has done its work is kept for
the next large frame, whoever sends it; two of them at most.

Source: the Kafka protocol guide, section "Common Request and Response Structure".
"""

import struct

from wirekafka.protocol.error_codes import MalformedMessage

_LENGTH = struct.Struct(">i")
LENGTH_BYTES = _LENGTH.size
_FIRST_BYTES = 4 * 1024
_KEPT_BYTES = 2 * 1024 * 1024
"""A buffer that grew larger than this is given back once it is empty."""
_SPARES, _LARGEST_SPARE_BYTES = 2, 16 * 1024 * 1024
"""So many of those given back wait for the next large frame of any connection: new memory costs more than the
frame, since the system hands out every page of it empty, and the bytes move each time it grows."""
_HTTP_METHODS = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC")


class Spares:
    """Large buffers that nobody uses; shared by all connections of the process, in whatever threads."""

    def __init__(self) -> None:
        self._buffers: list[bytearray] = []

    def give_back(self, buffer: bytearray) -> None:
        if len(self._buffers) < _SPARES and len(buffer) <= _LARGEST_SPARE_BYTES:
            self._buffers.append(buffer)

    def take(self, least_bytes: int) -> bytearray | None:
        """A buffer of at least that size, if there is one."""
        try:
            buffer = self._buffers.pop()
        except IndexError:
            return None
        return buffer if len(buffer) >= least_bytes else None


_SHARED = Spares()


class FrameBuffer:
    """What has been received and not yet been taken."""

    __slots__ = ("_buffer", "_end", "_spares", "_start", "_view", "max_frame_bytes")

    def __init__(self, max_frame_bytes: int, spares: Spares = _SHARED) -> None:
        self.max_frame_bytes = max_frame_bytes
        self._spares = spares
        self._buffer = bytearray(_FIRST_BYTES)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0

    def space(self) -> memoryview:
        """Where the next bytes go; never empty. Ends the life of every frame taken before."""
        held = self._end - self._start
        if held == 0:
            self._start = self._end = 0
            if len(self._buffer) > _KEPT_BYTES:
                self._spares.give_back(self._buffer)
                self._move_to(bytearray(_FIRST_BYTES))
            return self._view
        wanted = self._frame_bytes()
        if wanted <= held:
            raise AssertionError("a whole frame is still to be taken")
        if self._start + wanted > len(self._buffer):
            self._make_room(held, wanted)
        # Not a byte beyond a large frame, so that the next one begins at the buffer's start.
        stop = self._start + wanted if 2 * wanted > len(self._buffer) else len(self._buffer)
        return self._view[self._end : stop]

    def received(self, count: int) -> None:
        """Say that `count` bytes now stand at the start of the last `space()`."""
        self._end += count
        if count == len(self._buffer) and count < 64 * _FIRST_BYTES:
            self._move_to(bytearray(4 * count))

    def next_frame(self) -> memoryview | None:
        """Take the next whole frame, without its length; None until it is there.

        Raises MalformedMessage for a length that no request has.
        """
        held = self._end - self._start
        if held < LENGTH_BYTES:
            return None
        wanted = self._frame_bytes()
        if wanted > held:
            return None
        frame = self._view[self._start + LENGTH_BYTES : self._start + wanted]
        self._start += wanted
        return frame

    def unread(self) -> tuple[memoryview, int, int]:
        """The buffer, and where in it begins and ends what has been received and not been taken.

        For who knows frames by their bytes, and takes them with `pass_over`.
        """
        return self._view, self._start, self._end

    def pass_over(self, end: int) -> None:
        """Take whole frames up to a place of `unread` where the next one begins."""
        self._start = end

    @property
    def holds_part(self) -> bool:
        """Whether a frame has begun and not ended."""
        return self._end > self._start

    def _frame_bytes(self) -> int:
        """Length of the frame at the start with its prefix; the prefix's own while it is cut."""
        if self._end - self._start < LENGTH_BYTES:
            return LENGTH_BYTES
        length: int = _LENGTH.unpack_from(self._buffer, self._start)[0]
        if not 0 < length <= self.max_frame_bytes:
            raise MalformedMessage(
                f"a request of {length} bytes, where 1 to {self.max_frame_bytes} are taken"
                + _guess(bytes(self._view[self._start : self._start + LENGTH_BYTES]))
            )
        return LENGTH_BYTES + length

    def _make_room(self, held: int, wanted: int) -> None:
        """Move what is held to the buffer's front. Only bytes that fill a buffer make it grow."""
        if held == len(self._buffer):
            spare = self._spares.take(wanted) if wanted > _KEPT_BYTES else None
            self._move_to(bytearray(min(wanted, 4 * held)) if spare is None else spare)
        elif self._start:
            self._buffer[:held] = bytes(self._view[self._start : self._end])
            self._start, self._end = 0, held

    def _move_to(self, buffer: bytearray) -> None:
        held = self._view[self._start : self._end]
        buffer[: len(held)] = held
        self._buffer, self._view = buffer, memoryview(buffer)
        self._start, self._end = 0, len(held)


def _guess(prefix: bytes) -> str:
    """What kind of peer sends such a length, for the log."""
    if prefix in _HTTP_METHODS:
        return " (an HTTP request? this port speaks the Kafka protocol)"
    if prefix.startswith(b"\x16\x03"):
        return " (a TLS hello? this listener is plaintext: set security.protocol=PLAINTEXT in the client)"
    return ""
