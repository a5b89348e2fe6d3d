"""Composition root: open the broker, listen, serve until told to stop, drain, close.

Called by `cli.serve` and `testing.broker`.
Source: Kafka's BrokerServer.startup and shutdown, as nested contexts.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

import trio

from wirekafka.broker import Broker, BrokerConfig, ListenerConfig, Watch, log_progress, open_broker
from wirekafka.observability import get_logger
from wirekafka.server.listener import Listener

logger = get_logger("server")

DRAIN_SECONDS = 2.0
"""How long connections may take to finish what they have asked before they are cut."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A broker that answers: its listeners with the ports bound, and how to stop it."""

    cluster_id: str
    listeners: tuple[tuple[ListenerConfig, int], ...]
    stop: Callable[[], None]
    """Begin to drain; callable from the trio run's own thread."""
    broker: Broker
    """What is served; to be used in the trio run's own thread."""


async def serve(
    config: BrokerConfig,
    watch: Watch = log_progress,
    *,
    task_status: "trio.TaskStatus[Serving]" = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until `Serving.stop` is called or the task is cancelled, and close the data folder.

    `watch` shows how far the opening of the data folder has come.
    Raises OSError when an address is taken, DataDirectoryInUse when another broker has the folder.
    """
    try:
        await _serve(config, watch, task_status)
    except BaseExceptionGroup as group:
        raise sole_error(group) from None


def sole_error(error: BaseException) -> BaseException:
    """Give the one exception in a nest of groups; a group of several as it is."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def _serve(config: BrokerConfig, watch: Watch, task_status: "trio.TaskStatus[Serving]") -> None:
    async with open_broker(config, watch) as broker:
        with _listening(config, broker) as listeners:
            stopping = trio.Event()
            bound = tuple((listener.config, listener.port) for listener in listeners)
            _hint_advertise(listeners)
            async with trio.open_nursery() as nursery:
                for listener in listeners:
                    nursery.start_soon(listener.run)
                task_status.started(Serving(broker.cluster_id, bound, stopping.set, broker))
                await stopping.wait()
                for listener in listeners:
                    listener.drain()
                nursery.cancel_scope.deadline = trio.current_time() + DRAIN_SECONDS


@contextmanager
def _listening(config: BrokerConfig, broker: Broker) -> Iterator[list[Listener]]:
    """Bind every address, or none; let them all go in the end."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Listener(each, broker))) for each in config.listeners]


def _hint_advertise(listeners: list[Listener]) -> None:
    for listener in listeners:
        host = listener.config.host
        if listener.config.advertised is None and host not in ("127.0.0.1", "::1", "localhost"):
            logger.info(
                "%s: each client is told the address it reached this broker by. Behind a port mapping "
                "(docker -p, NAT, a tunnel) that address is not the one clients use: name theirs with "
                "--advertise HOST:PORT",
                listener.config,
            )
