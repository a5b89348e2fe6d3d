"""What a developer would pick instead: brokers that the benches start, ask and end.

`start` gives any of them as a process of its own on a free port of 127.0.0.1; `fetch` brings what is needed,
once, into `bench/.fetched` (Apache Kafka's jars into the folder of `compat_tests`). Called by the questions.
`rabbitmq` and `activemq`, which speak other protocols, are `paper`'s alone.
"""

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from instrument.question import progress

from rivals import activemq, apache_kafka, kfake, librdkafka_mock, rabbitmq, tansu, wirekafka
from rivals.running import NotAvailable, Rival, RunningBroker, wait_until_it_answers

__all__ = ["RIVALS", "NotAvailable", "Rival", "RunningBroker", "fetch", "fetch_all", "start", "versions"]

RIVALS: Mapping[str, Rival] = {
    rival.name: rival
    for rival in (wirekafka.RIVAL, apache_kafka.RIVAL, kfake.RIVAL, tansu.RIVAL, librdkafka_mock.RIVAL)
}


@contextmanager
def start(name: str, folder: Path, settings: Mapping[str, object] | None = None) -> Iterator[RunningBroker]:
    """Run a broker for the length of the block, its data in the folder, and wait until it answers.

    A folder that has its data already is gone on with. Raises NotAvailable.
    """
    rival = RIVALS[name]
    _fetch(rival)
    broker = rival.launch(folder, settings or {})
    try:
        wait_until_it_answers(broker)
        yield broker
    finally:
        broker.stop()


def fetch(*names: str) -> None:
    """Bring what these rivals need; of one that cannot be had, say why."""
    for name in names:
        try:
            _fetch(RIVALS[name])
        except NotAvailable as reason:
            progress(f"{name}: {reason}")


def _fetch(rival: Rival) -> None:
    if not rival.is_here():
        progress(f"{rival.name}: fetching it, once ...")
    rival.fetch()


fetch_all = functools.partial(fetch, *RIVALS)


def versions() -> dict[str, str]:
    """The version of each that is here, by its name."""
    every = (*RIVALS.values(), rabbitmq.RIVAL, activemq.RIVAL)
    return {rival.name: version for rival in every if (version := rival.version())}
