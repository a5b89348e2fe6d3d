"""Two and three members of a consumer group: what one must give up before another gets it.

Called by `run`. Source: KIP-848, "Reconciliation of the group"; Kafka's CurrentAssignmentBuilder.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.consumer_groups import (
    JOINS,
    ConsumerGroup,
    create_topic_for_groups,
    held,
)
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def reconciling(side: Side) -> None:
    """Let members come and go, with the steps between in every order."""
    await_groups(side)
    one, two = (
        create_topic_for_groups(side, "reconciled", 4),
        create_topic_for_groups(side, "reconciled-too", 3),
    )
    for version in every(ConsumerGroupHeartbeatRequest):
        for assignor in ("uniform", "range"):
            group = ConsumerGroup(side, f"reconciled-{version}-{assignor}", version)
            _second_comes(group, one, two, assignor)
        _gives_up_in_parts(ConsumerGroup(side, f"parts-{version}", version), one)
        _another_change_meanwhile(ConsumerGroup(side, f"meanwhile-{version}", version), one, two)
        _leaves_meanwhile(ConsumerGroup(side, f"left-{version}", version), one)
        _rejoins_meanwhile(ConsumerGroup(side, f"rejoined-{version}", version), one)


def _told(group: ConsumerGroup, label: str) -> str:
    return f"{group.name}, {label}"


def _second_comes(group: ConsumerGroup, one: Topic, two: Topic, assignor: str) -> None:
    """One member, two, three, and two again; the first is the one to leave.

    With the uniform assignor one topic has to do: it takes several that all read in the order of their ids'
    hashes, and ids are random.
    """
    first, second, third = (group.member(f"m-{n}") for n in ("a", "b", "c"))
    names = (one.name,) if assignor == "uniform" else (one.name, two.name)
    first.join(_told(group, "first joins"), *names, assignor=assignor)
    first.report(_told(group, "first reports"))
    second.join(_told(group, "second joins"), *names, assignor=assignor)
    group.describe(_told(group, "first has not heard"))
    second.beat(_told(group, "second waits"))
    first.beat(_told(group, "first hears"))
    second.beat(_told(group, "second still waits"))
    group.describe(_told(group, "first gives up"))
    first.beat(_told(group, "first beats without a report"))
    first.report(_told(group, "first has given up"))
    group.describe(_told(group, "first has given up: describe"))
    second.beat(_told(group, "second gets its part"))
    second.report(_told(group, "second reports"))
    group.describe(_told(group, "two are stable"))
    third.join(_told(group, "third joins"), one.name, assignor=assignor)
    for member in (second, first):
        member.beat(_told(group, f"{member.member_id} hears of the third"))
        third.beat(_told(group, f"third waits, {member.member_id} has heard"))
        member.report(_told(group, f"{member.member_id} has given up for the third"))
        third.beat(_told(group, f"third beats, {member.member_id} has given up"))
    third.report(_told(group, "third reports"))
    group.describe(_told(group, "three are stable"))
    first.leave(_told(group, "first leaves"))
    group.describe(_told(group, "first has left"))
    for member in (third, second):
        member.beat(_told(group, f"{member.member_id} hears that the first left"))
        member.report(_told(group, f"{member.member_id} reports after the first left"))
    group.describe(_told(group, "two are left"))
    for member in (second, third):
        member.leave(_told(group, f"{member.member_id} leaves"))
    group.describe(_told(group, "nobody is left"))


def _gives_up_in_parts(group: ConsumerGroup, one: Topic) -> None:
    """A member may give up its partitions one after the other, and report more than it needs to."""
    first, second = group.member("m-a"), group.member("m-b")
    first.join(_told(group, "first joins"), one.name)
    first.report(_told(group, "first reports"))
    second.join(_told(group, "second joins"), one.name)
    first.beat(_told(group, "first hears"))
    kept = tuple(first.assigned[0].partitions) if first.assigned else ()
    gone = [partition for partition in range(4) if partition not in kept]
    first.beat(_told(group, "first holds all still"), owned=[held(one, 0, 1, 2, 3)])
    first.beat(_told(group, "first has given up one"), owned=[held(one, *kept, *gone[:1])])
    second.beat(_told(group, "second gets nothing yet"))
    first.beat(_told(group, "first has given up more than asked"), owned=[held(one, *kept[:1])])
    second.beat(_told(group, "second gets its part"))
    first.beat(_told(group, "first takes back what is its own"), owned=[held(one, *kept)])
    second.beat(_told(group, "second says it holds nothing"), owned=())
    second.report(_told(group, "second reports"))
    group.describe(_told(group, "describe the parts"))


def _another_change_meanwhile(group: ConsumerGroup, one: Topic, two: Topic) -> None:
    """While partitions are given up, the subscription changes, and a third member comes."""
    first, second, third = (group.member(f"m-{n}") for n in ("a", "b", "c"))
    first.join(_told(group, "first joins"), one.name)
    second.join(_told(group, "second joins"), one.name)
    first.beat(_told(group, "first hears"))
    third.join(_told(group, "third joins"), one.name, two.name)
    first.beat(_told(group, "first beats while giving up"))
    second.beat(_told(group, "second beats while waiting"))
    group.describe(_told(group, "describe two changes"))
    first.report(_told(group, "first has given up"))
    first.report(_told(group, "first reports again"))
    second.beat(_told(group, "second beats"))
    second.report(_told(group, "second reports"))
    third.beat(_told(group, "third beats"))
    third.report(_told(group, "third reports"))
    first.beat(_told(group, "first subscribes to another topic"), topics=[two.name])
    for number in range(3):
        for member in (first, second, third):
            member.report(_told(group, f"{member.member_id} reports, round {number}"))
    group.describe(_told(group, "describe what came of it"))


def _leaves_meanwhile(group: ConsumerGroup, one: Topic) -> None:
    """Who is to give up leaves instead; who waits leaves instead."""
    first, second, third = (group.member(f"m-{n}") for n in ("a", "b", "c"))
    first.join(_told(group, "first joins"), one.name)
    second.join(_told(group, "second joins"), one.name)
    first.beat(_told(group, "first hears"))
    first.leave(_told(group, "first leaves while giving up"))
    second.beat(_told(group, "second gets all"))
    second.report(_told(group, "second reports"))
    third.join(_told(group, "third joins"), one.name)
    second.beat(_told(group, "second hears of the third"))
    third.leave(_told(group, "third leaves while waiting"))
    second.beat(_told(group, "second hears that the third left"))
    second.report(_told(group, "second holds less"))
    second.beat(_told(group, "second goes on"))
    group.describe(_told(group, "describe the one left"))


def _rejoins_meanwhile(group: ConsumerGroup, one: Topic) -> None:
    """Who is to give up comes back with epoch 0: it holds nothing any more."""
    first, second = group.member("m-a"), group.member("m-b")
    first.join(_told(group, "first joins"), one.name)
    second.join(_told(group, "second joins"), one.name)
    first.beat(_told(group, "first hears"))
    first.join(_told(group, "first joins again while giving up"), one.name)
    second.beat(_told(group, "second gets its part"))
    first.report(_told(group, "first reports"))
    second.report(_told(group, "second reports"))
    group.beat(_told(group, "first joins again when stable"), "m-a", JOINS, topics=[one.name], owned=())
    first.join(_told(group, "first joins again when stable, with all"), one.name)
    group.describe(_told(group, "describe who came back"))
