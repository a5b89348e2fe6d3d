"""Four idempotent producers, a consumer and topics that come and go, over every death of the broker.

    python -m tests.torture.load --bootstrap HOST:PORT --topic t --oracle FILE --seen FILE

Run by `Load` in a process of its own, so that it can be frozen apart from the broker; ends on SIGTERM
once everything sent is acknowledged. Stock librdkafka, acks=all, five requests in flight.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.torture.churn import Churn
from tests.torture.oracle import ENTRY, key_of, name_of, value_of

PRODUCERS = 4
PARTITIONS = 50
DRAIN_SECONDS = 60.0
_TURN_SECONDS = 0.01
_MOST_UNANSWERED = 3000
_QUICK_TO_RETURN = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100, "log_level": 0}


class Source:
    """One producer: it sends each partition's records in sequence, and notes every acknowledgement."""

    def __init__(self, number: int, options: "Options", note: Callable[[bytes], None]) -> None:
        self._number, self._options, self._note = number, options, note
        self._sequences = [0] * options.partitions
        self._random = random.Random(options.seed * PRODUCERS + number)
        self.failure: str | None = None
        self._producer: Any = Producer(
            {
                "bootstrap.servers": options.bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 2,
                "retry.backoff.ms": 20,
                "message.timeout.ms": 300_000,
                "error_cb": self._on_error,
                **_QUICK_TO_RETURN,
            }
        )

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal():
            self.failure = self.failure or f"fatal: {error.str()}"

    def turn(self) -> None:
        """Send a few records, and take the reports that have come."""
        options = self._options
        for _ in range(options.records_a_turn if len(self._producer) < _MOST_UNANSWERED else 0):
            partition = self._random.randrange(options.partitions)
            sequence = self._sequences[partition]
            self._sequences[partition] += 1
            size = self._random.randrange(20, 2 * options.value_bytes)
            self._producer.produce(
                options.topic,
                value_of(self._number, partition, sequence, size),
                key_of(self._number, sequence, options.keys) if options.keys else None,
                partition,
                on_delivery=self._on_delivery(partition, sequence),
            )
        self._producer.poll(0)

    def _on_delivery(self, partition: int, sequence: int) -> Callable[[KafkaError | None, Message], None]:
        def report(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.failure = self.failure or f"partition {partition}, sequence {sequence}: {error.str()}"
                return
            offset = message.offset()
            known = offset is not None and offset >= 0
            self._note(ENTRY.pack(self._number, partition, sequence, offset if known else -1))

        return report

    def drain(self) -> int:
        """Wait until all that was sent is reported; how much is not."""
        return int(self._producer.flush(DRAIN_SECONDS))


class Watcher:
    """A consumer that notes what it has seen: a record once seen may not go away again."""

    def __init__(self, options: "Options", note: Callable[[bytes], None]) -> None:
        self._note = note
        self._consumer: Any = Consumer(
            {
                "bootstrap.servers": options.bootstrap,
                "group.id": "watcher",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "check.crcs": True,
                "fetch.wait.max.ms": 50,
                **_QUICK_TO_RETURN,
            }
        )
        self._consumer.assign([TopicPartition(options.topic, n, 0) for n in range(options.partitions)])

    def turn(self) -> None:
        for message in self._consumer.consume(5000, timeout=0):
            name = None if message.error() else name_of(message.value() or b"")
            if name is not None:
                self._note(ENTRY.pack(*name, message.offset()))


class Options:
    """What the load is told on its command line."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.bootstrap: str = values["bootstrap"]
        self.topic: str = values["topic"]
        self.partitions: int = values["partitions"]
        self.records_a_turn: int = values["records_a_turn"]
        self.value_bytes: int = values["value_bytes"]
        self.keys: int = values["keys"]
        self.seed: int = values["seed"]


@click.command()
@click.option("--bootstrap", required=True)
@click.option("--topic", required=True)
@click.option("--oracle", required=True, type=click.Path(path_type=Path))
@click.option("--seen", type=click.Path(path_type=Path))
@click.option("--churn", type=click.Path(path_type=Path))
@click.option("--partitions", default=PARTITIONS)
@click.option("--records-a-turn", default=10)
@click.option("--value-bytes", default=100)
@click.option("--keys", default=0)
@click.option("--seed", default=0)
def main(oracle: Path, seen: Path | None, churn: Path | None, **values: Any) -> None:
    """Produce until SIGTERM, then wait for the last acknowledgement."""
    options = Options(values)
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopping.append(number))
    told = os.open(oracle, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    sources = [Source(number, options, lambda entry: _note(told, entry)) for number in range(PRODUCERS)]
    beside: list[Watcher | Churn] = []
    if seen is not None:
        watched = os.open(seen, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        beside.append(Watcher(options, lambda entry: _note(watched, entry)))
    if churn is not None:
        beside.append(Churn(options.bootstrap, churn))
    try:
        while not stopping and not any(source.failure for source in sources):
            for source in sources:
                source.turn()
            for other in beside:
                other.turn()
            time.sleep(_TURN_SECONDS)
        unanswered = sum(source.drain() for source in sources)
    except KafkaException as error:
        raise click.ClickException(str(error)) from None
    failures = [source.failure for source in sources if source.failure]
    if unanswered:
        failures.append(f"{unanswered} records were never answered")
    if failures:
        raise click.ClickException("; ".join(failures))


def _note(fd: int, entry: bytes) -> None:
    os.write(fd, entry)


class Load:
    """The process of `main`, held by the judge."""

    def __init__(self, bootstrap: str, topic: str, folder: Path, **options: int) -> None:
        self.oracle, self.seen, self.churn = folder / "acknowledged", folder / "seen", folder / "churn"
        command = [sys.executable, "-m", "tests.torture.load", "--bootstrap", bootstrap, "--topic", topic]
        command += ["--oracle", str(self.oracle), "--seen", str(self.seen), "--churn", str(self.churn)]
        for name, value in options.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        self._popen = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def __enter__(self) -> "Load":
        return self

    def __exit__(self, *_: object) -> None:
        self._popen.kill()
        self._popen.communicate()

    @property
    def alive(self) -> bool:
        return self._popen.poll() is None

    def drain(self) -> None:
        """Wait until no acknowledgement comes any more: after the broker was frozen, so soon."""
        before = -1
        while (size := self._size()) != before:
            before = size
            time.sleep(5 * _TURN_SECONDS)

    def _size(self) -> int:
        return sum(path.stat().st_size for path in (self.oracle, self.seen, self.churn) if path.exists())

    def freeze(self) -> None:
        self._popen.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._popen.send_signal(signal.SIGCONT)

    def stop(self) -> str:
        """End it once all is acknowledged; what went wrong, empty if nothing did."""
        self._popen.terminate()
        _, err = self._popen.communicate(timeout=2 * DRAIN_SECONDS)
        return err.strip() if self._popen.returncode else ""


if __name__ == "__main__":
    main()
