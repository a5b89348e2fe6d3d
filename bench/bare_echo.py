"""The least a trio server can do with small requests: what `small_requests.py` measures the broker against.

    python bench/bare_echo.py {whatever-came|one-by-one}

`whatever-came` is the echo server of trio's tutorial: it sends back what has come, be it five requests or
half of one, and does not know where one ends. `one-by-one` does what a server of requests has to: it finds
a length and as many bytes as it says, and answers each request by a send of its own.
"""

import sys

import trio

_LENGTH_BYTES = 4


async def echo_whatever_came(stream: trio.SocketStream) -> None:
    async for data in stream:
        await stream.send_all(data)


async def echo_one_by_one(stream: trio.SocketStream) -> None:
    held = bytearray()
    async for data in stream:
        held += data
        begin = 0
        while (end := _end_of_request(held, begin)) is not None:
            await stream.send_all(held[begin:end])
            begin = end
        del held[:begin]


def _end_of_request(held: bytearray, begin: int) -> int | None:
    """Where the request at `begin` ends; None if it has not all come."""
    body = begin + _LENGTH_BYTES
    if len(held) < body:
        return None
    end = body + int.from_bytes(held[begin:body], "big")
    return end if len(held) >= end else None


WAYS = {"whatever-came": echo_whatever_came, "one-by-one": echo_one_by_one}


async def main(way: str) -> None:
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        print(f"127.0.0.1:{listeners[0].socket.getsockname()[1]}", flush=True)
        await trio.serve_listeners(WAYS[way], listeners, handler_nursery=nursery)


if __name__ == "__main__":
    trio.run(main, sys.argv[1])
