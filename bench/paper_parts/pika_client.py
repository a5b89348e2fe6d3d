"""Produces to and consumes from a queue of RabbitMQ by pika. Run by `clients`: `pika_client.py ADDRESS`.

The queue is durable and the messages persistent; there are no publisher confirms, and messages count as
acknowledged when they are sent out, which is what the paper calls automatic. RabbitMQ has a prefetch only
with acknowledgements: with a second word, `acknowledging`, every 500 messages are acknowledged at once.
"""

import sys
import time
from functools import partial

import pika
from pika.adapters.blocking_connection import BlockingChannel

from paper_parts.serving import MESSAGE, PREFETCH, Order, serve

HOST, PORT = sys.argv[1].split(":")
_PERSISTENT = pika.BasicProperties(delivery_mode=2)
_POLL_SECONDS = 0.001


def _connection() -> pika.BlockingConnection:
    return pika.BlockingConnection(pika.ConnectionParameters(HOST, int(PORT)))


def produce(order: Order) -> float:
    """From the first call until the broker has all of them in its queue."""
    with _connection() as connection:
        channel = connection.channel()
        channel.queue_declare(order.name, durable=True)
        begun = time.perf_counter()
        for _ in range(order.count):
            channel.basic_publish("", order.name, MESSAGE, _PERSISTENT)
        while channel.queue_declare(order.name, passive=True).method.message_count < order.count:
            time.sleep(_POLL_SECONDS)
        return time.perf_counter() - begun


def consume(order: Order, *, acknowledge_every: int = 0) -> float:
    """From the subscription until all of them were here, one a call."""
    with _connection() as connection:
        channel = connection.channel()
        channel.basic_qos(prefetch_count=PREFETCH)
        taken = 0

        def receive(channel: BlockingChannel, delivery: pika.spec.Basic.Deliver, *_: object) -> None:
            nonlocal taken
            taken += 1
            if acknowledge_every and taken % acknowledge_every == 0:
                channel.basic_ack(delivery.delivery_tag, multiple=True)
            if taken == order.count:
                channel.stop_consuming()

        begun = time.perf_counter()
        channel.basic_consume(order.name, receive, auto_ack=not acknowledge_every)
        channel.start_consuming()
        return time.perf_counter() - begun


if __name__ == "__main__":
    acknowledging = len(sys.argv) > 2
    serve(produce, partial(consume, acknowledge_every=PREFETCH // 2) if acknowledging else consume)
