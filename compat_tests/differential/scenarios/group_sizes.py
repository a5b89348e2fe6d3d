"""More members than a group may have, by both protocols, where the broker allows two.

Called by `run`. Source: KIP-389 (group.max.size), KIP-848 (group.consumer.max.size).
"""

from __future__ import annotations

from compat_tests.differential.consumer_groups import (
    LEAVES,
    ConsumerGroup,
    create_topic_for_groups,
)
from compat_tests.differential.groups import (
    INSTANCE_IN_JOIN,
    Asker,
    assignment,
    await_groups,
    subscription,
)
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from compat_tests.differential.wire import Connection

JOIN_KEY = 11
HANDSHAKE = 4
"""The version of JoinGroup from which on a member is first given its id."""


def group_sizes(side: Side) -> None:
    """Let more members in than a group may have, by both protocols, where the broker allows two."""
    await_groups(side)
    topic = create_topic_for_groups(side, "sizes", 2)
    group = ConsumerGroup(side, "sizes-new", 1)
    members = [group.member(f"m-{number}") for number in range(4)]
    for member in members:
        member.join(f"{member.member_id} joins", topic.name)
    members[0].join("m-0 joins again", topic.name)
    members[0].leave("m-0 leaves")
    members[2].join("m-2 joins where there is room", topic.name)
    group.join("a static one joins where there is none", "m-static", topic.name, instance="i")
    mixed = Asker(side, group.name, 9)
    mixed.join_fully("a classic one joins where there is none", protocols=(("range", subscription("sizes")),))
    for version in (0, 3, 4, 9):
        side.stands.begin()
        _classic(Asker(side, f"sizes-{version}", version))
    _upgraded(side, topic)


def _classic(asker: Asker) -> None:
    """Two have joined; a third, static or not, has to wait until one leaves."""
    first = asker.join_fully("first joins").member_id
    asker.sync("first syncs", first)
    other = asker.side.another()
    try:
        second = _second_joins(asker, other, first)
    finally:
        other.close()
    asker.join_fully("third joins a full group")
    asker.join("unknown member joins a full group", "m-unknown")
    if asker.version >= INSTANCE_IN_JOIN:
        asker.join("static member joins a full group", instance="i")
    asker.sync("second syncs", second, 2, assignments=())
    asker.join_fully("third joins a full group that is stable")
    asker.describe("describe the full group")
    asker.leave("second leaves", (second, None))
    asker.heartbeat("first hears of it", first, 2)
    asker.join("first rejoins", first)
    asker.describe("describe the one left")


def _second_joins(asker: Asker, other: Connection, first: str) -> str:
    """Let a second member in, and sync for both; give its member id."""
    given = asker.side.arrange(asker.join_request(), asker.version) if asker.version >= HANDSHAKE else None
    asker.join_waiting(other, "" if given is None else given.member_id)
    asker.await_rebalance(first, 1)
    asker.join("first rejoins for the second", first)
    joined = asker.side.receive("second has joined", other, JOIN_KEY, asker.version)
    asker.sync("first syncs for both", first, 2, assignments=((first, b"F"), (joined.member_id, b"S")))
    return str(joined.member_id)


def _upgraded(side: Side, topic: Topic) -> None:
    """A full classic group takes no member of the new protocol, and keeps its kind."""
    asker = Asker(side, "sizes-upgraded", 9)
    protocols = (("range", subscription(topic.name)),)
    member = asker.join_fully("one to be upgraded joins", protocols=protocols).member_id
    given = [(member, assignment((topic.name, [0, 1])))]
    asker.sync("one to be upgraded syncs", member, assignments=given)
    group = ConsumerGroup(side, asker.group, 1)
    for number in range(3):
        group.join(f"newer {number} joins", f"m-{number}", topic.name)
    group.describe("describe the full group of both")
    for number in range(3):
        group.beat(f"newer {number} leaves", f"m-{number}", LEAVES)
    asker.describe("describe after all newer ones left")
