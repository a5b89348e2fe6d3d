"""One of the two brokers as the scenarios see it: it is asked, and what it said is written down.

Called by the scenarios and `run`; calls `wire` and `plain`.
Source: each answer is Kafka's or wirekafka's own; nothing is judged here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compat_tests.differential.fields import Plain, Stands
from compat_tests.differential.plain import plain
from compat_tests.differential.wire import (
    API_OF_REQUEST,
    TIMEOUT_SECONDS,
    Connection,
    Silence,
    Unreadable,
    framed,
    read_answer,
    request_body,
)
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.message import Message

READY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request, by name, and its answer."""

    scenario: str
    label: str
    api: str
    version: int
    answer: Plain
    seconds: float

    @property
    def name(self) -> str:
        return f"{self.scenario}: {self.label} v{self.version}"


class NotReady(Exception):
    """What a scenario waits for has not come."""


class Side:
    """A broker, a connection to it, and the exchanges so far."""

    def __init__(self, name: str, bootstrap: str) -> None:
        self.name = name
        self.bootstrap = bootstrap
        self.stands = Stands()
        self.exchanges: list[Exchange] = []
        self.scenario = ""
        self.cluster_id = ""
        self._connection = Connection(bootstrap)

    def close(self) -> None:
        self._connection.close()

    # Any: the answer's type follows from the request's; a broker that is silent gives None.
    def ask(
        self,
        label: str,
        message: Message,
        version: int,
        *,
        client_id: str | None = "raw",
        patience_seconds: float = TIMEOUT_SECONDS,
        keep: Callable[[Any], None] | None = None,
    ) -> Any:
        """Send a request, write the exchange down, and give the response message, or None.

        `keep` takes out of the answer what other scenarios left in the broker.
        """
        frame = framed(request_body(message, version, client_id))
        api = API_OF_REQUEST[type(message)]
        return self.send(label, frame, api.key, version, patience_seconds=patience_seconds, keep=keep)

    def ask_each(self, requests: Mapping[str, Message], version: int) -> None:
        """Send some requests that do not hang together."""
        for label, message in requests.items():
            self.ask(label, message, version)

    # Any: as for `ask`.
    def send(
        self,
        label: str,
        frame: bytes,
        api_key: int,
        version: int,
        *,
        patience_seconds: float = TIMEOUT_SECONDS,
        answer_version: int | None = None,
        keep: Callable[[Any], None] | None = None,
    ) -> Any:
        """Send any bytes, and write down what comes, read as an answer of that key and version."""
        began = time.monotonic()
        reply = self._connection.exchange(frame, patience_seconds)
        if isinstance(reply, Silence):
            self.reconnect()
        read_as = version if answer_version is None else answer_version
        return self._write_down(label, reply, (api_key, version, read_as), began, keep)

    # Any: as for `ask`.
    def receive(
        self,
        label: str,
        connection: Connection,
        api_key: int,
        version: int,
        *,
        patience_seconds: float = TIMEOUT_SECONDS,
    ) -> Any:
        """Write down what comes over another connection, where a request waits."""
        began = time.monotonic()
        reply = connection.receive(patience_seconds)
        return self._write_down(label, reply, (api_key, version, version), began, None)

    # Any: as for `ask`.
    def _write_down(
        self,
        label: str,
        reply: bytes | Silence,
        asked: tuple[int, int, int],
        began: float,
        keep: Callable[[Any], None] | None,
    ) -> Any:
        api_key, version, read_as = asked
        message = None
        answer: Plain
        try:
            if isinstance(reply, Silence):
                answer = reply.value
            else:
                message = read_answer(APIS[api_key], read_as, reply)
                if keep is not None:
                    keep(message)
                answer = plain(message, self.stands)
        except Unreadable as error:
            answer = f"unreadable: {error}"
        name = APIS[api_key].name if api_key in APIS else f"key {api_key}"
        self.note(label, name, version, answer, seconds=time.monotonic() - began)
        return message

    def note(self, label: str, api: str, version: int, answer: Plain, *, seconds: float = 0.0) -> None:
        """Write an exchange down."""
        self.exchanges.append(Exchange(self.scenario, label, api, version, answer, seconds))

    # Any: as for `ask`.
    def arrange(self, message: Message, version: int) -> Any:
        """Send a request that is no exchange: what a scenario needs before it begins."""
        reply = self._connection.exchange(framed(request_body(message, version)))
        if isinstance(reply, Silence):
            raise NotReady(f"{self.name} {reply.value} at {type(message).__name__} v{version}")
        return read_answer(API_OF_REQUEST[type(message)], version, reply)

    def arrange_until(self, message: Message, version: int, ready: Callable[[Any], bool]) -> Any:
        """Send a request again and again until its answer will do. Raises NotReady."""
        deadline = time.monotonic() + READY_SECONDS
        while not ready(answer := self.arrange(message, version)):
            if time.monotonic() > deadline:
                raise NotReady(f"{self.name} still says {answer!r}")
            time.sleep(0.02)
        return answer

    def reconnect(self) -> None:
        """Go on with a new connection."""
        self._connection.close()
        self._connection = Connection(self.bootstrap)

    def another(self) -> Connection:
        """Open a second connection, for requests that wait; the caller closes it."""
        return Connection(self.bootstrap)
