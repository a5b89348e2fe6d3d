"""The consumer protocol's own messages inside JoinGroup and SyncGroup, which for once the broker reads.

Called by `joining` and `syncing`.

Source: Kafka's ConsumerProtocol, and toTopicPartitions and toConsumerProtocolAssignment of Kafka's
Utils.
"""

import struct
from collections.abc import Iterable, Mapping

from wirekafka.groups.consumer.assignment import in_order
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

_VERSION_BYTES = 2
_NEWEST = ConsumerProtocolSubscription.versions.newest


def subscription_of(protocols: Iterable[JoinGroupRequestProtocol]) -> ConsumerProtocolSubscription:
    """Read what a member subscribes to, from the protocol that it likes best.

    Raises INCONSISTENT_GROUP_PROTOCOL for bytes that are no subscription. Of a later version that part is
    read that is known here.
    """
    metadata = next(iter(protocols)).metadata
    try:
        codec = codec_for(ConsumerProtocolSubscription, _version_of(metadata))
        subscription, _ = codec.parse_from(metadata, _VERSION_BYTES)
    except MalformedMessage as error:
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"The subscription in a protocol is malformed: {error}"
        ) from error
    return subscription


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
    """Write an assignment, in the version of `like`, the member's own subscription."""
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedPartitions(topic=facts.name, partitions=partitions)
            for topic_id, partitions in in_order(assigned)
            if (facts := topics.with_id(topic_id)) is not None
        ]
    )
    version = _version_of(like)
    return struct.pack(">h", version) + codec_for(ConsumerProtocolAssignment, version).build(assignment)


def _version_of(metadata: bytes) -> int:
    version = int.from_bytes(metadata[:_VERSION_BYTES], "big", signed=True)
    if len(metadata) < _VERSION_BYTES or version < 0:
        raise MalformedMessage("there is no version that it could have")
    return min(version, _NEWEST)
