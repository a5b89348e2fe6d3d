"""Apache Kafka: one KRaft node, with Java's options of kafka-server-start.sh. Called by `rivals`.

Source: Kafka's kafka-server-start.sh and kafka-run-class.sh.
"""

import sys
import time
from pathlib import Path

from rivals.running import ROOT, NotAvailable, Rival, RunningBroker, Settings

sys.path.append(str(ROOT))  # a bench is run as a script

from compat_tests.apache_kafka import jars, node

JAVA_OPTIONS = (
    "-Xms1G",
    "-Xmx1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
)
KAFKAS_OWN = {"group.initial.rebalance.delay.ms": "3000"}
"""Defaults that `compat_tests` changes for the stories."""


def _fetch() -> None:
    try:
        jars.fetch()
    except jars.NotAvailable as reason:
        raise NotAvailable(str(reason)) from None


def _launch(folder: Path, settings: Settings) -> RunningBroker:
    folder.mkdir(parents=True, exist_ok=True)
    chosen = KAFKAS_OWN | {name: str(value) for name, value in settings.items()}
    started = node.launch_node(folder, chosen, java_options=JAVA_OPTIONS)
    exec_at, said = time.perf_counter(), folder / "out.log"
    return RunningBroker("apache-kafka", started.bootstrap, started.process, exec_at, said)


RIVAL = Rival(
    "apache-kafka",
    "Apache Kafka, one KRaft node, Java's heap 1 GiB as kafka-server-start.sh gives it",
    version=lambda: jars.LIBRARY.name.removeprefix("kafka-"),
    fetch=_fetch,
    launch=_launch,
    is_here=lambda: (jars.LIBRARY / ".complete").exists(),
)
