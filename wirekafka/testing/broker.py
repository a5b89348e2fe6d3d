"""`running_broker()`: a broker on a free port, in a thread of this process.

    with running_broker() as broker:
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap)

A plain context manager around a thread with a trio run of its own, so it serves synchronous,
asyncio and trio tests alike. Calls `server.serve`.
"""

import queue
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trio

from wirekafka.broker import Broker, BrokerConfig
from wirekafka.metadata import Settings
from wirekafka.server import Serving, serve, sole_error

_FREE_PORT = "PLAINTEXT://127.0.0.1:0"


@dataclass(frozen=True, slots=True)
class RunningBroker:
    """A broker that answers."""

    host: str
    port: int
    data_dir: Path
    cluster_id: str
    _run: Callable[[Callable[[Broker], Awaitable[None]]], None] = field(repr=False, compare=False)

    def apply_retention(self, topic: str) -> None:
        """Drop what a topic keeps no longer by retention.ms and retention.bytes, and return when it is done.

        Without it that is done within log.retention.check.interval.ms. Raises KafkaError.
        """
        self._run(lambda broker: broker.apply_retention(topic))

    def compact(self, topic: str) -> None:
        """Compact all that a topic holds by now, and return when it is done.

        Of every key only the newest record is there then, and of what was deleted (with
        delete.retention.ms=0) nothing. Raises KafkaError, for a topic that is not compacted for example.
        """
        self._run(lambda broker: broker.compact(topic))

    @property
    def bootstrap(self) -> str:
        """What clients call bootstrap.servers."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@contextmanager
def running_broker(
    *, settings: Mapping[str, str] | None = None, data_dir: Path | None = None, profile: str = "dev"
) -> Iterator[RunningBroker]:
    """Run a broker for the length of the block; no thread and no file is left behind it.

    `settings` go by Kafka's names. Without `data_dir` the data is in a temporary folder; with it the
    data stays, and a later broker finds it again. Raises what kept the broker from starting.
    """
    with _folder(data_dir) as folder:
        overrides = {"listeners": _FREE_PORT, **(settings or {}), "log.dirs": str(folder)}
        config = BrokerConfig.from_settings(Settings.load(None, overrides, profile))
        thread = _BrokerThread(config)
        serving = thread.start()
        try:
            listener, port = serving.listeners[0]
            yield RunningBroker(
                listener.host or "127.0.0.1", port, folder, serving.cluster_id, thread.run_in_broker
            )
        finally:
            thread.stop()


@contextmanager
def _folder(data_dir: Path | None) -> Iterator[Path]:
    if data_dir is not None:
        yield data_dir
        return
    with tempfile.TemporaryDirectory(prefix="wirekafka-") as name:
        yield Path(name)


class _BrokerThread:
    """A thread with a trio run in it, from "it answers" to "it has closed its data"."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._started: queue.SimpleQueue[tuple[Serving, trio.lowlevel.TrioToken] | None]
        self._started = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="wirekafka", daemon=True)

    def start(self) -> Serving:
        """Give the broker once it answers. Raises what kept it from starting."""
        self._thread.start()
        started = self._started.get()
        if started is None:
            self._join()
            raise AssertionError("the broker has ended before it began")
        self._serving, self._token = started
        return self._serving

    def run_in_broker(self, function: Callable[[Broker], Awaitable[None]]) -> None:
        """Run an async function in the broker's own trio run, and wait for its end. Raises what it does."""
        trio.from_thread.run(function, self._serving.broker, trio_token=self._token)

    def stop(self) -> None:
        """Stop the broker and wait for its end. Raises what it has died of, if it has."""
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._serving.stop)
        self._join()

    def _join(self) -> None:
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        except BaseException as error:  # the thread's caller raises it  # noqa: BLE001
            self._failure = sole_error(error)
        finally:
            self._started.put(None)

    async def _serve(self) -> None:
        async with trio.open_nursery() as nursery:
            serving: Serving = await nursery.start(serve, self._config)
            self._started.put((serving, trio.lowlevel.current_trio_token()))
