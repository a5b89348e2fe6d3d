"""The two brokers that the tools are held against, each with its data folder.

Called by `conftest`; calls `wirekafka.testing` and `apache_kafka.node`.
Source: none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compat_tests.apache_kafka.node import kafka_node

WIREKAFKA = "wirekafka"
APACHE_KAFKA = "apache-kafka"


@dataclass(frozen=True, slots=True)
class BrokerUnderTest:
    """A running broker."""

    name: str
    bootstrap: str
    log_dir: Path


@contextmanager
def running(name: str) -> Iterator[BrokerUnderTest]:
    """Run the broker of that name for the length of the block. Raises NotAvailable."""
    if name == APACHE_KAFKA:
        with kafka_node() as node:
            yield BrokerUnderTest(name, node.bootstrap, node.log_dir)
        return
    from wirekafka.testing import running_broker

    with running_broker() as broker:
        yield BrokerUnderTest(name, broker.bootstrap, broker.data_dir)
