"""What classic consumers say of themselves in JoinGroup, and what their leader gives them, as bytes.

Called by the playbooks of mixed groups, the simulated members of tests/torture, and tests of both kinds.

Source: the embedded consumer protocol of Kafka's clients, ConsumerProtocolSubscription and
ConsumerProtocolAssignment; KIP-429 (owned partitions), KIP-792 (generation), KIP-881 (rack).
"""

from collections.abc import Mapping, Sequence

from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.stored.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedPartitions,
)

Shares = Mapping[str, Sequence[int]]
"""Partitions by the names of their topics."""

NEWEST = 3
_VERSION_BYTES = 2


def subscription_bytes(
    topics: Sequence[str],
    owned: Shares | None = None,
    *,
    rack_id: str | None = None,
    generation_id: int = -1,
    version: int = NEWEST,
) -> bytes:
    """What a consumer says of itself in JoinGroup."""
    message = ConsumerProtocolSubscription(
        topics=list(topics),
        owned_partitions=[
            OwnedPartitions(topic=topic, partitions=list(partitions))
            for topic, partitions in (owned or {}).items()
        ],
        generation_id=generation_id,
        rack_id=rack_id,
    )
    return _behind_version(version, codec_for(ConsumerProtocolSubscription, version).build(message))


def subscription_in(metadata: bytes) -> ConsumerProtocolSubscription:
    """What a leader reads of a member."""
    version, body = _split(metadata)
    return codec_for(ConsumerProtocolSubscription, version).parse(body)


def assigned_bytes(shares: Shares, *, user_data: bytes | None = None, version: int = 1) -> bytes:
    """What a leader gives a member to read."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedPartitions(topic=topic, partitions=list(partitions))
            for topic, partitions in shares.items()
        ],
        user_data=user_data,
    )
    return _behind_version(version, codec_for(ConsumerProtocolAssignment, version).build(message))


def assigned_by(assignment: bytes) -> dict[str, list[int]]:
    """What a consumer reads in the assignment that SyncGroup gave it."""
    version, body = _split(assignment)
    message = codec_for(ConsumerProtocolAssignment, version).parse(body)
    return {one.topic: one.partitions for one in message.assigned_partitions}


def _behind_version(version: int, body: bytes) -> bytes:
    return version.to_bytes(_VERSION_BYTES, "big") + body


def _split(data: bytes) -> tuple[int, bytes]:
    return int.from_bytes(data[:_VERSION_BYTES], "big"), data[_VERSION_BYTES:]
