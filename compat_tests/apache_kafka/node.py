"""One Apache Kafka broker: a KRaft node in a temporary folder on a free loopback port.

    python -m compat_tests.apache_kafka          # `make kafka`: run one until Ctrl-C

Called by the fixtures of `conftest` and by the benches; ended by its process id, never by name.
Source: Kafka's KRaft quick start; StorageTool and kafka.Kafka of the jars.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compat_tests.advertised import advertised_keys
from compat_tests.apache_kafka.jars import NotAvailable, class_path

START_SECONDS = 90.0
STOP_SECONDS = 30.0
CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "true",
}
"""What one node alone needs, and no rebalance delay: as wirekafka's dev profile."""
LEAN_JAVA = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Starts soon and takes little, for tests; what it does for long it does more slowly."""
LOG4J = """rootLogger.level=WARN
rootLogger.appenderRefs=file
rootLogger.appenderRef.file.ref=F
appender.file.type=File
appender.file.name=F
appender.file.fileName={folder}/kafka.log
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %m (%c)%n%ex
"""


@dataclass(slots=True)
class KafkaNode:
    """A running Apache Kafka broker."""

    bootstrap: str
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def log_dir(self) -> Path:
        return self.folder / "data"

    def stop(self, ending: signal.Signals = signal.SIGTERM) -> None:
        """End the process by its id and wait until it is gone."""
        if self.process.poll() is None:
            self.process.send_signal(ending)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def kafka_node(settings: Mapping[str, str] | None = None) -> Iterator[KafkaNode]:
    """Run a node for the length of the block, its data in a temporary folder. Raises NotAvailable."""
    with tempfile.TemporaryDirectory(prefix="apache-kafka-") as folder:
        node = start_node(Path(folder), settings)
        try:
            yield node
        finally:
            node.stop()


def start_node(
    folder: Path, settings: Mapping[str, str] | None = None, *, port: int | None = None
) -> KafkaNode:
    """Format the folder if it is new, start a node on it and wait until it answers. Raises NotAvailable."""
    node = launch_node(folder, settings, port=port)
    _wait_until_it_answers(node)
    return node


def launch_node(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    port: int | None = None,
    java_options: Sequence[str] = LEAN_JAVA,
) -> KafkaNode:
    """Format the folder if it is new and start a node on it, without waiting. Raises NotAvailable."""
    port = free_port() if port is None else port
    properties = _write_files(folder, {**SETTINGS, **(settings or {})}, port, free_port())
    words = [f"-Dlog4j2.configurationFile={folder}/log4j2.properties", "-cp", class_path()]
    if not (folder / "data" / "meta.properties").exists():
        tool = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties)]
        format_command = ["java", *LEAN_JAVA, *words, *tool]
        subprocess.run(
            format_command,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=START_SECONDS,
        )
    with (folder / "out.log").open("ab") as out:
        command = ["java", *java_options, *words, "kafka.Kafka", str(properties)]
        process = subprocess.Popen(command, stdout=out, stderr=out)
    return KafkaNode(f"127.0.0.1:{port}", folder, process)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write_files(folder: Path, settings: Mapping[str, str], port: int, controller_port: int) -> Path:
    lines = dict(settings)
    lines["listeners"] = f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}"
    lines["advertised.listeners"] = f"PLAINTEXT://127.0.0.1:{port}"
    lines["controller.quorum.voters"] = f"{settings['node.id']}@127.0.0.1:{controller_port}"
    lines["log.dirs"] = f"{folder}/data"
    (folder / "log4j2.properties").write_text(LOG4J.format(folder=folder))
    properties = folder / "server.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    return properties


def _wait_until_it_answers(node: KafkaNode) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            advertised_keys(node.bootstrap)
        except (OSError, ValueError, IndexError):
            pass
        else:
            return
        if node.process.poll() is not None or time.monotonic() > deadline:
            out = (node.folder / "out.log").read_text()
            node.stop()
            raise NotAvailable(f"Apache Kafka did not start: {out[-1500:]}")
        time.sleep(0.1)
