"""Stories of members that subscribe to a pattern.

A classic member matches by itself; by KIP-848 the broker does, with the syntax of RE2.
Source: Apache Kafka 4.4; KIP-848.
"""

from __future__ import annotations

import uuid

import pytest

from compat_tests.clients.adapter import Capability, Client, Code
from compat_tests.conftest import OpenConsumer
from compat_tests.stories.members import PROTOCOLS, settle
from compat_tests.stories.waiting import eventually, partitions_of, poll_until, refusal_while_polling


@pytest.fixture
def prefix() -> str:
    """Give how the names of this story's topics begin."""
    return f"match-{uuid.uuid4().hex[:8]}"


def create(administrator: Client, *names: str) -> None:
    """Create topics of two partitions, and wait until they can be seen."""
    admin = administrator.admin()
    for name in names:
        admin.create_topic(name, 2, {})
    eventually(lambda: all(partitions_of(admin, name) == {0, 1} for name in names))


@pytest.mark.needs(Capability.PATTERN)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_pattern_matches_whole_names(
    administrator: Client, group: str, prefix: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """The members of a pattern share the topics whose whole name matches, and no others."""
    create(administrator, f"{prefix}-a", f"{prefix}-b1", f"{prefix}-c", f"not-{prefix}-a", f"{prefix}-aa")
    members = [open_consumer(group=group, assignor=assignor) for _ in range(2)]
    for member in members:
        member.subscribe_pattern(f"{prefix}-([ad]|b[0-9])")
    settle(members, [2, 2])
    held = members[0].assignment() | members[1].assignment()

    assert {topic for topic, _ in held} == {f"{prefix}-a", f"{prefix}-b1"}


@pytest.mark.needs(Capability.PATTERN, Capability.GROWTH)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_topic_that_comes_later_matches(
    administrator: Client, group: str, prefix: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A topic that is created later is read when its name matches, once the topics are looked at again."""
    create(administrator, f"{prefix}-a")
    consumer = open_consumer(group=group, assignor=assignor, metadata_max_age_ms=500)
    consumer.subscribe_pattern(f"{prefix}-.*")
    settle([consumer], [2])
    create(administrator, f"{prefix}-b")
    poll_until([consumer], lambda: len(consumer.assignment()) == 4)

    assert {topic for topic, _ in consumer.assignment()} == {f"{prefix}-a", f"{prefix}-b"}


@pytest.mark.needs(Capability.SERVER_SIDE_ASSIGNOR, Capability.SERVER_SIDE_PATTERN)
def test_bad_pattern_is_refused(group: str, open_consumer: OpenConsumer) -> None:
    """A pattern that is no regular expression of RE2 is refused with INVALID_REGULAR_EXPRESSION."""
    consumer = open_consumer(group=group, assignor="consumer")
    consumer.subscribe_pattern("(unclosed")

    assert refusal_while_polling([consumer]) == Code.INVALID_REGULAR_EXPRESSION
