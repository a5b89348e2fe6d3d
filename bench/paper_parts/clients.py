"""Starts the client programs and gives them orders. Called by `experiment`."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from instrument import processes
from rivals import NotAvailable, RunningBroker
from rivals.activemq import CLIENT_CLASS_PATH, RunningActiveMQ

_HERE = Path(__file__).resolve().parent
CONFLUENT, KAFKA_PYTHON, PIKA, PIKA_ACKNOWLEDGING = (
    "confluent-kafka",
    "kafka-python",
    "pika",
    "pika, acknowledging",
)
JMS, STOMP = "JMS", "stomp.py"
_PROGRAMS: Mapping[str, tuple[str, str]] = {
    CONFLUENT: ("confluent_kafka", "confluent_client"),
    KAFKA_PYTHON: ("kafka", "kafka_python_client"),
    PIKA: ("pika", "pika_client"),
    PIKA_ACKNOWLEDGING: ("pika", "pika_client"),
    STOMP: ("stomp", "stomp_client"),
}
"""For a client in Python the module it needs, and its program."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one order took: seconds by the clock, and of processors by either side."""

    messages: int
    seconds: float
    client_seconds: float
    broker_seconds: float

    @property
    def messages_a_second(self) -> float:
        return self.messages / self.seconds

    @property
    def client_us(self) -> float:
        """Processor time of the client a message, in microseconds."""
        return self.client_seconds / self.messages * 1e6

    @property
    def broker_us(self) -> float:
        """Processor time of the broker a message, in microseconds."""
        return self.broker_seconds / self.messages * 1e6


class Client:
    """A client program at work with one broker. Raises NotAvailable where what it needs is not installed."""

    def __init__(self, name: str, broker: RunningBroker, folder: Path) -> None:
        self._name, self._broker = name, broker
        self._said = folder / f"{broker.name}-{name}.err"
        with self._said.open("ab") as said:
            self._process = subprocess.Popen(
                _command(name, broker),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                cwd=_HERE.parent,
            )

    def order(self, what: str, name: str, messages: int, *more: int) -> Turn:
        """Let it `produce` so many messages, or `consume` them."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        before = self._used()
        print(what, name, messages, *more, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            last = self._said.read_text().strip().splitlines()[-1:]
            raise RuntimeError(f"{self._name} with {self._broker.name} could not {what}: {''.join(last)}")
        client, broker = (now - then for now, then in zip(self._used(), before, strict=True))
        return Turn(messages, float(answer), client, broker)

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _used(self) -> tuple[float, float]:
        return processes.cpu_seconds(self._process.pid), self._broker.cpu_seconds()


def _command(name: str, broker: RunningBroker) -> list[str]:
    if name == JMS:
        if shutil.which("javac") is None:
            raise NotAvailable("no Java compiler for the client by JMS: apt-get install default-jdk-headless")
        return ["java", "-cp", CLIENT_CLASS_PATH, str(_HERE / "JmsClient.java"), broker.bootstrap]
    module, program = _PROGRAMS[name]
    if importlib.util.find_spec(module) is None:
        raise NotAvailable(f"the module {module} is not installed: pip install {name.partition(',')[0]}")
    address = broker.stomp if name == STOMP and isinstance(broker, RunningActiveMQ) else broker.bootstrap
    command = [sys.executable, "-m", f"{_HERE.name}.{program}", address]
    return [*command, "acknowledging"] if name == PIKA_ACKNOWLEDGING else command
