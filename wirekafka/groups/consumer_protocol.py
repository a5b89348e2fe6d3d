"""The consumer protocol's own messages, which lie as bytes inside JoinGroup and SyncGroup.

The broker carries them unread, but for this: it reads what the members of a classic group subscribe to, so
that offsets in use are neither expired nor deleted; and where members of both protocols are in one group, or
it goes from one to the other, it reads and writes all. Called by `classic.group`, and by the consumer groups'
`classic_members` and `migration`.

Source: Kafka's ConsumerProtocol, ClassicGroup.computeSubscribedTopics (KIP-211), and toTopicPartitions and
toConsumerProtocolAssignment of Kafka's Utils.
"""

import struct
from collections.abc import Iterable, Mapping

from wirekafka.groups.topics import Topics
from wirekafka.protocol.apis.consumer_group_heartbeat import HeartbeatTopicPartitions
from wirekafka.protocol.apis.join_group import JoinGroupRequestProtocol
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage
from wirekafka.protocol.stored.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

CONSUMER_PROTOCOL_TYPE = "consumer"
"""The protocol type of groups whose members are consumers."""

_VERSION_BYTES = 2
_NEWEST = ConsumerProtocolSubscription.versions.newest


def subscription_of(protocols: Iterable[JoinGroupRequestProtocol]) -> ConsumerProtocolSubscription:
    """Read what a member subscribes to, from the protocol that it likes best.

    Raises INCONSISTENT_GROUP_PROTOCOL for bytes that are no subscription. Of a later version that part is
    read that is known here.
    """
    try:
        return read_subscription(next(iter(protocols)).metadata)
    except MalformedMessage as error:
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"The subscription in a protocol is malformed: {error}"
        ) from error


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Read a subscription; raises MalformedMessage for bytes that are none."""
    codec = codec_for(ConsumerProtocolSubscription, _version_of(metadata))
    subscription, _ = codec.parse_from(metadata, _VERSION_BYTES)
    return subscription


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """Gather the topics of all members; None when one member's metadata cannot be read.

    Version 0 is the beginning of every version, so it is what is read, and what follows is left.
    """
    codec = codec_for(ConsumerProtocolSubscription, 0)
    topics: set[str] = set()
    for one in metadata:
        try:
            subscription, _ = codec.parse_from(one, _VERSION_BYTES)
        except MalformedMessage:
            return None
        topics.update(subscription.topics)
    return frozenset(topics)


def read_assignment(assignment: bytes) -> ConsumerProtocolAssignment:
    """Read an assignment, which is empty for a member that has none yet.

    Raises MalformedMessage for bytes that are none.
    """
    if not assignment:
        return ConsumerProtocolAssignment(assigned_partitions=[])
    codec = codec_for(ConsumerProtocolAssignment, _version_of(assignment))
    read, _ = codec.parse_from(assignment, _VERSION_BYTES)
    return read


def owned_topics(
    subscription: ConsumerProtocolSubscription, topics: Topics
) -> list[HeartbeatTopicPartitions]:
    """Give the partitions that the member says it has, by topic id; topics that are gone are left out."""
    owned = ((topics.named(one.topic), one.partitions) for one in subscription.owned_partitions)
    return [
        HeartbeatTopicPartitions(topic_id=facts.topic_id, partitions=partitions)
        for facts, partitions in owned
        if facts is not None
    ]


def assignment_bytes(assigned: Mapping[bytes, Iterable[int]], topics: Topics, like: bytes) -> bytes:
    """Write an assignment, in the version of `like`, the member's own subscription.

    Where that is malformed it is version 0, which everybody reads: only one of a member's protocols was
    looked at when it joined.
    """
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedPartitions(topic=facts.name, partitions=sorted(assigned[topic_id]))
            for topic_id in sorted(assigned)
            if (facts := topics.with_id(topic_id)) is not None
        ]
    )
    try:
        version = _version_of(like)
    except MalformedMessage:
        version = 0
    return struct.pack(">h", version) + codec_for(ConsumerProtocolAssignment, version).build(assignment)


def _version_of(metadata: bytes) -> int:
    """Read the number before a message's fields, which are known up to the newest of this version."""
    number = int.from_bytes(metadata[:_VERSION_BYTES], "big", signed=True)
    if len(metadata) < _VERSION_BYTES or number < 0:
        raise MalformedMessage("it does not begin with a version")
    return min(number, _NEWEST)
