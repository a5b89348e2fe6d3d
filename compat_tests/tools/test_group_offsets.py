"""Stories of kafka-consumer-groups that change offsets: every form of --reset-offsets, and --delete-offsets.

Source: ConsumerGroupCommand and GroupOffsetsResetter of Apache Kafka 4.4.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_tests.conftest import MakeTopic
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

TOOL = "kafka-consumer-groups"
pytestmark = pytest.mark.tool(TOOL)
VALUES = ["one", "two", "three", "four", "five"]
COMMITTED, END = 2, 5
FORMS = {
    "to-earliest": (["--to-earliest"], 0),
    "to-latest": (["--to-latest"], END),
    "to-current": (["--to-current"], COMMITTED),
    "to-offset": (["--to-offset", "3"], 3),
    "to-offset past the end": (["--to-offset", "99"], END),
    "to-offset before the start": (["--to-offset", "-7"], 0),
    "shift-by back": (["--shift-by", "-1"], COMMITTED - 1),
    "shift-by forth": (["--shift-by", "2"], COMMITTED + 2),
    "shift-by too far": (["--shift-by", "99"], END),
    "by-duration": (["--by-duration", "PT1H"], 0),
    "by-duration of nothing": (["--by-duration", "PT0S"], END),
    "to-datetime past": (["--to-datetime", "2020-01-01T00:00:00.000"], 0),
    "to-datetime to come": (["--to-datetime", "2099-01-01T00:00:00.000"], END),
}
"""How the offset is chosen, and which it then is."""
QUICK_FORMS = ("to-earliest", "to-latest", "shift-by back", "by-duration")


@pytest.fixture
def idle_group(topic: str, group: str, fill: Fill, leave_offset: LeaveOffset, protocol: str) -> str:
    """Give a group without members that has committed offset 2 of 5 in the topic's partition."""
    fill(topic, VALUES)
    leave_offset(group, topic, COMMITTED, protocol)
    return group


only_classic = pytest.mark.parametrize("protocol", [CLASSIC])


@pytest.mark.parametrize(
    ("protocol", "form"),
    [
        *(pytest.param(CLASSIC, form, id=f"classic-{form}") for form in FORMS),
        *(
            pytest.param(
                CONSUMER, form, id=f"consumer-{form}", marks=pytest.mark.asks("ConsumerGroupHeartbeat")
            )
            for form in QUICK_FORMS
        ),
    ],
)
def test_offsets_are_reset(
    tool: RunTool, idle_group: str, topic: str, committed: Committed, form: str
) -> None:
    """--reset-offsets --execute prints the new offset and commits it, in every form."""
    how, offset = FORMS[form]
    reset = tool(TOOL, "--reset-offsets", "--group", idle_group, "--topic", topic, *how, "--execute")

    assert reset.status == 0
    assert [idle_group, topic, "0", str(offset)] in reset.rows()
    assert committed(topic, idle_group) == offset


@only_classic
def test_dry_run_changes_nothing(tool: RunTool, idle_group: str, topic: str, committed: Committed) -> None:
    """--reset-offsets --dry-run prints the new offset and leaves the old one; so does neither option."""
    how = ["--reset-offsets", "--group", idle_group, "--topic", topic, "--to-latest"]
    reset = tool(TOOL, *how, "--dry-run")
    warned = tool(TOOL, *how)

    assert [idle_group, topic, "0", str(END)] in reset.rows()
    assert "WARN: No action will be performed as the --execute option is missing." in warned.err
    assert committed(topic, idle_group) == COMMITTED


@BOTH_PROTOCOLS
def test_what_was_exported_is_read_back(
    tool: RunTool, idle_group: str, topic: str, committed: Committed, tmp_path: Path
) -> None:
    """--export prints lines of topic, partition and offset, which --from-file then sets."""
    how = ["--reset-offsets", "--group", idle_group]
    exported = tool(TOOL, *how, "--all-topics", "--to-current", "--dry-run", "--export")
    assert exported.lines == [f'"{topic}",0,{COMMITTED}']
    plan = tmp_path / "plan.csv"
    plan.write_text(f'"{topic}",0,{COMMITTED + 1}\n')

    reset = tool(TOOL, *how, "--from-file", str(plan), "--execute")

    assert (reset.status, reset.err) == (0, "")
    assert [idle_group, topic, "0", str(COMMITTED + 1)] in reset.rows()
    assert committed(topic, idle_group) == COMMITTED + 1


def test_one_partition_is_reset(
    tool: RunTool, make_topic: MakeTopic, group: str, fill: Fill, leave_offset: LeaveOffset
) -> None:
    """--topic NAME:PARTITION resets that partition and no other; a group need not have committed there."""
    topic = make_topic(2)
    fill(topic, VALUES, 0)
    fill(topic, VALUES[:3], 1)
    leave_offset(group, topic, COMMITTED)
    how = ["--reset-offsets", "--group", group, "--to-latest", "--execute"]
    reset = tool(TOOL, *how, "--topic", f"{topic}:1")
    described = tool(TOOL, "--describe", "--group", group)

    assert reset.rows()[1:] == [[group, topic, "1", "3"]]
    assert {tuple(row[2:4]) for row in described.rows() if row[0] == group} == {("0", "2"), ("1", "3")}


def test_many_groups_are_reset_from_one_file(
    tool: RunTool,
    topic: str,
    group: str,
    fill: Fill,
    leave_offset: LeaveOffset,
    committed: Committed,
    tmp_path: Path,
) -> None:
    """--reset-offsets takes --group many times; the file then names the group too."""
    fill(topic, VALUES)
    groups = [f"{group}-{number}" for number in range(2)]
    for each in groups:
        leave_offset(each, topic, COMMITTED)
    named = [word for each in groups for word in ("--group", each)]
    plan = tmp_path / "plan.csv"
    plan.write_text("".join(f'"{each}","{topic}",0,{number}\n' for number, each in enumerate(groups)))
    reset = tool(TOOL, "--reset-offsets", *named, "--from-file", str(plan), "--execute")

    assert (reset.status, reset.err) == (0, "")
    assert [committed(topic, each) for each in groups] == [0, 1]


def test_offsets_of_a_group_that_is_not_there_are_set(
    tool: RunTool, topic: str, group: str, fill: Fill, committed: Committed
) -> None:
    """--reset-offsets makes a group that nobody has been in."""
    fill(topic, VALUES)
    reset = tool(TOOL, "--reset-offsets", "--group", group, "--topic", topic, "--to-offset", "4", "--execute")

    assert (reset.status, reset.err) == (0, "")
    assert committed(topic, group) == 4


@BOTH_PROTOCOLS
def test_offsets_of_a_group_at_work_are_not_reset(
    tool: RunTool, join_group: JoinGroup, group: str, topic: str, protocol: str
) -> None:
    """--reset-offsets refuses a group that has members."""
    join_group(group, topic, protocol=protocol)
    refused = tool(TOOL, "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")

    assert f"the group '{group}' is inactive, but the current state is Stable." in refused.out + refused.err


@pytest.mark.asks("OffsetDelete")
@BOTH_PROTOCOLS
def test_offsets_are_deleted(tool: RunTool, idle_group: str, topic: str) -> None:
    """--delete-offsets takes a group's commits of a topic away."""
    deleted = tool(TOOL, "--delete-offsets", "--group", idle_group, "--topic", topic)
    described = tool(TOOL, "--describe", "--group", idle_group)

    assert [topic, "0", "Successful"] in deleted.rows()
    assert topic not in described.out


@pytest.mark.asks("OffsetDelete")
@BOTH_PROTOCOLS
def test_offsets_of_a_subscribed_topic_are_not_deleted(
    tool: RunTool, join_group: JoinGroup, make_topic: MakeTopic, group: str, protocol: str
) -> None:
    """--delete-offsets refuses a topic that a member reads, and takes another's commits away."""
    read, other = make_topic(), make_topic()
    join_group(group, read, protocol=protocol).commit({(read, 0): 0, (other, 0): 0})
    deleted = tool(TOOL, "--delete-offsets", "--group", group, "--topic", read, "--topic", f"{other}:0")

    assert "Error: Encountered some partition-level error, see the follow-up details." in deleted.out
    assert "GroupSubscribedToTopicException" in deleted.out
    assert [other, "0", "Successful"] in deleted.rows()


@pytest.mark.asks("OffsetDelete")
def test_offsets_of_an_unknown_group_are_not_deleted(tool: RunTool, topic: str, group: str) -> None:
    """--delete-offsets of a group that is not there says so."""
    deleted = tool(TOOL, "--delete-offsets", "--group", group, "--topic", topic)

    assert "Error: The group id does not exist." in deleted.out


@pytest.mark.asks("DeleteGroups")
@BOTH_PROTOCOLS
def test_group_is_deleted(tool: RunTool, idle_group: str, topic: str, committed: Committed) -> None:
    """--delete removes a group without members, and its offsets."""
    deleted = tool(TOOL, "--delete", "--group", idle_group)
    listed = tool(TOOL, "--list")

    assert f"Deletion of requested consumer groups ('{idle_group}') was successful." in deleted.out
    assert idle_group not in listed.lines
    assert committed(topic, idle_group) is None


@pytest.mark.asks("DeleteGroups")
@BOTH_PROTOCOLS
def test_group_at_work_is_not_deleted(
    tool: RunTool, join_group: JoinGroup, leave_offset: LeaveOffset, group: str, topic: str, protocol: str
) -> None:
    """--delete of many groups names those that have members or are not there, and deletes the others."""
    idle = f"{group}-idle"
    leave_offset(idle, topic, 0, protocol)
    join_group(group, topic, protocol=protocol)
    deleted = tool(TOOL, "--delete", "--group", group, "--group", idle, "--group", f"{group}-unknown")

    assert "Error: Deletion of some consumer groups failed:" in deleted.out
    assert f"* Group '{group}' could not be deleted due to: " in deleted.out
    assert "GroupNotEmptyException" in deleted.out
    assert "GroupIdNotFoundException" in deleted.out
    assert f"These consumer groups were deleted successfully: '{idle}'" in deleted.out
