"""The brokers a suite is run against, by the names `--broker` takes.

Called by `__main__`; starts wirekafka or Apache Kafka, each for one suite.
Source: README.md beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from compat_tests.apache_kafka.node import free_port, kafka_node
from compat_tests.suites.definition import APACHE_KAFKA
from wirekafka.testing import running_broker

SETTINGS = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "500"}


@contextmanager
def running(broker: str, settings: Mapping[str, str]) -> Iterator[str]:
    """Run a broker with these settings for the length of the block; give where it answers.

    Raises NotAvailable where Apache Kafka cannot be run.
    """
    chosen = {**SETTINGS, **settings}
    if broker == APACHE_KAFKA:
        # Its node has an id of its own, which its quorum of one goes by.
        chosen.pop("node.id", None)
        with kafka_node(chosen) as node:
            yield node.bootstrap
    else:
        # As the node of Apache Kafka: a suite asks where advertised.listeners was set.
        listener = f"PLAINTEXT://127.0.0.1:{free_port()}"
        chosen |= {"listeners": listener, "advertised.listeners": listener}
        with running_broker(settings=chosen) as ours:
            yield ours.bootstrap
