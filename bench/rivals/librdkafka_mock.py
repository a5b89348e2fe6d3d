"""librdkafka's mock cluster, in a process of its own (`mock_cluster`). Called by `rivals`."""

import sys
import time
from pathlib import Path

from confluent_kafka import libversion

from rivals.running import START_SECONDS, NotAvailable, Rival, RunningBroker, Settings, execute

_PROGRAM = Path(__file__).with_name("mock_cluster.py")


def _launch(folder: Path, _settings: Settings) -> RunningBroker:
    ready_file = folder / "port"
    ready_file.unlink(missing_ok=True)
    broker = execute("librdkafka-mock", 0, [sys.executable, str(_PROGRAM), str(ready_file)], folder)
    while not ready_file.exists():
        if broker.process.poll() is not None or time.perf_counter() > broker.exec_at + START_SECONDS:
            broker.stop()
            raise NotAvailable("librdkafka's mock cluster did not start")
        time.sleep(0.002)
    broker.bootstrap = f"127.0.0.1:{ready_file.read_text()}"
    return broker


RIVAL = Rival(
    "librdkafka-mock",
    "librdkafka's mock cluster of one broker, held by a Python process, data in memory",
    version=lambda: str(libversion()[0]),
    fetch=lambda: None,
    launch=_launch,
    lacks={
        "topics": "it answers no CreateTopics: a topic has four partitions from its first use on",
        "keeping": "it keeps the newest 5 MB of a partition",
        "settings": "it has none of Kafka's",
        "disk": "it keeps everything in memory",
    },
)
