"""The least a trio server can do with the same bytes: what `hot_path.py` measures the broker against.

    python bench/bare_server.py FOLDER

A frame with a length is received, its CRC-32C taken from byte 21 of the batch on, written to a file
and answered with ten bytes. The length -1 and a size ask for that many bytes of the file, which are
sent by sendfile. Nothing else is looked at.
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


async def serve_peer(stream: trio.SocketStream, file: int) -> None:
    space = memoryview(bytearray(32 * 1024 * 1024))
    sock = stream.socket
    written = 0
    while True:
        if not await receive_exactly(sock, space[:4]):
            return
        (length,) = struct.unpack_from(">i", space)
        if length == -1:
            await receive_exactly(sock, space[:4])
            await send_file(sock, file, struct.unpack_from(">I", space)[0])
            continue
        await receive_exactly(sock, space[:length])
        crc32c(space[:length])
        os.pwrite(file, space[:length], written % _FILE_BYTES)
        written += length
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


async def main(folder: Path) -> None:
    file = os.open(folder / "bare.log", os.O_RDWR | os.O_CREAT, 0o600)
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        print(f"127.0.0.1:{port}", flush=True)

        async def peer(stream: trio.SocketStream) -> None:
            stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await serve_peer(stream, file)

        await trio.serve_listeners(peer, listeners, handler_nursery=nursery)


if __name__ == "__main__":
    trio.run(main, Path(sys.argv[1]))
