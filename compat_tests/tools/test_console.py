"""Stories of kafka-console-producer and kafka-console-consumer.

Source: ConsoleProducer and ConsoleConsumer of Apache Kafka 4.4.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat_tests.clients.adapter import Client, ConsumerSettings, Record, Start
from compat_tests.conftest import MakeTopic
from compat_tests.stories.waiting import read
from compat_tests.tools.conftest import Fill, LeaveOffset, RunTool

CONSUMER = "kafka-console-consumer"
PRODUCER = "kafka-console-producer"
OFFSETS_FORMATTER = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
GROUP_FORMATTER = "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter"
QUIET_MS = "5000"
"""How long nothing must come until the topic counts as read to its end; a JVM on a busy machine is slow."""
GROUP_METADATA = 2
"""The type of a classic group's record."""


def _properties(option: str, **properties: str) -> list[str]:
    return [
        word for name, value in properties.items() for word in (option, f"{name.replace('_', '.')}={value}")
    ]


@pytest.mark.tool(PRODUCER)
def test_typed_lines_come_back(tool: RunTool, topic: str) -> None:
    """Typed lines with headers, keys and a null come back with offset, headers, key and value."""
    typed = "h1:one,h2:two\tk1\tv1\nh1:x\tk2\tv2\nh1:x\tk1\tNULL\n"
    reading = _properties("--reader-property", parse_key="true", parse_headers="true", null_marker="NULL")
    produced = tool(PRODUCER, "--topic", topic, *reading, typed=typed)
    printing = _properties(
        "--formatter-property",
        print_key="true",
        print_headers="true",
        print_offset="true",
        print_partition="true",
        null_literal="NIL",
    )
    consumed = tool(CONSUMER, "--topic", topic, "--from-beginning", "--max-messages", "3", *printing)

    assert (produced.status, produced.err) == (0, "")
    assert consumed.status == 0
    assert "Processed a total of 3 messages" in consumed.err
    assert [line.split("\t") for line in consumed.lines if "\t" in line] == [
        ["Partition:0", "Offset:0", "h1:one,h2:two", "k1", "v1"],
        ["Partition:0", "Offset:1", "h1:x", "k2", "v2"],
        ["Partition:0", "Offset:2", "h1:x", "k1", "NIL"],
    ]


@pytest.mark.tool(PRODUCER)
@pytest.mark.parametrize("codec", ["snappy", "zstd"])
def test_compressed_lines_are_read(tool: RunTool, topic: str, administrator: Client, codec: str) -> None:
    """--compression-codec: what the Java producer compressed, another client reads."""
    typed = "".join(f"line {number}\n" for number in range(50))
    produced = tool(PRODUCER, "--topic", topic, "--compression-codec", codec, typed=typed)
    consumer = administrator.consumer(ConsumerSettings())
    starts: dict[int, Start] = {0: "beginning"}
    consumer.assign(topic, starts)
    received = read(consumer, 50)
    consumer.close()

    assert (produced.status, produced.err) == (0, "")
    assert b"".join((record.value or b"") + b"\n" for record in received) == typed.encode()


@pytest.mark.tool(CONSUMER)
def test_one_partition_is_read_from_an_offset(tool: RunTool, make_topic: MakeTopic, fill: Fill) -> None:
    """--partition and --offset read there and nowhere else."""
    topic = make_topic(partition_count=2)
    fill(topic, ["elsewhere"], 0)
    fill(topic, ["first", "second", "third"], 1)
    chosen = ["--topic", topic, "--partition", "1", "--offset", "1", "--max-messages", "2"]
    consumed = tool(CONSUMER, *chosen)

    assert consumed.status == 0
    assert consumed.lines == ["second", "third"]


@pytest.mark.tool(CONSUMER)
def test_group_goes_on_where_it_stopped(tool: RunTool, topic: str, group: str, fill: Fill) -> None:
    """--group commits on the way out, and the next run reads what is left."""
    fill(topic, ["one", "two", "three"])
    arguments = ["--topic", topic, "--group", group]
    first = tool(CONSUMER, *arguments, "--from-beginning", "--max-messages", "2")
    second = tool(CONSUMER, *arguments, "--max-messages", "1")

    assert (first.status, second.status) == (0, 0)
    assert _records(first.lines) == ["one", "two"]
    assert _records(second.lines) == ["three"]


@pytest.mark.tool(CONSUMER)
def test_topics_are_taken_by_pattern(tool: RunTool, topic: str, fill: Fill) -> None:
    """--include takes topics by a pattern, from the metadata of all topics."""
    fill(topic, ["one"])
    pattern = topic[:-1] + "."
    consumed = tool(CONSUMER, "--include", pattern, "--from-beginning", "--max-messages", "1")

    assert consumed.status == 0
    assert _records(consumed.lines) == ["one"]


@pytest.mark.tool(CONSUMER)
@pytest.mark.asks("ConsumerGroupHeartbeat")
def test_group_by_the_new_protocol(tool: RunTool, topic: str, group: str, fill: Fill) -> None:
    """group.protocol=consumer: the broker assigns, and the record is read (KIP-848)."""
    fill(topic, ["one"])
    protocol = ["--command-property", "group.protocol=consumer"]
    arguments = ["--topic", topic, "--group", group, "--from-beginning", "--max-messages", "1"]
    consumed = tool(CONSUMER, *arguments, *protocol)

    assert consumed.status == 0
    assert _records(consumed.lines) == ["one"]


@pytest.mark.tool(CONSUMER)
def test_stored_commit_is_printed(tool: RunTool, administrator: Client, topic: str, group: str) -> None:
    """--formatter prints a group's commit from __consumer_offsets."""
    administrator.produce(topic, [Record(b"one")], partition=0)
    consumer = administrator.consumer(ConsumerSettings(group=group))
    consumer.subscribe([topic])
    read(consumer, 1)
    consumer.commit({(topic, 0): 1})
    consumer.close()
    place = ["--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", QUIET_MS]
    consumed = tool(CONSUMER, *place, "--formatter", OFFSETS_FORMATTER)
    of_group = [entry for entry in _objects(consumed.out) if entry["key"]["data"]["group"] == group]

    assert consumed.status == 0
    assert of_group[-1]["key"]["data"] == {"group": group, "topic": topic, "partition": 0}
    assert of_group[-1]["value"]["data"]["offset"] == 1


@pytest.mark.tool(CONSUMER)
@pytest.mark.asks("ConsumerGroupHeartbeat")
def test_pattern_by_the_new_protocol(tool: RunTool, topic: str, group: str, fill: Fill) -> None:
    """group.protocol=consumer with --include: the broker looks up which topics there are (RE2)."""
    fill(topic, ["one", "two"])
    pattern = f"{topic[:-1]}[0-9a-f]"
    protocol = ["--command-property", "group.protocol=consumer"]
    arguments = ["--include", pattern, "--group", group, "--from-beginning", "--max-messages", "2"]
    consumed = tool(CONSUMER, *arguments, *protocol)

    assert consumed.status == 0
    assert _records(consumed.lines) == ["one", "two"]


@pytest.mark.tool(CONSUMER)
@pytest.mark.asks("ConsumerGroupHeartbeat")
def test_group_goes_on_by_the_other_protocol(tool: RunTool, topic: str, group: str, fill: Fill) -> None:
    """A group that was left by one protocol is taken up by the other, both ways, where it stopped."""
    fill(topic, ["one", "two", "three"])
    arguments = ["--topic", topic, "--group", group, "--max-messages", "1"]
    protocol = ["--command-property", "group.protocol=consumer"]
    first = tool(CONSUMER, *arguments, "--from-beginning")
    second = tool(CONSUMER, *arguments, *protocol)
    third = tool(CONSUMER, *arguments)

    assert [_records(each.lines) for each in (first, second, third)] == [["one"], ["two"], ["three"]]


@pytest.mark.tool(CONSUMER)
def test_group_metadata_is_formatted(tool: RunTool, topic: str, group: str, fill: Fill) -> None:
    """__consumer_offsets is read with GroupMetadataMessageFormatter, which prints classic groups."""
    fill(topic, ["one"])
    tool(CONSUMER, "--topic", topic, "--group", group, "--from-beginning", "--max-messages", "1")
    of_group = _formatted(tool, GROUP_FORMATTER, group)
    values = [entry["value"]["data"] for entry in of_group]

    assert {entry["key"]["type"] for entry in of_group} == {GROUP_METADATA}
    assert [value["protocolType"] for value in values] == ["", "consumer", "consumer"]
    assert [len(value["members"]) for value in values] == [0, 1, 0]
    assert [value["generation"] for value in values] == [0, 1, 2]
    assert values[1]["members"][0]["clientHost"] == "/127.0.0.1"


@pytest.mark.tool(CONSUMER)
@pytest.mark.asks("DeleteGroups")
def test_tombstones_are_formatted(tool: RunTool, topic: str, group: str, leave_offset: LeaveOffset) -> None:
    """A group that was deleted leaves a record without value for each offset and for itself."""
    leave_offset(group, topic, 0)
    tool("kafka-consumer-groups", "--delete", "--group", group)
    offsets = _formatted(tool, OFFSETS_FORMATTER, group)
    groups = _formatted(tool, GROUP_FORMATTER, group)

    assert (offsets[-1]["value"], groups[-1]["value"]) == (None, None)
    assert offsets[-1]["key"]["data"] == {"group": group, "topic": topic, "partition": 0}
    assert groups[-1]["key"]["data"] == {"group": group}


# Any: as for `_objects`.
def _formatted(tool: RunTool, formatter: str, group: str) -> list[dict[str, Any]]:
    """Read what the formatter prints of the group."""
    place = ["--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", QUIET_MS]
    consumed = tool(CONSUMER, *place, "--formatter", formatter)
    assert consumed.status == 0
    return [entry for entry in _objects(consumed.out) if entry["key"]["data"]["group"] == group]


def _records(lines: list[str]) -> list[str]:
    """Leave out the advertisement that the tool prints for the new group protocol."""
    return [line for line in lines if not line.startswith("The consumer rebalance protocol")]


# Any: the shape of what is printed is what the story checks.
def _objects(text: str) -> list[dict[str, Any]]:
    """Read JSON objects that stand one after the other without anything between."""
    decoder = json.JSONDecoder()
    objects: list[dict[str, Any]] = []
    place = text.find('{"key"')
    while 0 <= place < len(text) and text[place] == "{":
        entry, place = decoder.raw_decode(text, place)
        objects.append(entry)
    return objects
