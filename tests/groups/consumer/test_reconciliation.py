"""Tests of groups/consumer/reconciliation.py: the moves of Kafka's CurrentAssignmentBuilder."""

import pytest

from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.consumer.reconciliation import Goal, Reported, reconcile
from wirekafka.protocol.apis.consumer_group_heartbeat import HeartbeatTopicPartitions
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

A, B = b"a" * 16, b"b" * 16
STABLE, UNREVOKED, UNRELEASED = (
    MemberState.STABLE,
    MemberState.UNREVOKED_PARTITIONS,
    MemberState.UNRELEASED_PARTITIONS,
)


def goal(
    epoch: int, *partitions: int, owned_by_others: tuple[int, ...] = (), subscribed: tuple[bytes, ...] = (A,)
) -> Goal:
    """A target of partitions of A, some of which others have."""
    target = {A: frozenset(partitions)} if partitions else {}
    return Goal(epoch, target, frozenset(subscribed), lambda _, partition: partition in owned_by_others)


def member(
    *assigned: int, state: MemberState = STABLE, epoch: int = 1, pending: tuple[int, ...] = ()
) -> ConsumerMember:
    return ConsumerMember(
        "m",
        state=state,
        member_epoch=epoch,
        previous_member_epoch=epoch,
        assigned={A: dict.fromkeys(assigned, 1)} if assigned else {},
        partitions_pending_revocation={A: dict.fromkeys(pending, 1)} if pending else {},
    )


def reports(*partitions: int) -> Reported:
    topics = [HeartbeatTopicPartitions(topic_id=A, partitions=list(partitions))] if partitions else []
    return Reported(topics)


SILENT = Reported(None)


def step(
    before: ConsumerMember, to: Goal, reported: Reported = SILENT, *, subscription_changed: bool = False
) -> tuple[MemberState, int, list[int], list[int]]:
    """Give state, epoch, what the member has, and what it has yet to give up."""
    after = reconcile(before, to, reported, subscription_changed=subscription_changed)
    pending = after.partitions_pending_revocation
    return after.state, after.member_epoch, sorted(after.assigned.get(A, ())), sorted(pending.get(A, ()))


def test_member_at_its_target_stays() -> None:
    """The same object, so nothing is written."""
    there = member(0, 1, epoch=2)

    assert reconcile(there, goal(2, 0, 1), SILENT, subscription_changed=False) is there


def test_free_partitions_are_given_at_once() -> None:
    """With the epoch of the target, which each new partition carries."""
    after = reconcile(member(0), goal(2, 0, 1), SILENT, subscription_changed=False)

    assert (after.state, after.member_epoch, after.previous_member_epoch) == (STABLE, 2, 1)
    assert after.assigned == {A: {0: 1, 1: 2}}


def test_nothing_to_change_takes_the_member_to_the_new_epoch() -> None:
    """Also when it has nothing, and shall have nothing."""
    assert step(member(0), goal(2, 0)) == (STABLE, 2, [0], [])
    assert step(member(), goal(2)) == (STABLE, 2, [], [])


def test_partitions_to_give_up_keep_the_member_in_its_epoch() -> None:
    """It is given nothing new before."""
    assert step(member(0, 1), goal(2, 1, 2)) == (UNREVOKED, 1, [1], [0])


def test_partitions_that_the_member_says_it_does_not_have_are_given_up_already() -> None:
    """As after joining again with nothing in hand."""
    assert step(member(0, 1), goal(2, 1, 2), reports()) == (STABLE, 2, [1, 2], [])


@pytest.mark.parametrize("reported", [SILENT, reports(0, 1), reports(0)])
def test_member_stays_until_it_says_that_it_gave_up(reported: Reported) -> None:
    """Silence is not enough."""
    waiting = member(1, state=UNREVOKED, pending=(0,))

    assert reconcile(waiting, goal(2, 1, 2), reported, subscription_changed=False) is waiting


def test_member_that_gave_up_goes_on_to_the_target_of_now() -> None:
    """Which may be a later one than it set out for."""
    before = member(1, state=UNREVOKED, pending=(0,))

    assert step(before, goal(4, 1, 3), reports(1)) == (STABLE, 4, [1, 3], [])


def test_member_that_gave_up_may_have_to_give_up_more() -> None:
    """A newer target takes more from it."""
    before = member(1, 2, state=UNREVOKED, pending=(0,))

    assert step(before, goal(4, 2), reports(1, 2)) == (UNREVOKED, 1, [2], [1])


def test_member_may_take_back_what_it_gave_up() -> None:
    """It is still its own by the group's book, so it is not waited for."""
    before = member(1, state=UNREVOKED, pending=(0,))

    assert step(before, goal(3, 0, 1, owned_by_others=(0,)), reports(1)) == (STABLE, 3, [0, 1], [])


def test_partitions_of_others_are_waited_for() -> None:
    """In the target's epoch, with what is free."""
    assert step(member(0), goal(2, 0, 1, 2, owned_by_others=(1,))) == (UNRELEASED, 2, [0, 2], [])
    assert step(member(0), goal(2, 0, 1, owned_by_others=(1,))) == (UNRELEASED, 2, [0], [])


def test_waiting_member_is_given_what_was_let_go() -> None:
    """A new partition, or all."""
    waiting = member(0, state=UNRELEASED, epoch=2)

    assert step(waiting, goal(2, 0, 1, 2, owned_by_others=(2,))) == (UNRELEASED, 2, [0, 1], [])
    assert step(waiting, goal(2, 0, 1, 2)) == (STABLE, 2, [0, 1, 2], [])


def test_waiting_member_may_have_to_give_up_for_a_newer_target() -> None:
    """It goes back to giving up."""
    assert step(member(0, state=UNRELEASED, epoch=2), goal(3, 1)) == (UNREVOKED, 2, [], [0])


def test_topic_that_is_read_no_more_is_given_up_whatever_the_target_says() -> None:
    """The target may be behind the subscription."""
    assert step(member(0, 1), goal(2, 0, 1, subscribed=(B,))) == (UNREVOKED, 1, [], [0, 1])


def test_member_at_its_target_gives_up_at_once_what_it_reads_no_more() -> None:
    """The target for its new subscription is not there yet."""
    to = goal(1, 0, 1, subscribed=(B,))

    assert step(member(0, 1), to, subscription_changed=True) == (UNREVOKED, 1, [], [0, 1])
    assert step(member(0, 1), to, reports(), subscription_changed=True) == (STABLE, 1, [], [])


def test_member_at_its_target_that_still_reads_all_stays() -> None:
    """It reads more than before."""
    there = member(0, 1)

    assert reconcile(there, goal(1, 0, 1, subscribed=(A, B)), SILENT, subscription_changed=True) is there


def test_member_that_gives_up_may_have_more_to_give_up_for_a_new_subscription() -> None:
    """What was pending stays so."""
    before = member(1, state=UNREVOKED, pending=(0,))

    assert step(before, goal(2, 1, subscribed=(B,)), subscription_changed=True) == (UNREVOKED, 1, [], [0, 1])


def test_state_of_a_later_version_is_left_by_giving_up_all() -> None:
    """Kafka fences such a member until it has nothing."""
    strange = member(0, state=MemberState.UNKNOWN)
    for reported in (SILENT, reports(0)):
        with pytest.raises(KafkaError) as caught:
            reconcile(strange, goal(2, 0), reported, subscription_changed=False)
        assert caught.value.code is ErrorCode.FENCED_MEMBER_EPOCH

    assert step(strange, goal(2, 0, 1), reports()) == (STABLE, 2, [0, 1], [])


def test_member_that_has_no_more_than_these_is_within_them() -> None:
    """What a lost answer gave it, it cannot have; silence says nothing."""
    assert reports(0).is_within({A: {0: 1, 1: 1}})
    assert reports().is_within({})
    assert not reports(0, 2).is_within({A: {0: 1, 1: 1}})
    assert not reports(0).is_within({B: {0: 1}})
    assert not SILENT.is_within({A: {0: 1}})
