"""The least a trio server can do with the same bytes: what `hot_path.py` measures the broker against.

    python bench/bare_server.py FOLDER [--overwrite]

A frame with a length is received, its CRC-32C taken, written to the end of a file, as a log is, and
answered with ten bytes. A new file is begun every 256 MiB; with --overwrite the one file is written from
its start again, over pages that the cache has already: that is no log, and tells what new pages cost.
The length -1 and a size ask for that many bytes of the file, which are sent by sendfile. Nothing else is
looked at.
"""

import os
import socket
import struct
import sys
from pathlib import Path

import trio
from crc32c import crc32c

_ANSWER = struct.pack(">i", 10) + bytes(10)
_FILE_BYTES = 256 * 1024 * 1024
_LARGEST_FRAME_BYTES = 32 * 1024 * 1024


class LogFile:
    """Where the bytes go."""

    def __init__(self, folder: Path, *, overwrite: bool) -> None:
        self._folder, self._overwrite = folder, overwrite
        self._count = 0
        self.position = 0
        self.fd = self._open()

    def _open(self) -> int:
        self._count += 1
        return os.open(self._folder / f"bare-{self._count}.log", os.O_RDWR | os.O_CREAT, 0o600)

    def write(self, data: memoryview) -> None:
        if self.position + len(data) > _FILE_BYTES:
            self.position = 0
            if not self._overwrite:
                os.close(self.fd)
                self.fd = self._open()
        self.position += os.pwrite(self.fd, data, self.position)


async def serve_peer(stream: trio.SocketStream, file: LogFile) -> None:
    space = memoryview(bytearray(_LARGEST_FRAME_BYTES))
    sock = stream.socket
    while await receive_exactly(sock, space[:4]):
        (length,) = struct.unpack_from(">i", space)
        if length == -1:
            await receive_exactly(sock, space[:4])
            await send_file(sock, file.fd, struct.unpack_from(">I", space)[0])
            continue
        await receive_exactly(sock, space[:length])
        crc32c(space[:length])
        file.write(space[:length])
        await stream.send_all(_ANSWER)


async def receive_exactly(sock: trio.socket.SocketType, space: memoryview) -> bool:
    while len(space):
        count = await sock.recv_into(space)
        if count == 0:
            return False
        space = space[count:]
    return True


async def send_file(sock: trio.socket.SocketType, file: int, size: int) -> None:
    await sock.send(struct.pack(">i", size))
    position = 0
    while position < size:
        try:
            position += os.sendfile(sock.fileno(), file, position, size - position)
        except BlockingIOError:
            await trio.lowlevel.wait_writable(sock.fileno())


async def main(folder: Path, *, overwrite: bool) -> None:
    file = LogFile(folder, overwrite=overwrite)
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        print(f"127.0.0.1:{port}", flush=True)

        async def peer(stream: trio.SocketStream) -> None:
            stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await serve_peer(stream, file)

        await trio.serve_listeners(peer, listeners, handler_nursery=nursery)


async def run() -> None:
    await main(Path(sys.argv[1]), overwrite="--overwrite" in sys.argv[2:])


if __name__ == "__main__":
    trio.run(run)
