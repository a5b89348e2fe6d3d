"""Stories of kafka-consumer-groups, kafka-groups and what else looks at groups.

Source: ConsumerGroupCommand, GroupsCommand and StreamsResetter of Apache Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat_tests.clients.adapter import Client, Consumer, ConsumerSettings
from compat_tests.stories.waiting import eventually, poll_until
from compat_tests.tools.conftest import Fill, RunTool

TOOL = "kafka-consumer-groups"
pytestmark = pytest.mark.tool(TOOL)
Committed = Callable[[str, str], int | None]
NOBODY = ["-", "-", "-"]


@pytest.fixture
def idle_group(administrator: Client, topic: str, group: str, fill: Fill) -> str:
    """Give a group without members that has committed offset 2 of 5 in the topic's partition."""
    fill(topic, ["one", "two", "three", "four", "five"])
    consumer = administrator.consumer(ConsumerSettings(group=group))
    consumer.subscribe([topic])
    poll_until([consumer], lambda: bool(consumer.assignment()))
    consumer.commit({(topic, 0): 2})
    consumer.close()
    eventually(lambda: administrator.admin().describe_group(group).state == "Empty")
    return group


@pytest.fixture
def member(
    administrator: Client, topic: str, group: str, close_at_end: Callable[[Consumer], Consumer]
) -> Consumer:
    """Give the one member of the group, which holds the topic's partition."""
    consumer = close_at_end(administrator.consumer(ConsumerSettings(group=group, session_timeout_ms=30_000)))
    consumer.subscribe([topic])
    poll_until([consumer], lambda: bool(consumer.assignment()))
    return consumer


@pytest.fixture
def committed(administrator: Client) -> Committed:
    """Give the function that looks up what a group has committed for partition 0 of a topic."""

    def look_up(topic: str, group: str) -> int | None:
        consumer = administrator.consumer(ConsumerSettings(group=group))
        offset = consumer.committed((topic, 0))
        consumer.close()
        return offset

    return look_up


def test_groups_are_listed_with_their_state(tool: RunTool, idle_group: str) -> None:
    """--list --state prints a group that has committed, as Empty."""
    listed = tool(TOOL, "--list", "--state")

    assert (listed.status, listed.err) == (0, "")
    assert [idle_group, "Empty"] in listed.rows()


def test_lag_is_described(tool: RunTool, idle_group: str, topic: str) -> None:
    """--describe prints the committed offset, the end and the lag."""
    described = tool(TOOL, "--describe", "--group", idle_group)

    assert described.status == 0
    assert described.err == f"Consumer group '{idle_group}' has no active members."
    assert [idle_group, topic, "0", "2", "5", "3", *NOBODY] in described.rows()


def test_members_are_described(tool: RunTool, member: Consumer, group: str, topic: str) -> None:
    """--describe --members --verbose prints a member, where it is, and what it holds."""
    described = tool(TOOL, "--describe", "--group", group, "--members", "--verbose")
    (row,) = [row for row in described.rows() if row[0] == group]

    assert (described.status, described.err) == (0, "")
    assert row[2] == "/127.0.0.1"
    assert row[4] == "1"
    assert f"{topic}:0" in row


def test_state_is_described(tool: RunTool, member: Consumer, group: str, bootstrap: str) -> None:
    """--describe --state prints the coordinator, the assignor, the state and the number of members."""
    described = tool(TOOL, "--describe", "--group", group, "--state")

    assert (described.status, described.err) == (0, "")
    assert [group, bootstrap, "(1)", "range", "Stable", "1"] in described.rows()


def test_unknown_group_is_refused(tool: RunTool, group: str) -> None:
    """--describe of a group that is not there says so."""
    described = tool(TOOL, "--describe", "--group", group)

    assert "GroupIdNotFoundException" in described.out + described.err
    assert f"Group {group} not found." in described.out + described.err


@pytest.mark.parametrize(
    ("how", "offset"),
    [
        pytest.param(["--shift-by", "-1"], "1", id="shift-by"),
        pytest.param(["--to-datetime", "2099-01-01T00:00:00.000"], "5", id="to-datetime"),
    ],
)
def test_offsets_are_reset(
    tool: RunTool, idle_group: str, topic: str, committed: Committed, how: list[str], offset: str
) -> None:
    """--reset-offsets --execute prints the new offset and commits it."""
    reset = tool(TOOL, "--reset-offsets", "--group", idle_group, "--topic", topic, *how, "--execute")

    assert (reset.status, reset.err) == (0, "")
    assert [idle_group, topic, "0", offset] in reset.rows()
    assert committed(topic, idle_group) == int(offset)


def test_dry_run_changes_nothing(tool: RunTool, idle_group: str, topic: str, committed: Committed) -> None:
    """--reset-offsets --dry-run prints the new offset and leaves the old one."""
    reset = tool(TOOL, "--reset-offsets", "--group", idle_group, "--topic", topic, "--to-latest", "--dry-run")

    assert [idle_group, topic, "0", "5"] in reset.rows()
    assert committed(topic, idle_group) == 2


def test_offsets_of_a_group_at_work_are_not_reset(
    tool: RunTool, member: Consumer, group: str, topic: str
) -> None:
    """--reset-offsets refuses a group that has members."""
    refused = tool(TOOL, "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")

    assert f"the group '{group}' is inactive, but the current state is Stable." in refused.out + refused.err


@pytest.mark.asks("OffsetDelete")
def test_offsets_are_deleted(tool: RunTool, idle_group: str, topic: str) -> None:
    """--delete-offsets takes a group's commits of a topic away."""
    deleted = tool(TOOL, "--delete-offsets", "--group", idle_group, "--topic", topic)
    described = tool(TOOL, "--describe", "--group", idle_group)

    assert [topic, "0", "Successful"] in deleted.rows()
    assert topic not in described.out


@pytest.mark.asks("DeleteGroups")
def test_group_is_deleted(tool: RunTool, idle_group: str) -> None:
    """--delete removes a group without members."""
    deleted = tool(TOOL, "--delete", "--group", idle_group)
    listed = tool(TOOL, "--list")

    assert f"Deletion of requested consumer groups ('{idle_group}') was successful." in deleted.out
    assert idle_group not in listed.lines


@pytest.mark.tool("kafka-groups")
def test_groups_of_all_kinds_are_listed(tool: RunTool, idle_group: str) -> None:
    """--list prints each group with its type and protocol."""
    listed = tool("kafka-groups", "--list")

    assert (listed.status, listed.err) == (0, "")
    assert [idle_group, "Classic", "consumer"] in listed.rows()


@pytest.mark.tool("kafka-share-groups")
def test_classic_group_is_no_share_group(tool: RunTool, idle_group: str) -> None:
    """--list leaves out groups that are not share groups."""
    listed = tool("kafka-share-groups", "--list")

    assert (listed.status, listed.err) == (0, "")
    assert idle_group not in listed.out


@pytest.mark.tool("kafka-share-groups")
@pytest.mark.asks("ShareGroupDescribe")
def test_unknown_share_group_is_refused(tool: RunTool, group: str) -> None:
    """--describe of a share group that is not there says so (KIP-932)."""
    described = tool("kafka-share-groups", "--describe", "--group", group)

    assert f"Group {group} not found." in described.out + described.err


@pytest.mark.tool("kafka-streams-groups")
def test_classic_group_is_no_streams_group(tool: RunTool, idle_group: str) -> None:
    """--list leaves out groups that are not streams groups."""
    listed = tool("kafka-streams-groups", "--list")

    assert (listed.status, listed.err) == (0, "")
    assert idle_group not in listed.out


@pytest.mark.tool("kafka-streams-application-reset")
def test_application_is_reset(tool: RunTool, idle_group: str, topic: str, committed: Committed) -> None:
    """The input topic of an application without members is reset to its beginning."""
    reset = tool("kafka-streams-application-reset", "--application-id", idle_group, "--input-topics", topic)

    assert (reset.status, reset.err) == (0, "")
    assert f"Topic: {topic} Partition: 0 Offset: 0" in reset.lines
    assert committed(topic, idle_group) == 0
