"""The topics of a group: whether they are as they were, and the epoch that tells the group of a change.

Called by `heartbeat`, `updating`, `leaving` and `classic_members`; `groups.shard` calls `topics_changed` when
the cluster's topics do.

Source: Kafka's GroupMetadataManager (updateSubscriptionMetadata, onMetadataUpdate) and
ModernGroup.computeMetadataHash; KIP-1101 (one hash in place of the topics' metadata).
"""

from collections.abc import Iterable

from wirekafka.groups.consumer.group import ConsumerGroup, subscribed_topic_names
from wirekafka.groups.consumer.membership import Membership
from wirekafka.groups.consumer.stored import epoch_record, partition_metadata_tombstone
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.topics import Topics, existing, metadata_hash


def hash_of(topics: Topics, membership: Membership) -> int:
    """Hash what exists of the topics that the members read."""
    names = subscribed_topic_names(membership.members.values(), membership.resolved)
    return metadata_hash(existing(topics, names))


def is_check_due(turn: ConsumerTurn, group: ConsumerGroup) -> bool:
    """Whether the group's topics may have changed since they were looked at.

    So it is also when the epoch that was decided at the last look never reached the log.
    """
    checked_epoch = turn.volatile.metadata_checks.get(group.group_id)
    return checked_epoch is None or group.group_epoch < checked_epoch


def check(turn: ConsumerTurn, group: ConsumerGroup, membership: Membership, *, bump: bool) -> int:
    """Give the group's epoch: the next one with `bump`, or when its topics are not as they were."""
    group_epoch, found_hash = group.group_epoch, hash_of(turn.topics, membership)
    if bump or found_hash != group.metadata_hash:
        group_epoch += 1
        turn.decision.records.append(epoch_record(group.group_id, group_epoch, found_hash))
    turn.volatile.metadata_checks[group.group_id] = group_epoch
    if group.has_partition_metadata:
        turn.decision.records.append(partition_metadata_tombstone(group.group_id))
    return group_epoch


def forget_check_of_stranger(turn: ConsumerTurn, group_id: str) -> None:
    """Let nothing be left of a group that was to be made, and was not."""
    if group_id not in turn.consumer_groups:
        turn.volatile.metadata_checks.pop(group_id, None)


def have_topics_changed(turn: ConsumerTurn, group: ConsumerGroup) -> bool:
    """Look at the group's topics if that is due, and say whether its epoch stands for others."""
    if not is_check_due(turn, group):
        return False
    found_hash = hash_of(turn.topics, Membership.of(group))
    if found_hash == group.metadata_hash:
        turn.volatile.metadata_checks[group.group_id] = group.group_epoch
    return found_hash != group.metadata_hash


def topics_changed(turn: ConsumerTurn, names: Iterable[str]) -> None:
    """Let the groups that read these topics look at them again with their next heartbeat."""
    changed = frozenset(names)
    if any(turn.topics.named(name) is not None for name in changed):
        turn.volatile.new_topics_generation = turn.topics.generation
    for group in turn.consumer_groups.values():
        if not changed.isdisjoint(group.subscribed_topic_names):
            turn.volatile.metadata_checks.pop(group.group_id, None)
