"""Tests of groups/consumer/updating.py."""

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups import records
from wirekafka.groups.deadlines import RevocationDeadline
from wirekafka.protocol.error_codes import ErrorCode


def test_join_is_written_in_kafkas_order() -> None:
    """Member, epoch, targets, epoch of the targets, what the member has."""
    play = ConsumerPlaybook(t=1)
    play.consumer("a", "t").join()
    written = [type(records.decode(item)).__name__ for item in play.log]

    assert written == [
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupCurrentMemberAssignment",
    ]


def test_member_has_its_rebalance_time_out_for_giving_up() -> None:
    """Only while it has to; the answer lost in between changes nothing."""
    play = ConsumerPlaybook(t=2)
    (first,) = play.settled("a")
    play.consumer("b", "t").join()
    first.beat()
    assert RevocationDeadline("g", "a") in play.shard.volatile.deadlines
    first.beat(revokes=False)
    assert RevocationDeadline("g", "a") in play.shard.volatile.deadlines
    first.beat()

    assert RevocationDeadline("g", "a") not in play.shard.volatile.deadlines


def test_member_in_a_state_of_a_later_version_is_fenced() -> None:
    """Kafka, after a downgrade; with nothing in hand it may go on."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    play.group.put_member(
        play.member(consumer).moved_to(
            play.member(consumer).state.UNKNOWN, 2, assigned={}, pending_revocation={}
        )
    )
    assert consumer.beat(revokes=False).error_code == ErrorCode.FENCED_MEMBER_EPOCH

    assert consumer.join().member_epoch == 2
    assert consumer.has == {"t": [0]}


def test_subscription_to_topics_that_do_not_change_the_target_is_noted() -> None:
    """The epoch is counted up all the same, as in Kafka."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    consumer.say(subscribed_topic_names=["t", "missing"])

    assert play.member(consumer).subscribed_topic_names == {"t", "missing"}
    assert (play.group.group_epoch, consumer.has) == (3, {"t": [0]})
