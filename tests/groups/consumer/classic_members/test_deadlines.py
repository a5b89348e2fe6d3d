"""Tests of groups/consumer/classic_members/deadlines.py: to join again and to sync, in time."""

import pytest

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from tests.support.mixed_playbook import ClassicConsumer
from wirekafka.protocol.error_codes import ErrorCode


@pytest.fixture
def new() -> Consumer:
    """A member by the consumer protocol, alone in its group, with the four partitions of its topic."""
    (made,) = ConsumerPlaybook(t=4).settled("new")
    return made


@pytest.fixture
def play(new: Consumer) -> ConsumerPlaybook:
    return new.play


@pytest.fixture
def old(play: ConsumerPlaybook) -> ClassicConsumer:
    """A classic member beside it, with a session that outlasts its rebalance time-out of 12 seconds."""
    play.pass_ms(1_000)
    made = ClassicConsumer(play, "old", "t")
    made.join(rebalance_ms=12_000, session_ms=30_000)
    return made


def test_member_has_its_rebalance_timeout_to_sync(play: ConsumerPlaybook, old: ClassicConsumer) -> None:
    """Heartbeats in between make no difference."""
    play.pass_ms(11_000)
    assert old.beat() is ErrorCode.NONE
    play.pass_ms(1_000)

    assert old.member_id not in play.group.members


def test_member_has_its_rebalance_timeout_to_join_again(
    play: ConsumerPlaybook, new: Consumer, old: ClassicConsumer
) -> None:
    """Since it was first told to."""
    old.sync()
    for _ in range(2):
        new.beat()
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    play.pass_ms(6_000)
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    play.pass_ms(5_999)
    assert old.member_id in play.group.members
    play.pass_ms(1)

    assert old.member_id not in play.group.members


def test_member_that_has_joined_and_synced_is_waited_for_no_more(
    play: ConsumerPlaybook, new: Consumer, old: ClassicConsumer
) -> None:
    old.sync()
    for _ in range(2):
        new.beat()
    old.beat()
    old.join(rebalance_ms=12_000, session_ms=30_000)
    old.sync()
    play.pass_ms(29_000)

    assert old.beat() is ErrorCode.NONE


def test_member_that_changes_to_the_consumer_protocol_need_not_sync(
    play: ConsumerPlaybook, old: ClassicConsumer
) -> None:
    """Under the id that it has."""
    play.consumer(old.member_id, "t").join()
    play.pass_ms(12_000)

    assert not play.group.members[old.member_id].is_classic


def test_deadline_of_a_member_that_is_gone_is_no_matter(play: ConsumerPlaybook, old: ClassicConsumer) -> None:
    """Nor that of a group that is."""
    old.leave()
    play.pass_ms(12_000)
    assert list(play.group.members) == ["new"]
    old.member_id = ""
    old.join(rebalance_ms=12_000, session_ms=60_000)
    play.leave(("new", None), (old.member_id, None))
    play.pass_ms(60_000)

    assert play.group.members == {}
