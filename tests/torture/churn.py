"""Topics that come and go beside the load: each is created, and most are deleted again.

`Churn` runs in the load's process; what it was told goes to a file beside the oracle's, which
`found_wrong_with_topics` holds the broker to.
"""

import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

_PREFIX = "churned-"
_PARTITIONS = 3
_KEPT_EVERY = 5
_REQUEST_SECONDS = 5.0


class Churn:
    """One topic after the other; an operation that got no answer may have happened or not."""

    def __init__(self, bootstrap: str, path: Path) -> None:
        self._admin: Any = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._number = 0
        self._doing = ""
        self._pending: Future[None] | None = None

    def turn(self) -> None:
        """Begin the next operation if the last has ended, and note how it did."""
        if self._pending is not None:
            if not self._pending.done():
                return
            if self._pending.exception() is None:
                self._note(f"{self._doing}d")
            elif not isinstance(self._pending.exception(), KafkaException):
                raise AssertionError(self._pending.exception())
        self._begin()

    def _begin(self) -> None:
        name = f"{_PREFIX}{self._number}"
        if self._doing == "create" and self._number % _KEPT_EVERY:
            self._doing = "delete"
            self._note("delete")
            self._pending = self._admin.delete_topics([name], request_timeout=_REQUEST_SECONDS)[name]
            return
        self._number += 1
        self._doing = "create"
        name = f"{_PREFIX}{self._number}"
        new = NewTopic(name, num_partitions=_PARTITIONS, replication_factor=1)
        self._pending = self._admin.create_topics([new], request_timeout=_REQUEST_SECONDS)[name]

    def _note(self, what: str) -> None:
        os.write(self._fd, f"{what} {self._number}\n".encode())


def found_wrong_with_topics(told: str, there: set[str], set_aside: list[str]) -> list[str]:
    """A sentence for each topic that was created and is not there, or deleted and is.

    And for each folder that was set aside of a topic that is known to have been made, and not to be deleted.
    """
    lines = [line.split() for line in told.splitlines()]
    said: dict[str, set[str]] = {"created": set(), "delete": set(), "deleted": set()}
    for what, number in lines:
        said[what].add(f"{_PREFIX}{number}")
    kept = said["created"] - said["delete"]
    lost, risen = kept - there, said["deleted"] & there
    strays = [name for name in set_aside if name.split(".")[0].rpartition("-")[0] in kept]
    return [
        *(f"the topic {name} was created and is not there" for name in sorted(lost)),
        *(f"the topic {name} was deleted and is there" for name in sorted(risen)),
        *(f"the folder {name} was set aside" for name in sorted(strays)),
    ]
