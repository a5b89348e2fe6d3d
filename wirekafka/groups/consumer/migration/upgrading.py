"""Online upgrade: a classic group with members becomes a consumer group, and nobody stops reading for it.

Called by `admission`, when the first heartbeat of the consumer protocol comes to a classic group. Its members
keep what they were assigned, as their target and at the group's generation as their epoch; to those who wait
in a rebalance it is said that there is another one, so that they join again. What that rebalance was to
assign nobody has been told, and members may read other topics than before: whoever joins calls for a new
target. Kafka computes one only when the joining member changes what the group reads, and else leaves
partitions to nobody.

Source: Kafka's GroupMetadataManager (validateOnlineUpgrade, convertToConsumerGroup) and
ConsumerGroup.fromClassicGroup; KIP-848.
"""

from collections.abc import Iterable, Iterator

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.responses import join_error, sync_error
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.consumer import stored
from wirekafka.groups.consumer.assignment import Assignment, with_epoch, without_epochs
from wirekafka.groups.consumer.group import ConsumerGroup, subscribed_topic_names
from wirekafka.groups.consumer.member import ConsumerMember, MemberState
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.consumer_protocol import read_assignment, read_subscription
from wirekafka.groups.records import ConsumerGroupRecord, GroupMetadata
from wirekafka.groups.topics import Topics, existing, metadata_hash
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata, ClassicProtocol


def upgrade(turn: ConsumerTurn, classic: ClassicGroup) -> ConsumerGroup:
    """Make a consumer group of a classic one; give it as it will be once the records are applied.

    Raises GROUP_ID_NOT_FOUND when the policy, the kind of its members or their number forbids it.
    """
    _check(turn, classic)
    members = [_upgraded(turn.topics, classic, member) for member in classic.members.values()]
    records = [*_records(turn.topics, classic, members)]
    turn.calls_for_target = classic.state is not ClassicGroupState.STABLE
    _release(turn, classic)
    turn.decision.records.append(GroupMetadata(classic.group_id, None))
    turn.decision.records.extend(records)
    made: dict[str, ConsumerGroup] = {}
    for record in records:
        stored.apply(made, record)
    return made[classic.group_id]


def _check(turn: ConsumerTurn, classic: ClassicGroup) -> None:
    limit = turn.config.group_consumer_max_size
    if not turn.config.group_consumer_migration_policy.allows_upgrade:
        raise _refusal(classic, "online upgrade is disabled.")
    if not classic.is_of_consumers:
        raise _refusal(classic, f"its members are not consumers, but of type {classic.protocol_type}.")
    if len(classic.members) > limit:
        raise _refusal(classic, f"it has more members than the {limit} that a consumer group may have.")


def _refusal(classic: ClassicGroup, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}",
    )


def _upgraded(topics: Topics, classic: ClassicGroup, member: Member) -> ConsumerMember:
    name = classic.protocol_name
    if name not in member.protocol_names:
        # The group is in its first rebalance, or the member brought other protocols since the last one.
        name = classic.select_protocol()
    try:
        subscription = read_subscription(member.metadata(name))
        assigned = _assigned(topics, classic, member)
    except MalformedMessage as error:
        raise _refusal(classic, f"member {member.member_id} says what is malformed: {error}.") from error
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client=member.client,
        subscribed_topic_names=frozenset(subscription.topics),
        classic=ClassicMemberMetadata(
            session_timeout_ms=member.session_timeout_ms,
            supported_protocols=[
                ClassicProtocol(name=offered, metadata=metadata) for offered, metadata in member.protocols
            ],
        ),
        state=MemberState.STABLE,
        member_epoch=_epoch(classic),
        previous_member_epoch=_epoch(classic),
        assigned=with_epoch(assigned, _epoch(classic)),
    )


def _epoch(classic: ClassicGroup) -> int:
    """Give the generation, or 1 in the first rebalance: epoch 0 is a member's that joins."""
    return max(classic.generation_id, 1)


def _assigned(topics: Topics, classic: ClassicGroup, member: Member) -> Assignment:
    """Give what the leader assigned, but for topics that are gone, and partitions that there are not.

    Those are of a topic that was made anew, with fewer; Kafka's assignor would fail on them.
    """
    assignment = read_assignment(member.assignment)
    if assignment.user_data:
        raise _refusal(
            classic, f"its assignor {classic.protocol_name} keeps data in assignments, which would be lost."
        )
    found = ((topics.named(one.topic), one.partitions) for one in assignment.assigned_partitions)
    existing_ones = (
        (facts.topic_id, frozenset(one for one in partitions if 0 <= one < facts.partition_count))
        for facts, partitions in found
        if facts is not None
    )
    return {topic_id: partitions for topic_id, partitions in existing_ones if partitions}


def _records(
    topics: Topics, classic: ClassicGroup, members: Iterable[ConsumerMember]
) -> Iterator[ConsumerGroupRecord]:
    group_id, members = classic.group_id, list(members)
    for member in members:
        yield stored.member_record(group_id, member)
    found_hash = metadata_hash(existing(topics, subscribed_topic_names(members, {})))
    yield stored.epoch_record(group_id, _epoch(classic), found_hash)
    for member in members:
        yield stored.target_record(group_id, member.member_id, without_epochs(member.assigned))
    yield stored.target_epoch_record(group_id, _epoch(classic), 0)
    for member in members:
        yield stored.current_record(group_id, member)


def _release(turn: ConsumerTurn, classic: ClassicGroup) -> None:
    """Let all join again who wait in the classic group, and expect to hear of every member.

    So it is also when the records cannot be written: then they find the classic group as it was.
    """
    code = ErrorCode.REBALANCE_IN_PROGRESS
    for member_id, member in classic.members.items():
        turn.answer_join(classic, member_id, join_error(code, member_id))
        turn.answer_sync(classic, member_id, sync_error(code))
        turn.answer_heartbeat(classic.group_id, member_id, code)
        turn.expect_heartbeat(classic, member)
