"""Produces and consumes by stomp.py, with ActiveMQ. Run by `clients`: `stomp_client.py ADDRESS`."""

import sys
import threading
import time

import stomp

from paper_parts.serving import MESSAGE, PREFETCH, Order, serve

HOST, PORT = sys.argv[1].split(":")
_PATIENCE_SECONDS = 120.0
_RECEIPT = "all"


class _Counter(stomp.ConnectionListener):  # type: ignore[misc] # stomp.py has no types
    """Tells when so many messages have come, or the receipt for the last one sent."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._done = threading.Event()

    def on_message(self, frame: object) -> None:
        self._left -= 1
        if self._left == 0:
            self._done.set()

    def on_receipt(self, frame: object) -> None:
        self._done.set()

    def wait(self) -> None:
        if not self._done.wait(_PATIENCE_SECONDS):
            raise TimeoutError(f"{self._left} messages did not come")


def _connection(counter: _Counter) -> stomp.Connection12:
    connection = stomp.Connection12([(HOST, int(PORT))], auto_content_length=True)
    connection.set_listener("", counter)
    connection.connect(wait=True)
    return connection


def produce(order: Order) -> float:
    """From the first call until the broker has the last one: it keeps the order of a connection."""
    counter = _Counter(0)
    connection = _connection(counter)
    destination, headers = f"/queue/{order.name}", {"persistent": "true"}
    begun = time.perf_counter()
    for _ in range(order.count - 1):
        connection.send(destination, MESSAGE, headers=headers)
    connection.send(destination, MESSAGE, headers=headers, receipt=_RECEIPT)
    counter.wait()
    seconds = time.perf_counter() - begun
    connection.disconnect()
    return seconds


def consume(order: Order) -> float:
    """From the subscription until all of them were here, one a call."""
    counter = _Counter(order.count)
    connection = _connection(counter)
    begun = time.perf_counter()
    connection.subscribe(
        f"/queue/{order.name}", id="1", ack="auto", headers={"activemq.prefetchSize": str(PREFETCH)}
    )
    counter.wait()
    seconds = time.perf_counter() - begun
    connection.disconnect()
    return seconds


if __name__ == "__main__":
    serve(produce, consume)
