"""Static members of consumer groups: going for a while and for good, coming back, and being replaced.

Called by `run`. Source: KIP-848, "Static membership"; KIP-345.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.consumer_groups import (
    LEAVES,
    LEAVES_FOR_A_WHILE,
    ConsumerGroup,
    create_topic_for_groups,
)
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

INSTANCE = "i-a"


def static_consumers(side: Side) -> None:
    """Go through the life of static members in every version."""
    await_groups(side)
    topic = create_topic_for_groups(side, "static-consumed", 4)
    for version in every(ConsumerGroupHeartbeatRequest):
        group = ConsumerGroup(side, f"static-consumed-{version}", version)
        _gone_for_a_while(group, topic)
        _two_of_one_name(group, topic)
        _gone_for_good(group, topic)
        _replaced_while_giving_up(ConsumerGroup(side, f"static-meanwhile-{version}", version), topic)


def _gone_for_a_while(group: ConsumerGroup, topic: Topic) -> None:
    first, other = group.member("m-1"), group.member("m-other")
    first.join("first joins", topic.name, instance=INSTANCE)
    first.report("first reports")
    first.beat("first beats with its instance", instance=INSTANCE)
    first.beat("first beats with another instance", instance="i-b")
    other.join("other joins", topic.name)
    first.beat("first hears of the other")
    first.report("first has given up")
    other.beat("other gets its part")
    other.report("other reports")
    first.leave("first goes for a while without its name", LEAVES_FOR_A_WHILE)
    first.leave("first goes for a while as another", LEAVES_FOR_A_WHILE, instance="i-b")
    group.beat("unknown member goes for a while", "m-0", LEAVES_FOR_A_WHILE, instance=INSTANCE)
    first.leave("first goes for a while", LEAVES_FOR_A_WHILE, instance=INSTANCE)
    group.describe("first is away")
    first.leave("first goes for a while again", LEAVES_FOR_A_WHILE, instance=INSTANCE)
    first.beat("first beats while away")
    first.beat("first beats while away, by name", instance=INSTANCE)
    other.beat("other beats while the first is away")
    back = group.member("m-2")
    back.join("comes back as another member", topic.name, instance=INSTANCE)
    group.describe("is back")
    back.report("reports when back")
    first.beat("first beats after it was replaced")
    first.beat("first beats after it was replaced, by name", instance=INSTANCE)
    first.leave("first leaves after it was replaced", instance=INSTANCE)
    back.leave("goes for a while again", LEAVES_FOR_A_WHILE, instance=INSTANCE)
    changed = group.member("m-3")
    changed.join("comes back for other topics", topic.name, "static-nowhere", instance=INSTANCE)
    other.beat("other hears of the change")
    group.describe("is back for other topics")
    other.leave("other leaves")
    changed.leave("leaves for good", instance=INSTANCE)


def _two_of_one_name(group: ConsumerGroup, topic: Topic) -> None:
    """An instance that is there is not given to another member (111)."""
    first, second = group.member("m-4"), group.member("m-5")
    first.join("first of the name joins", topic.name, instance="i-two")
    second.join("second of the name joins", topic.name, instance="i-two")
    group.beat("second of the name leaves", "m-5", LEAVES, instance="i-two")
    first.join("first of the name joins again", topic.name, instance="i-two")
    group.describe("describe one of two")
    first.join("first joins without the name", topic.name)
    first.join("first joins with another name", topic.name, instance="i-three")
    group.describe("describe after other names")
    first.leave("first of the name leaves")


def _gone_for_good(group: ConsumerGroup, topic: Topic) -> None:
    first = group.member("m-6")
    first.join("joins to leave for good", topic.name, instance="i-good")
    first.leave("leaves for good without its name")
    group.describe("describe who left for good")
    first.join("joins after that", topic.name, instance="i-good")
    first.leave("leaves for good, by name", instance="i-good")
    group.describe("describe nobody")


def _replaced_while_giving_up(group: ConsumerGroup, topic: Topic) -> None:
    first, second = group.member("m-1"), group.member("m-other")
    first.join("meanwhile, first joins", topic.name, instance=INSTANCE)
    second.join("meanwhile, second joins", topic.name)
    first.beat("meanwhile, first hears")
    first.leave("meanwhile, first goes while giving up", LEAVES_FOR_A_WHILE, instance=INSTANCE)
    second.beat("meanwhile, second beats")
    back = group.member("m-2")
    back.join("meanwhile, comes back", topic.name, instance=INSTANCE)
    second.beat("meanwhile, second gets its part")
    group.describe("meanwhile, describe")
