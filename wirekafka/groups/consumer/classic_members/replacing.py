"""A static member that comes back by the classic protocol, and was the last one by the consumer protocol.

Called by `joining`. With it the group becomes a classic one, as when the last of the others leaves.

Source: Kafka's GroupMetadataManager (validateOnlineDowngradeWithReplacedMember, and the downgrade in
classicGroupJoinToConsumerGroup).
"""

from wirekafka.groups.consumer import metadata, reconciliation
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer.migration import downgrading
from wirekafka.groups.consumer.reconciliation import Goal, Reported
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.topics import existing


def replaces_the_last(turn: ConsumerTurn, group: ConsumerGroup, instance_id: str | None) -> bool:
    """Whether a classic member of that instance id leaves nobody by the consumer protocol in the group."""
    holder = group.static_member(instance_id)
    if holder is None or holder.is_classic:
        return False
    return downgrading.downgrades(turn, group, [holder], joins=True)


def replace_the_last(
    turn: ConsumerTurn,
    group: ConsumerGroup,
    before: ConsumerMember,
    after: ConsumerMember,
    reported: Reported,
) -> ConsumerMember:
    """Make the group a classic one with the member as `after` in it; give the member with its generation.

    Where its subscription is another than before, or the target is due anyway, all are to join again.
    """
    holder = group.static_member(after.instance_id)
    assert holder is not None
    rebalance = _calls_for_target(turn, group, before, after)
    if not rebalance:
        after = reconciliation.reconcile(
            after, _goal(turn, group, after), reported, subscription_changed=False
        )
    downgrading.downgrade(turn, group, [holder], joining=after, rebalance=rebalance)
    return after


def _calls_for_target(
    turn: ConsumerTurn, group: ConsumerGroup, before: ConsumerMember, after: ConsumerMember
) -> bool:
    return (
        after.subscribed_topic_names != before.subscribed_topic_names
        or bool(before.subscribed_topic_regex)
        or group.assignment_epoch < group.group_epoch
        or metadata.have_topics_changed(turn, group)
    )


def _goal(turn: ConsumerTurn, group: ConsumerGroup, member: ConsumerMember) -> Goal:
    return Goal(
        group.assignment_epoch,
        group.target_of(member.member_id, member.instance_id),
        frozenset(facts.topic_id for facts in existing(turn.topics, member.subscribed_topic_names)),
        group.has_owner,
    )
