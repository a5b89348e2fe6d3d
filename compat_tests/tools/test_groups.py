"""Stories of kafka-consumer-groups and kafka-groups, which list and describe groups of both protocols.

Source: ConsumerGroupCommand, GroupsCommand and StreamsResetter of Apache Kafka 4.4.
"""

from __future__ import annotations

import pytest

from compat_tests.conftest import MakeTopic
from compat_tests.stories.waiting import eventually
from compat_tests.tools.conftest import (
    BOTH_PROTOCOLS,
    CLASSIC,
    CONSUMER,
    Committed,
    Fill,
    JoinGroup,
    LeaveOffset,
    RunTool,
)
from compat_tests.tools.java_tools import Outcome

TOOL = "kafka-consumer-groups"
pytestmark = pytest.mark.tool(TOOL)
NOBODY = ["-", "-", "-"]
ASSIGNORS = {CLASSIC: "range", CONSUMER: "uniform"}


@pytest.fixture
def idle_group(topic: str, group: str, fill: Fill, leave_offset: LeaveOffset, protocol: str) -> str:
    """Give a group without members that has committed offset 2 of 5 in the topic's partition."""
    fill(topic, ["one", "two", "three", "four", "five"])
    leave_offset(group, topic, 2, protocol)
    return group


def _row_of(group: str, outcome: Outcome) -> list[str]:
    (row,) = [row for row in outcome.rows() if row[0] == group]
    return row


@BOTH_PROTOCOLS
def test_groups_are_listed_with_their_state(tool: RunTool, idle_group: str) -> None:
    """--list --state prints a group that has committed, as Empty."""
    listed = tool(TOOL, "--list", "--state")

    assert (listed.status, listed.err) == (0, "")
    assert [idle_group, "Empty"] in listed.rows()


@BOTH_PROTOCOLS
def test_lists_are_filtered(tool: RunTool, idle_group: str, protocol: str) -> None:
    """--list takes states and types, in any case, and prints both."""
    kind = protocol.capitalize()
    other = {CLASSIC: CONSUMER, CONSUMER: CLASSIC}[protocol]
    plain = tool(TOOL, "--list")
    chosen = tool(TOOL, "--list", "--state", "empty,STABLE", "--type", kind.upper())
    of_another_state = tool(TOOL, "--list", "--state", "Stable", "--type", kind)
    of_another_type = tool(TOOL, "--list", "--type", other)

    assert idle_group in plain.lines
    assert chosen.rows()[0] == ["GROUP", "TYPE", "STATE"]
    assert [idle_group, kind, "Empty"] in chosen.rows()
    assert idle_group not in of_another_state.out
    assert idle_group not in of_another_type.out
    assert of_another_type.rows()[0] == ["GROUP", "TYPE"]


def test_unknown_states_and_types_are_refused(tool: RunTool) -> None:
    """--list with a state or a type that no consumer group has names those there are."""
    state = tool(TOOL, "--list", "--state", "Sleeping")
    kind = tool(TOOL, "--list", "--type", "share")

    assert (state.status, kind.status) == (1, 1)
    assert "Invalid state list 'Sleeping'. Valid states are:" in state.err
    assert "Invalid types list 'share'. Valid types are:" in kind.err


@BOTH_PROTOCOLS
def test_lag_is_described(tool: RunTool, idle_group: str, topic: str) -> None:
    """--describe prints the committed offset, the end and the lag."""
    described = tool(TOOL, "--describe", "--group", idle_group)

    assert described.status == 0
    assert described.err == f"Consumer group '{idle_group}' has no active members."
    assert [idle_group, topic, "0", "2", "5", "3", *NOBODY] in described.rows()


@BOTH_PROTOCOLS
def test_lag_of_members_is_described(
    tool: RunTool, join_group: JoinGroup, topic: str, group: str, fill: Fill, protocol: str
) -> None:
    """--describe --offsets --verbose prints for each partition who holds it, with its leader epoch."""
    fill(topic, ["one", "two", "three"])
    join_group(group, topic, protocol=protocol).commit({(topic, 0): 1})
    described = tool(TOOL, "--describe", "--group", group, "--offsets", "--verbose")
    row = _row_of(group, described)

    assert (described.status, described.err) == (0, "")
    assert row[1:3] == [topic, "0"]
    assert row[4:7] == ["1", "3", "2"]
    assert row[8] == "/127.0.0.1"


@BOTH_PROTOCOLS
def test_members_are_described(
    tool: RunTool, join_group: JoinGroup, group: str, topic: str, protocol: str
) -> None:
    """--describe --members prints a member, where it is, and how many partitions it holds."""
    join_group(group, topic, protocol=protocol)
    described = tool(TOOL, "--describe", "--group", group, "--members")
    row = _row_of(group, described)

    assert (described.status, described.err) == (0, "")
    assert row[2] == "/127.0.0.1"
    assert row[4:] == ["1"]


@BOTH_PROTOCOLS
def test_members_are_described_in_full(
    tool: RunTool, join_group: JoinGroup, group: str, topic: str, protocol: str
) -> None:
    """--describe --members --verbose prints what a member holds, what it is to hold, and at which epoch."""
    join_group(group, topic, protocol=protocol)
    described = tool(TOOL, "--describe", "--group", group, "--members", "--verbose")
    row = _row_of(group, described)
    epoch, held, target_epoch, target = row[5:]

    assert (described.status, described.err) == (0, "")
    assert held == f"{topic}:0"
    assert target == ("-" if protocol == CLASSIC else held)
    assert epoch == target_epoch
    assert epoch.isdigit() == (protocol == CONSUMER)


@BOTH_PROTOCOLS
def test_state_is_described(
    tool: RunTool, join_group: JoinGroup, group: str, topic: str, bootstrap: str, protocol: str
) -> None:
    """--describe --state prints the coordinator, the assignor, the state and the number of members."""
    join_group(group, topic, protocol=protocol)
    described = tool(TOOL, "--describe", "--group", group, "--state")
    verbose = tool(TOOL, "--describe", "--group", group, "--state", "--verbose")
    known = [group, bootstrap, "(1)", ASSIGNORS[protocol], "Stable"]
    group_epoch, target_epoch, members = _row_of(group, verbose)[len(known) :]

    assert (described.status, described.err) == (0, "")
    assert [*known, "1"] in described.rows()
    assert (group_epoch, members) == (target_epoch, "1")
    assert group_epoch.isdigit() == (protocol == CONSUMER)


def test_many_groups_are_described(
    tool: RunTool, leave_offset: LeaveOffset, group: str, topic: str, fill: Fill
) -> None:
    """--describe takes --group many times, and --all-groups."""
    fill(topic, ["one", "two"])
    groups = [f"{group}-{number}" for number in range(3)]
    for number, each in enumerate(groups):
        leave_offset(each, topic, number)
    named = tool(TOOL, "--describe", *(word for each in groups[:2] for word in ("--group", each)))
    every = tool(TOOL, "--describe", "--all-groups", "--state")
    offsets = {row[0]: row[3] for row in named.rows() if row[0] in groups}

    assert offsets == {groups[0]: "0", groups[1]: "1"}
    assert set(groups) <= {row[0] for row in every.rows()}


@pytest.mark.asks("ConsumerGroupHeartbeat")
def test_group_of_both_protocols_is_described(
    tool: RunTool, join_group: JoinGroup, make_topic: MakeTopic, group: str
) -> None:
    """--describe --members --verbose tells members by the old and the new protocol apart."""
    topic = make_topic(2)
    first = join_group(group, topic, protocol=CONSUMER)
    join_group(group, topic, protocol=CLASSIC, beside=[first])
    described = tool(TOOL, "--describe", "--group", group, "--members", "--verbose")
    told = {(row[-1], row[-2]) for row in described.rows() if row[0] == group}

    assert "UPGRADED" in described.rows()[0]
    assert {upgraded for upgraded, _ in told} == {"true", "false"}
    assert {held for _, held in told} == {f"{topic}:0", f"{topic}:1"}


@BOTH_PROTOCOLS
def test_static_member_is_described(
    tool: RunTool, bootstrap: str, topic: str, group: str, protocol: str
) -> None:
    """--describe --members prints the instance id of a static member (KIP-345)."""
    confluent_kafka = pytest.importorskip("confluent_kafka")
    settings = {"bootstrap.servers": bootstrap, "group.id": group, "group.protocol": protocol}
    consumer = confluent_kafka.Consumer({**settings, "group.instance.id": "i-1"})
    try:
        consumer.subscribe([topic])
        eventually(lambda: consumer.poll(0.05) or consumer.assignment())
        described = tool(TOOL, "--describe", "--group", group, "--members")
    finally:
        consumer.close()

    assert "GROUP-INSTANCE-ID" in described.rows()[0]
    assert _row_of(group, described)[2] == "i-1"


def test_unknown_group_is_refused(tool: RunTool, group: str) -> None:
    """--describe of a group that is not there says so."""
    described = tool(TOOL, "--describe", "--group", group)

    assert "GroupIdNotFoundException" in described.out + described.err
    assert f"Group {group} not found." in described.out + described.err


def test_regular_expressions_are_validated(tool: RunTool) -> None:
    """--validate-regex tells expressions that RE2 knows from others; it asks no broker."""
    good = tool(TOOL, "--validate-regex", "orders-(eu|us).*")
    bad = tool(TOOL, "--validate-regex", "orders-(?=eu)")

    assert "The regular expression `orders-(eu|us).*` is valid." in good.out
    assert "The regular expression `orders-(?=eu)` is invalid" in bad.out


@pytest.mark.tool("kafka-groups")
@BOTH_PROTOCOLS
def test_groups_of_all_kinds_are_listed(tool: RunTool, idle_group: str, protocol: str) -> None:
    """--list prints each group with its type and protocol, and can be told which of them to print."""
    other = {CLASSIC: CONSUMER, CONSUMER: CLASSIC}[protocol]
    listed = tool("kafka-groups", "--list")
    consumers = tool("kafka-groups", "--list", "--consumer")
    of_type = tool("kafka-groups", "--list", "--group-type", protocol)
    of_another_type = tool("kafka-groups", "--list", "--group-type", other)
    row = [idle_group, protocol.capitalize(), "consumer"]

    assert (listed.status, listed.err) == (0, "")
    assert row in listed.rows()
    assert row in consumers.rows()
    assert row in of_type.rows()
    assert row not in of_another_type.rows()


@pytest.mark.tool("kafka-share-groups")
@pytest.mark.parametrize("protocol", [CLASSIC])
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
@pytest.mark.parametrize("protocol", [CLASSIC])
def test_classic_group_is_no_streams_group(tool: RunTool, idle_group: str) -> None:
    """--list leaves out groups that are not streams groups."""
    listed = tool("kafka-streams-groups", "--list")

    assert (listed.status, listed.err) == (0, "")
    assert idle_group not in listed.out


@pytest.mark.tool("kafka-streams-application-reset")
@pytest.mark.parametrize("protocol", [CLASSIC])
def test_application_is_reset(tool: RunTool, idle_group: str, topic: str, committed: Committed) -> None:
    """The input topic of an application without members is reset to its beginning."""
    reset = tool("kafka-streams-application-reset", "--application-id", idle_group, "--input-topics", topic)

    assert (reset.status, reset.err) == (0, "")
    assert f"Topic: {topic} Partition: 0 Offset: 0" in reset.lines
    assert committed(topic, idle_group) == 0
