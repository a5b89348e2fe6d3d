"""Tests of groups/falling_due.py: deadlines find the group they are meant for, or none."""

import pytest

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups.deadlines import (
    Deadline,
    HeldDeadline,
    JoinDeadline,
    RevocationDeadline,
    SessionDeadline,
    SyncDeadline,
)


@pytest.mark.parametrize(
    "deadline",
    [
        SessionDeadline("g", "a"),
        JoinDeadline("g"),
        SyncDeadline("g"),
        HeldDeadline("g", "a"),
        RevocationDeadline("g", "a"),
    ],
)
def test_deadline_of_a_group_that_is_gone_does_nothing(deadline: Deadline) -> None:
    """It was never written, or was deleted."""
    play = ConsumerPlaybook()
    play.shard.volatile.deadlines.schedule(deadline, 1)
    play.at(1)

    assert play.log == []


def test_session_deadline_is_of_the_consumer_group_when_there_is_one() -> None:
    """The keys of both kinds of groups are the same."""
    play = ConsumerPlaybook(t=1)
    play.settled("a")
    play.shard.volatile.deadlines.schedule(SessionDeadline("g", "a"), play.now_ms + 1)
    play.pass_ms(1)

    assert play.group.members == {}


def test_revocation_deadline_is_for_members_that_have_to_give_up() -> None:
    """The others did so in time."""
    play = ConsumerPlaybook(t=1)
    play.settled("a")
    play.shard.volatile.deadlines.schedule(RevocationDeadline("g", "a"), play.now_ms + 1)
    play.pass_ms(1)

    assert set(play.group.members) == {"a"}


def test_deadline_of_a_member_that_a_classic_group_does_not_know_does_nothing() -> None:
    """It is left of a consumer group in whose place the classic one is."""
    play = ConsumerPlaybook(t=1)
    play.stable("c")
    play.shard.volatile.deadlines.schedule(SessionDeadline("g", "stranger"), play.now_ms + 1)
    play.pass_ms(1)

    assert list(play.shard.volatile.classic_groups["g"].members) == ["c-1"]
