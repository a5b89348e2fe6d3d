"""The paper's experiment: who produces and consumes how many, in alternating turns. Called by `paper`."""

import itertools
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import rivals
from instrument.question import alternating, progress
from rivals import RIVALS, NotAvailable, Rival, RunningBroker, activemq, rabbitmq
from rivals.running import wait_until_it_answers

from paper_parts.clients import CONFLUENT, JMS, KAFKA_PYTHON, PIKA, PIKA_ACKNOWLEDGING, STOMP, Client, Turn

OURS, KAFKA, RABBITMQ, ACTIVEMQ = "wirekafka", "apache-kafka", "rabbitmq", "activemq"
_RIVALS: dict[str, Rival] = {**RIVALS, RABBITMQ: rabbitmq.RIVAL, ACTIVEMQ: activemq.RIVAL}
_SETTINGS = {"log.segment.delete.delay.ms": 100, "auto.create.topics.enable": "false"}
"""A deleted topic's bytes are gone before the disk has to take them."""
_QUICK_SHARE = 0.05
_WARM_UP_SHARE = 0.3
_SETTLING_SECONDS = 6.0
"""In which ActiveMQ and RabbitMQ have written what they had gathered; ActiveMQ does so every 5 s."""
_BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Step:
    """What is done in each round: so many messages in, and out again."""

    broker: str
    client: str
    messages: int
    batch: int = 1
    acks: int = 0
    """Only Kafka's clients are asked; 0 is what the paper's producer did."""


STEPS = (
    Step(OURS, CONFLUENT, 200_000),
    Step(OURS, CONFLUENT, 1_000_000, batch=50),
    Step(OURS, CONFLUENT, 200_000, acks=1),
    Step(OURS, CONFLUENT, 1_000_000, batch=50, acks=1),
    Step(OURS, KAFKA_PYTHON, 20_000),
    Step(OURS, KAFKA_PYTHON, 100_000, batch=50),
    Step(KAFKA, CONFLUENT, 100_000),
    Step(KAFKA, CONFLUENT, 1_000_000, batch=50),
    Step(RABBITMQ, PIKA, 200_000),
    Step(RABBITMQ, PIKA_ACKNOWLEDGING, 40_000),
    Step(ACTIVEMQ, JMS, 200_000),
    Step(ACTIVEMQ, STOMP, 40_000),
)


@dataclass(slots=True)
class Measured:
    """All turns that were counted, by their step, and the rest."""

    produced: dict[Step, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    consumed: dict[Step, list[Turn]] = field(default_factory=lambda: defaultdict(list))
    disk_bytes: dict[tuple[str, int], float] = field(default_factory=dict)
    """A message, by broker and batch."""
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    """Why a broker or a client is not there."""

    @property
    def steps(self) -> Sequence[Step]:
        """Those that have turns."""
        return [step for step in STEPS if self.produced.get(step)]


class _Place:
    """A broker in its folder, with the clients that are at work there."""

    def __init__(self, broker: RunningBroker, folder: Path) -> None:
        self.broker, self.folder = broker, folder
        self._names = (f"paper-{number}" for number in itertools.count())
        self.clients: dict[str, Client] = {}

    def disk_bytes(self) -> int:
        """What its files take on the disk; what is only reserved does not count."""
        return sum(_allocated(path) for path in self.folder.rglob("*"))

    @contextmanager
    def name(self) -> Iterator[str]:
        """A name of a topic or queue that is there for the length of the block."""
        name = next(self._names)
        if self.broker.name not in RIVALS:
            yield name  # a queue is made by who uses it first, and is empty when its messages are consumed
            return
        from clients.leaders import wait_for_leaders
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(30)
        wait_for_leaders(self.broker.bootstrap, name)
        yield name
        admin.delete_topics([name])[name].result(30)


def _allocated(path: Path) -> int:
    try:
        return path.stat().st_blocks * _BLOCK_BYTES if path.is_file() else 0
    except FileNotFoundError:
        return 0


def fetch() -> None:
    """Bring what can be brought, while the machine's own network is there."""
    rivals.fetch(OURS, KAFKA)


def measure(folder: Path, rounds: int, *, quick: bool) -> Measured:
    """Start the brokers and clients that can be had, warm them up, and let them have their turns."""
    measured = Measured()
    with ExitStack() as stack:
        places = _started(stack, folder, measured)
        steps = [
            step for step in STEPS if step.broker in places and step.client in places[step.broker].clients
        ]
        for step in steps:
            _warm_up(step, places[step.broker], measured, quick=quick)
        for number, step in alternating(rounds, *steps):
            _count(number, step, places[step.broker], measured, quick=quick)
    return measured


def _started(stack: ExitStack, folder: Path, measured: Measured) -> dict[str, _Place]:
    """The brokers with their clients; who is not there is noted."""
    places: dict[str, _Place] = {}
    for broker in dict.fromkeys(step.broker for step in STEPS):
        try:
            place = stack.enter_context(_running(_RIVALS[broker], folder / broker))
        except NotAvailable as reason:
            measured.absent[broker] = str(reason)
            progress(f"{broker}: {reason}")
            continue
        places[broker] = place
        measured.versions[broker] = _RIVALS[broker].version()
        for client in dict.fromkeys(step.client for step in STEPS if step.broker == broker):
            try:
                place.clients[client] = Client(client, place.broker, folder)
            except NotAvailable as reason:
                measured.absent[client] = str(reason)
                progress(f"{client}: {reason}")
                continue
            stack.callback(place.clients[client].close)
    return places


@contextmanager
def _running(rival: Rival, folder: Path) -> Iterator[_Place]:
    rival.fetch()
    broker = rival.launch(folder, _SETTINGS if rival.name in RIVALS else {})
    try:
        wait_until_it_answers(broker)
        yield _Place(broker, folder)
    finally:
        broker.stop()


def _warm_up(step: Step, place: _Place, measured: Measured, *, quick: bool) -> None:
    """Do the step once, and see what its messages take on the disk."""
    client, messages = place.clients[step.client], _messages(step, quick=quick, share=_WARM_UP_SHARE)
    with place.name() as name:
        before = place.disk_bytes()
        client.order("produce", name, messages, step.batch, step.acks)
        if (step.broker, step.batch) not in measured.disk_bytes:
            if step.broker not in RIVALS:
                time.sleep(_SETTLING_SECONDS)
            measured.disk_bytes[step.broker, step.batch] = (place.disk_bytes() - before) / messages
        client.order("consume", name, messages)


def _count(number: int, step: Step, place: _Place, measured: Measured, *, quick: bool) -> None:
    client, messages = place.clients[step.client], _messages(step, quick=quick)
    os.sync()  # or one side would pay for what the other left to be written
    with place.name() as name:
        produced = client.order("produce", name, messages, step.batch, step.acks)
        consumed = client.order("consume", name, messages)
    measured.produced[step].append(produced)
    measured.consumed[step].append(consumed)
    progress(
        f"{number + 1}: {step.broker}, {step.client}, batch {step.batch}, acks {step.acks}: "
        f"{produced.messages_a_second:,.0f}/s in, {consumed.messages_a_second:,.0f}/s out"
    )


def _messages(step: Step, *, quick: bool, share: float = 1.0) -> int:
    return int(step.messages * share * (_QUICK_SHARE if quick else 1))
