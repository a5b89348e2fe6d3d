"""Tests of groups/consumer/leaving.py."""

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups.consumer import leaving
from wirekafka.groups.consumer.group import ConsumerGroupState
from wirekafka.groups.consumer.member import STATIC_LEAVING_EPOCH
from wirekafka.protocol.error_codes import ErrorCode


def test_member_that_leaves_sets_its_partitions_free_at_once() -> None:
    """Epoch -1; the answer repeats id and epoch."""
    play = ConsumerPlaybook(t=2)
    first, second = play.settled("a", "b")
    answer = second.leave()
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "b", -1)
    play.pass_ms(1_000)
    first.beat()

    assert first.has == {"t": [0, 1]}


def test_group_that_everybody_left_is_empty_and_up_to_date() -> None:
    """So the next member is assigned without waiting for the interval."""
    play = ConsumerPlaybook(t=2)
    (consumer,) = play.settled("a")
    consumer.leave()
    group = play.group
    assert group.state is ConsumerGroupState.EMPTY
    assert (group.group_epoch, group.assignment_epoch, group.assignment_timestamp) == (3, 3, 0)
    assert group.metadata_hash == 0
    other = play.consumer("b", "t")
    other.join()

    assert other.has == {"t": [0, 1]}


def test_member_that_is_not_there_cannot_leave() -> None:
    """UNKNOWN_MEMBER_ID."""
    play = ConsumerPlaybook(t=2)
    play.settled("a")

    assert play.consumer("x").leave().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_static_member_that_left_for_a_while_keeps_its_partitions() -> None:
    """Epoch -2; who has its instance id next takes them over without a rebalance."""
    play = ConsumerPlaybook(t=2)
    old = play.consumer("a", "t", instance="i")
    other = play.consumer("b", "t")
    old.join()
    play.pass_ms(1_000)
    other.join()
    play.settle(old, other)
    had = old.has
    assert old.leave(for_a_while=True).member_epoch == STATIC_LEAVING_EPOCH
    epoch = play.group.group_epoch
    assert play.member(old).has_left_for_a_while
    play.pass_ms(1_000)
    other.beat()
    new = play.consumer("c", "t", instance="i")
    new.join()

    assert new.has == had
    assert play.group.group_epoch == epoch
    assert set(play.group.members) == {"b", "c"}
    assert set(play.group.targets) == {"b", "c"}


def test_partitions_of_a_static_member_that_came_back_are_of_no_known_epoch() -> None:
    """KIP-1251: a late commit of its former self is then told apart by the member's epoch alone."""
    play = ConsumerPlaybook(t=1)
    old = play.consumer("a", "t", instance="i")
    old.join()
    old.leave(for_a_while=True)

    assert play.member(old).assigned == {play.id_of("t"): {0: 0}}


def test_static_member_may_leave_for_good() -> None:
    """Epoch -1: its partitions are free."""
    play = ConsumerPlaybook(t=2)
    first, second = play.consumer("a", "t", instance="i"), play.consumer("b", "t")
    first.join()
    play.pass_ms(1_000)
    second.join()
    play.settle(first, second)
    first.leave()
    play.settle(second)

    assert second.has == {"t": [0, 1]}
    assert play.group.static_members == {}


def test_only_the_holder_of_an_instance_id_may_leave_under_it() -> None:
    """FENCED_INSTANCE_ID (82), or UNKNOWN_MEMBER_ID when nobody holds it."""
    play = ConsumerPlaybook(t=1)
    play.consumer("a", "t", instance="i").join()

    assert play.consumer("x", instance="i").leave().error_code == ErrorCode.FENCED_INSTANCE_ID
    assert play.consumer("a", instance="j").leave().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_nobody_to_let_go_is_no_rebalance() -> None:
    """LeaveGroup of members that are not there ends so."""
    play = ConsumerPlaybook(t=1)
    play.settled("a")
    turn = play.shard._turn(play.now_ms)
    leaving.fence(turn, play.group, [])

    assert turn.decision.records == []
