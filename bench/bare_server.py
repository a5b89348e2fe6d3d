"""The least a trio server can do with the same bytes: what `limit.py` measures the broker against.

    python bench/bare_server.py FOLDER

A frame with a length is received, its CRC-32C taken, written to the end of a file, as a log is, and
answered with ten bytes. A new file is begun every 256 MiB, and so every page is new, as in a log.
In the place of a length, -1 with a position and a size asks for so many bytes of the first file, which are
sent by sendfile; -2 throws away the files but the first. Nothing else is looked at.
"""

import os
import socket
import struct
import sys
from pathlib import Path

import trio
from crc32c import crc32c

_ANSWER = struct.pack(">i", 10) + bytes(10)
_ASKED = struct.Struct(">qI")
_SEND, _FORGET = -1, -2
_FILE_BYTES = 256 * 1024 * 1024
_LARGEST_FRAME_BYTES = 2 * 1024 * 1024


class LogFiles:
    """Where the bytes go."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._position = 0
        self._paths: list[Path] = []
        self._file = self.first = self._open()

    def write(self, data: memoryview) -> None:
        if self._position + len(data) > _FILE_BYTES:
            self._position = 0
            self._file = self._open()
        self._position += os.pwrite(self._file, data, self._position)

    def forget(self) -> None:
        """Throw away all files but the first, and go on with a new one."""
        for path in self._paths[1:]:
            path.unlink(missing_ok=True)
        self._position = 0
        self._file = self._open()

    def _open(self) -> int:
        if len(self._paths) > 1:
            os.close(self._file)
        path = self._folder / f"{len(self._paths)}.log"
        self._paths.append(path)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


async def serve_peer(stream: trio.SocketStream, files: LogFiles) -> None:
    space = memoryview(bytearray(_LARGEST_FRAME_BYTES))
    sock = stream.socket
    while await receive_exactly(sock, space[:4]):
        (length,) = struct.unpack_from(">i", space)
        if length == _SEND:
            await receive_exactly(sock, space[: _ASKED.size])
            await send_file(sock, files.first, *_ASKED.unpack_from(space))
        elif length == _FORGET:
            files.forget()
            await stream.send_all(_ANSWER)
        else:
            await receive_exactly(sock, space[:length])
            crc32c(space[:length])
            files.write(space[:length])
            await stream.send_all(_ANSWER)


async def receive_exactly(sock: trio.socket.SocketType, space: memoryview) -> bool:
    while len(space):
        count = await sock.recv_into(space)
        if count == 0:
            return False
        space = space[count:]
    return True


async def send_file(sock: trio.socket.SocketType, file: int, position: int, size: int) -> None:
    await sock.send(struct.pack(">i", size))
    end = position + size
    while position < end:
        try:
            position += os.sendfile(sock.fileno(), file, position, end - position)
        except BlockingIOError:
            await trio.lowlevel.wait_writable(sock.fileno())


async def main(folder: Path) -> None:
    files = LogFiles(folder)
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        print(f"127.0.0.1:{port}", flush=True)

        async def peer(stream: trio.SocketStream) -> None:
            stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await serve_peer(stream, files)

        await trio.serve_listeners(peer, listeners, handler_nursery=nursery)


if __name__ == "__main__":
    trio.run(main, Path(sys.argv[1]))
