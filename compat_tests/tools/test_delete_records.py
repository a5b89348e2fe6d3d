"""Stories of kafka-delete-records.

Source: DeleteRecordsCommand of Apache Kafka 4.4.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.clients.adapter import Client, Record
from compat_tests.conftest import MakeTopic
from compat_tests.tools.conftest import Fill, RunTool

pytestmark = [pytest.mark.tool("kafka-delete-records"), pytest.mark.asks("DeleteRecords")]

Asked = Callable[..., Path]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """Give the function that writes the tool's file: (topic, partition, offset) each."""

    def write(*wanted: tuple[str, int, int]) -> Path:
        path = tmp_path / "offsets.json"
        partitions = [{"topic": name, "partition": index, "offset": offset} for name, index, offset in wanted]
        path.write_text(json.dumps({"version": 1, "partitions": partitions}))
        return path

    return write


def test_the_low_watermark_is_printed(tool: RunTool, topic: str, fill: Fill, asked: Asked) -> None:
    """Up to an offset, then up to the end; kafka-get-offsets tells the same."""
    fill(topic, ["v"] * 5)

    some = tool("kafka-delete-records", "--offset-json-file", str(asked((topic, 0, 3))))
    start = tool("kafka-get-offsets", "--topic", topic, "--time", "earliest")
    all_of_it = tool("kafka-delete-records", "--offset-json-file", str(asked((topic, 0, -1))))

    assert (some.status, some.lines[-1]) == (0, f"partition: {topic}-0\tlow_watermark: 3")
    assert start.lines == [f"{topic}:0:3"]
    assert (all_of_it.status, all_of_it.lines[-1]) == (0, f"partition: {topic}-0\tlow_watermark: 5")


def test_what_cannot_be_deleted_is_told(
    tool: RunTool, topic: str, make_topic: MakeTopic, administrator: Client, asked: Asked
) -> None:
    """Behind the end, and of a topic that is compacted, each with its reason."""
    compacted = make_topic(cleanup_policy="compact")
    administrator.produce(compacted, [Record(b"v", key=b"k")])

    outcome = tool("kafka-delete-records", "--offset-json-file", str(asked((topic, 0, 9), (compacted, 0, 1))))

    errors = {line.split("\t")[0]: line.split("\t")[1] for line in outcome.lines if "\terror: " in line}
    assert "OffsetOutOfRangeException" in errors[f"partition: {topic}-0"]
    assert "PolicyViolationException" in errors[f"partition: {compacted}-0"]
