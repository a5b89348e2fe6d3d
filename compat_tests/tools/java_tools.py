"""Run one of Kafka's tools as its shell script would: a JVM, arguments, what it prints, its status.

Called by the stories; calls `apache_kafka.jars` for the class path.
Source: the scripts in Kafka's bin folder, each of which names a class.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from compat_tests.apache_kafka.jars import class_path

TOOL_SECONDS = 60.0
JVM = ("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC")
"""Options for programs that live for a second."""

CLASSES = {
    "client-compatibility-test": "ClientCompatibilityTest",
    "kafka-acls": "AclCommand",
    "kafka-broker-api-versions": "BrokerApiVersionsCommand",
    "kafka-client-metrics": "ClientMetricsCommand",
    "kafka-cluster": "ClusterTool",
    "kafka-configs": "ConfigCommand",
    "kafka-console-consumer": "consumer.ConsoleConsumer",
    "kafka-console-producer": "ConsoleProducer",
    "kafka-console-share-consumer": "consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": "consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": "ConsumerPerformance",
    "kafka-delete-records": "DeleteRecordsCommand",
    "kafka-dump-log": "DumpLogSegments",
    "kafka-e2e-latency": "EndToEndLatency",
    "kafka-features": "FeatureCommand",
    "kafka-get-offsets": "GetOffsetShell",
    "kafka-groups": "GroupsCommand",
    "kafka-leader-election": "LeaderElectionCommand",
    "kafka-log-dirs": "LogDirsCommand",
    "kafka-metadata-quorum": "MetadataQuorumCommand",
    "kafka-producer-perf-test": "ProducerPerformance",
    "kafka-reassign-partitions": "reassign.ReassignPartitionsCommand",
    "kafka-replica-verification": "ReplicaVerificationTool",
    "kafka-share-groups": "consumer.group.ShareGroupCommand",
    "kafka-streams-application-reset": "StreamsResetter",
    "kafka-streams-groups": "streams.StreamsGroupCommand",
    "kafka-topics": "TopicCommand",
    "kafka-transactions": "TransactionsCommand",
    "kafka-verifiable-consumer": "VerifiableConsumer",
    "kafka-verifiable-producer": "VerifiableProducer",
}
"""Each tool's class in org.apache.kafka.tools, by the name of its script in bin."""
STORAGE_TOOL = "kafka-storage"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a tool ended and what it printed, without what the logging library says of itself."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Give the lines of the output that are not blank."""
        return [line for line in self.out.splitlines() if line.strip()]

    def rows(self) -> list[list[str]]:
        """Give each line's words, which is how a table reads whatever the widths of its columns."""
        return [line.split() for line in self.lines]


def command(tool: str, arguments: Sequence[str]) -> list[str]:
    """Give the command that runs a tool. Raises NotAvailable where the jars cannot be had."""
    main = "kafka.tools.StorageTool" if tool == STORAGE_TOOL else f"org.apache.kafka.tools.{CLASSES[tool]}"
    return [*JVM, "-cp", class_path(), main, *arguments]


def run(tool: str, arguments: Sequence[str], typed: str = "") -> Outcome:
    """Run a tool to its end, `typed` being what a person types; fails when it does not end."""
    done = subprocess.run(
        command(tool, arguments),
        input=typed,
        capture_output=True,
        text=True,
        timeout=TOOL_SECONDS,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, _without_slf4j(done.stderr))


@contextmanager
def started(tool: str, arguments: Sequence[str]) -> Iterator[Callable[[str], str]]:
    """Start a tool that does not end by itself; the function given reads on to a line with that text."""
    process = subprocess.Popen(
        command(tool, arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    deadline = threading.Timer(TOOL_SECONDS, process.kill)
    deadline.start()
    try:
        yield lambda text: _line_with(process, text)
    finally:
        deadline.cancel()
        process.kill()
        process.communicate()


def _line_with(process: subprocess.Popen[str], text: str) -> str:
    assert process.stdout is not None
    seen: list[str] = []
    for line in process.stdout:
        if text in line:
            return line.rstrip()
        seen.append(line)
    raise AssertionError(f"{text!r} was not printed, but: {''.join(seen)[-2000:]}")


def _without_slf4j(text: str) -> str:
    """Leave out what SLF4J says when no logging backend is among the jars."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("SLF4J:")).strip()
