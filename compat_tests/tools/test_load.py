"""Stories of the tools that produce and consume by themselves: perf tests, verifiable clients, latency.

Source: the tools of Apache Kafka 4.4 that bear these names.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from compat_tests.clients.adapter import Client, ConsumerSettings
from compat_tests.tools.conftest import Fill, RunTool
from compat_tests.tools.java_tools import Outcome


@pytest.mark.tool("kafka-producer-perf-test")
@pytest.mark.parametrize("codec", ["gzip", "lz4"])
def test_producer_is_measured(tool: RunTool, topic: str, administrator: Client, codec: str) -> None:
    """20,000 records of an idempotent producer are sent, and counted by the log's end."""
    sent = tool(
        "kafka-producer-perf-test",
        *("--topic", topic, "--num-records", "20000", "--record-size", "100", "--throughput", "-1"),
        *("--command-property", f"compression.type={codec}"),
    )
    consumer = administrator.consumer(ConsumerSettings())
    end = consumer.end_offset((topic, 0))
    consumer.close()

    assert (sent.status, sent.err) == (0, "")
    assert re.match(r"20000 records sent, [\d.]+ records/sec", sent.lines[-1])
    assert end == 20000


@pytest.mark.tool("kafka-producer-perf-test")
@pytest.mark.asks("AddPartitionsToTxn", "EndTxn")
def test_transactional_producer_is_measured(tool: RunTool, topic: str) -> None:
    """--transaction-duration-ms commits as it goes, and all records are sent."""
    sent = tool(
        "kafka-producer-perf-test",
        *("--topic", topic, "--num-records", "500", "--record-size", "100", "--throughput", "-1"),
        *("--transactional-id", f"id-{topic}", "--transaction-duration-ms", "100"),
    )

    assert (sent.status, sent.err) == (0, "")
    assert re.match(r"500 records sent, ", sent.lines[-1])


@pytest.mark.tool("kafka-consumer-perf-test")
def test_consumer_is_measured(tool: RunTool, topic: str, fill: Fill) -> None:
    """All records there are are consumed, and counted."""
    fill(topic, ["x" * 100] * 2000)
    consumed = tool("kafka-consumer-perf-test", "--topic", topic, "--num-records", "2000")
    names, values = [line.split(", ") for line in consumed.lines[-2:]]

    assert consumed.status == 0
    assert dict(zip(names, values, strict=True))["data.consumed.in.nMsg"] == "2000"


@pytest.mark.tool("kafka-e2e-latency")
def test_latency_is_measured(tool: RunTool, topic: str) -> None:
    """Records sent one by one arrive, and their mean latency is printed."""
    arguments = ["--topic", topic, "--num-records", "50", "--record-size", "100", "--producer-acks", "all"]
    measured = tool("kafka-e2e-latency", *arguments)

    assert (measured.status, measured.err) == (0, "")
    assert re.search(r"Avg latency: [\d.]+ ms", measured.out)
    assert "Percentiles: 50th = " in measured.out


@pytest.mark.tool("kafka-verifiable-producer")
def test_verifiable_producer_is_acknowledged(tool: RunTool, topic: str) -> None:
    """Each record is acknowledged with its offset, in order, and the end counts them all."""
    produced = tool("kafka-verifiable-producer", "--topic", topic, "--max-messages", "20", "--acks", "-1")
    events = _events(produced)
    acknowledged = [event["offset"] for event in events if event["name"] == "producer_send_success"]

    assert produced.status == 0
    assert acknowledged == list(range(20))
    assert (events[-1]["sent"], events[-1]["acked"]) == (20, 20)


@pytest.mark.tool("kafka-verifiable-consumer")
def test_verifiable_consumer_tells_its_life(tool: RunTool, topic: str, group: str, fill: Fill) -> None:
    """It is assigned the partition, consumes from 0 to the last record, and commits after it."""
    fill(topic, [str(number) for number in range(20)])
    arguments = ["--topic", topic, "--group-id", group, "--max-messages", "20"]
    events = _events(tool("kafka-verifiable-consumer", *arguments, "--reset-policy", "earliest"))
    names = [event["name"] for event in events]
    consumed = [event for event in events if event["name"] == "records_consumed"]
    committed = [event for event in events if event["name"] == "offsets_committed"]

    assert [name for name in names if name.startswith("partitions_")] == [
        "partitions_assigned",
        "partitions_revoked",
    ]
    assert sum(event["count"] for event in consumed) == 20
    assert consumed[0]["partitions"][0]["minOffset"] == 0
    assert all(event["success"] for event in committed)
    assert committed[-1]["offsets"] == [{"topic": topic, "partition": 0, "offset": 20}]


@pytest.mark.tool("kafka-console-share-consumer")
@pytest.mark.asks("ShareGroupHeartbeat", "ShareFetch", "IncrementalAlterConfigs")
def test_share_consumer_reads(tool: RunTool, topic: str, group: str, fill: Fill) -> None:
    """A share group that starts at the earliest record reads what is there (KIP-932)."""
    fill(topic, ["one", "two"])
    tool("kafka-configs", "--alter", "--group", group, "--add-config", "share.auto.offset.reset=earliest")
    arguments = ["--topic", topic, "--group", group, "--max-messages", "2", "--timeout-ms", "20000"]
    consumed = tool("kafka-console-share-consumer", *arguments)

    assert consumed.status == 0
    assert consumed.lines == ["one", "two"]


def _events(outcome: Outcome) -> list[dict[str, Any]]:
    """Read what a verifiable client prints: a JSON object a line."""
    return [json.loads(line) for line in outcome.lines if line.startswith("{")]
