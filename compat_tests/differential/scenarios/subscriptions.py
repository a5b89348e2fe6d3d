"""What members of consumer groups subscribe to: topics that come, grow and go, and patterns.

Called by `run`. Source: KIP-848, "Group epoch, triggering a rebalance" and its regular expressions (RE2).
"""

from __future__ import annotations

import itertools
from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.consumer_groups import (
    FIRST_WITH_PATTERNS,
    ConsumerGroup,
    ConsumerMember,
    beat_of,
    create_topic_for_groups,
)
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic, await_topic, create_topic
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from wirekafka.protocol.apis.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic

BAD_PATTERNS = ("(", "[a", "a{2,1}", "*", "(?=a)", "(?P<n", r"\1", "a**", "(?<!a)b", "\\", "a{1001}", "[z-a]")
GOOD_PATTERNS = {
    "prefix": ("sought-o.*", 1),
    "one name": ("sought-one", 1),
    "part of a name": ("sought", 0),
    "either": ("sought-(one|two)", 2),
    "anchored": ("^sought-one$", 1),
    "class": ("sought-[[:alpha:]]{3}", 2),
    "letters": (r"sought-\pL+", 2),
    "lazy": ("sought-.*?", 2),
    "case": ("(?i)SOUGHT-ONE", 1),
    "quoted": (r"\Qsought-one\E", 1),
    "many lines": ("(?m)^sought-one$", 1),
    "named group": ("(?P<start>sought)-one", 1),
    "internal": ("__consumer_offset.", 1),
    "nobody": ("nobody-has-this", 0),
    "empty": ("", 0),
}
"""Patterns, and how many topics they match."""
LOOKS = 10


def subscriptions(side: Side) -> None:
    """Subscribe to topics and patterns, and change both under the members."""
    await_groups(side)
    for version in every(ConsumerGroupHeartbeatRequest):
        _topics(ConsumerGroup(side, f"subscribed-{version}", version))
    one = create_topic_for_groups(side, "sought-one", 2)
    two = create_topic_for_groups(side, "sought-two", 1)
    _patterns(side)
    _patterns_and_names(ConsumerGroup(side, "sought", FIRST_WITH_PATTERNS), one, two)
    _comes_later(side)


def _topics(group: ConsumerGroup) -> None:
    side = group.side
    one, later = create_topic_for_groups(side, f"{group.name}-one", 2), f"{group.name}-later"
    member = group.member("m-a")
    member.join("join for a topic and one that is not there", one.name, later)
    member.report("report the one")
    group.describe("describe before the other is there")
    other = create_topic(side, later, 1)
    member.await_news()
    _settled(member, "the other is there")
    _grow(side, one, 4)
    member.await_news()
    _settled(member, "the one has grown")
    _delete(side, other)
    member.await_news()
    _settled(member, "the other is gone")
    create_topic(side, later, 2)
    member.await_news()
    _settled(member, "the other is there again")
    member.beat("subscribe to the other alone", topics=[later])
    _settled(member, "the other alone")
    member.beat("subscribe to nothing", topics=[])
    _settled(member, "nothing")
    member.beat("subscribe to what is not there", topics=["nowhere"])
    _settled(member, "what is not there")
    member.beat("the same once more", topics=["nowhere"])
    member.beat("subscribe to both, in another order", topics=[later, one.name, later])
    _settled(member, "both")
    member.beat("both in the first order", topics=[one.name, later])
    member.leave("leave")


def _settled(member: ConsumerMember, label: str) -> None:
    """Say what is held, then all there is to say, and describe the group."""
    member.report(f"report: {label}")
    group = member.group
    request = {"topics": None, "owned": member.assigned, "timeout_ms": 60_000}
    member.beat(f"beat: {label}", **request)
    group.describe(f"describe: {label}")


def _grow(side: Side, topic: Topic, count: int) -> None:
    wanted = CreatePartitionsTopic(name=topic.name, count=count, assignments=None)
    side.arrange(CreatePartitionsRequest(topics=[wanted], timeout_ms=10_000, validate_only=False), 3)
    await_topic(side, topic.name, count)


def _delete(side: Side, topic: Topic) -> None:
    side.arrange(DeleteTopicsRequest(topic_names=[topic.name], timeout_ms=10_000), 5)
    gone = MetadataRequest(topics=[MetadataRequestTopic(name=topic.name)], allow_auto_topic_creation=False)
    side.arrange_until(gone, 12, lambda answer: answer.topics[0].error_code != 0)


def _patterns(side: Side) -> None:
    for number, pattern in enumerate(BAD_PATTERNS):
        group = ConsumerGroup(side, f"bad-{number}", FIRST_WITH_PATTERNS)
        group.join(f"join for {pattern!r}", "m", topics=None, pattern=pattern)
        group.describe(f"describe after {pattern!r}")
    for name, (pattern, topic_count) in GOOD_PATTERNS.items():
        group = ConsumerGroup(side, f"good-{name}", FIRST_WITH_PATTERNS)
        member = group.member("m")
        member.join(f"join for {name}", topics=None, pattern=pattern)
        _await_topics(member, topic_count)
        member.beat(f"beat of {name}", owned=(), timeout_ms=60_000, pattern=pattern)
        group.describe(f"describe {name}")


def _await_topics(member: ConsumerMember, topic_count: int) -> None:
    """Beat, unseen, until so many topics are assigned: patterns are looked up beside the coordinator's work.

    Where there are none to be found, a few times.
    """
    request = beat_of(member.group.name, member.member_id, member.epoch, owned=())
    turns = itertools.count()

    # Any: a ConsumerGroupHeartbeatResponse.
    def is_done(answer: Any) -> bool:
        member.hear(answer)
        request.member_epoch = member.epoch
        return len(member.assigned) == topic_count and (topic_count > 0 or next(turns) >= LOOKS)

    member.group.side.arrange_until(request, member.group.version, is_done)


def _patterns_and_names(group: ConsumerGroup, one: Topic, two: Topic) -> None:
    """Patterns and names together, of one member and of several."""
    first, second, third = (group.member(f"m-{n}") for n in ("a", "b", "c"))
    first.join("first joins by pattern", topics=None, pattern="sought-o.*")
    _await_topics(first, 1)
    _told_of(first, "first has it")
    second.join("second joins by name and the same pattern", two.name, pattern="sought-o.*")
    first.beat("first hears of the second")
    first.report("first has given up")
    second.beat("second gets its part")
    second.report("second reports")
    third.join("third joins by name", one.name)
    group.describe("describe names and patterns")
    third.leave("third leaves")
    second.beat("second has no pattern any more", pattern="", topics=[two.name])
    second.report("second has the name alone")
    first.beat("first has no pattern any more", pattern="", topics=[])
    first.report("first reports nothing")
    second.beat("second has a bad pattern", pattern="(")
    group.describe("describe names alone")
    second.leave("second leaves")
    first.leave("first leaves")


def _told_of(member: ConsumerMember, label: str) -> None:
    member.report(label)
    member.group.describe(f"{label}: describe")


def _comes_later(side: Side) -> None:
    """A topic that a pattern matches is made after the pattern was looked up."""
    group = ConsumerGroup(side, "found-later", FIRST_WITH_PATTERNS)
    member = group.member("m")
    member.join("join before there is one", topics=None, pattern="found-later-.*")
    _await_topics(member, 0)
    create_topic(side, "found-later-one")
    _await_topics(member, 1)
    member.report("one is there")
    group.describe("describe: one is there")
