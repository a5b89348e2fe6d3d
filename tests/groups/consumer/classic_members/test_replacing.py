"""Tests of groups/consumer/classic_members/replacing.py: the last of the others comes back classic."""

import pytest

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from tests.support.consumer_protocol import assigned_by
from tests.support.mixed_playbook import ClassicConsumer
from wirekafka.groups import GroupConfig
from wirekafka.groups.config import MigrationPolicy
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.error_codes import ErrorCode


def static_member(config: GroupConfig | None = None) -> Consumer:
    """A static member by the consumer protocol, alone in its group, with two partitions."""
    play = ConsumerPlaybook(config, t=2)
    member = play.consumer("new", "t", instance="i")
    member.join()
    play.settle(member)
    return member


def beside(new: Consumer) -> ClassicConsumer:
    """A classic member beside it, with one of the partitions."""
    new.play.pass_ms(1_000)
    old = ClassicConsumer(new.play, "old", "t")
    old.join_and_sync()
    for _ in range(2):
        new.beat()
    old.follow()
    assert (len(new.has["t"]), len(old.has["t"])) == (1, 1)
    return old


def test_group_becomes_a_classic_one_and_keeps_its_assignments() -> None:
    """The same subscription: nobody stops reading, the generation is the group's epoch."""
    new = static_member()
    old, play = beside(new), new.play
    epoch = play.group.group_epoch
    back = ClassicConsumer(play, "back", "t", instance="i")
    answer = back.join()
    synced = play.answers[play.sync(back.member_id, back.generation, instance="i")]

    assert (answer.error_code, answer.generation_id) == (0, epoch)
    assert play.group_id not in play.shard.durable.consumer_groups
    assert play.state() == "Stable"
    assert isinstance(synced, SyncGroupResponse)
    assert assigned_by(synced.assignment) == new.has
    assert old.beat() is ErrorCode.NONE
    assert back.beat() is ErrorCode.NONE


def test_classic_group_is_there_after_a_restart() -> None:
    """And no record of the consumer group."""
    new = static_member()
    old, play = beside(new), new.play
    back = ClassicConsumer(play, "back", "t", instance="i")
    back.join()
    play.restart()

    assert play.shard.durable.consumer_groups == {}
    assert play.state() == "Stable"
    assert (old.beat(), back.beat()) == (ErrorCode.NONE, ErrorCode.NONE)


def test_other_subscription_lets_all_join_again() -> None:
    """Then there is a new leader, who assigns."""
    new = static_member()
    old = beside(new)
    new.play.create("u", 1)
    answer = ClassicConsumer(new.play, "back", "t", "u", instance="i").join()

    assert answer.error_code == 0
    assert new.play.state() == "PreparingRebalance"
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_topic_that_has_grown_lets_all_join_again() -> None:
    """The target is not for the topics of now."""
    new = static_member()
    old = beside(new)
    new.play.create("t", 4)
    ClassicConsumer(new.play, "back", "t", instance="i").join()

    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_lone_member_takes_the_group_along() -> None:
    """It may bring its member id, or come as somebody new."""
    new = static_member()
    back = ClassicConsumer(new.play, "back", "t", instance="i")
    back.member_id = "new"
    answer = back.join()

    assert (answer.error_code, answer.member_id) == (0, "new")
    assert new.play.state() == "Stable"
    assert back.beat() is ErrorCode.NONE


@pytest.mark.parametrize("policy", [MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL])
def test_group_stays_where_others_are_in_it_or_the_policy_has_it_so(policy: MigrationPolicy) -> None:
    """group.consumer.migration.policy; and a third member by the consumer protocol."""
    new = static_member(GroupConfig(group_consumer_migration_policy=policy))
    if policy is MigrationPolicy.BIDIRECTIONAL:
        new.play.pass_ms(1_000)
        new.play.consumer("third", "t").join()
    answer = ClassicConsumer(new.play, "back", "t", instance="i").join()

    assert answer.error_code == 0
    assert new.play.group.members[answer.member_id].is_classic
