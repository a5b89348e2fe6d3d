"""How leaders of classic groups assign, and the bytes in which members say what they read and own.

`classic` asks these when its member leads.

Source: the eager and the cooperative protocol of Kafka's ConsumerPartitionAssignor (KIP-429, KIP-792);
the strategies are simpler ones, which keep the same rules.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.stored.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedPartitions,
)

Named = tuple[str, int]
"""A partition by its topic's name, as classic members know it."""

_VERSION = 3
_VERSION_BYTES = _VERSION.to_bytes(2, "big")


class Subscription(NamedTuple):
    topics: frozenset[str]
    owned: frozenset[Named]
    generation_id: int


def written_subscription(subscription: Subscription) -> bytes:
    message = ConsumerProtocolSubscription(
        topics=sorted(subscription.topics),
        owned_partitions=[
            OwnedPartitions(topic=topic, partitions=[index for _, index in ones])
            for topic, ones in groupby(sorted(subscription.owned), key=lambda one: one[0])
        ],
        generation_id=subscription.generation_id,
    )
    return _VERSION_BYTES + codec_for(ConsumerProtocolSubscription, _VERSION).build(message)


def read_subscription(metadata: bytes) -> Subscription:
    message, _ = codec_for(ConsumerProtocolSubscription, _VERSION).parse_from(metadata, len(_VERSION_BYTES))
    owned = {(one.topic, index) for one in message.owned_partitions for index in one.partitions}
    return Subscription(frozenset(message.topics), frozenset(owned), message.generation_id)


def written_assignment(assigned: Iterable[Named]) -> bytes:
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedPartitions(topic=topic, partitions=[index for _, index in ones])
            for topic, ones in groupby(sorted(assigned), key=lambda one: one[0])
        ]
    )
    return _VERSION_BYTES + codec_for(ConsumerProtocolAssignment, _VERSION).build(message)


def read_assignment(assignment: bytes) -> set[Named]:
    if not assignment:
        return set()
    version = int.from_bytes(assignment[:2], "big")
    codec = codec_for(ConsumerProtocolAssignment, min(version, _VERSION))
    message, _ = codec.parse_from(assignment, len(_VERSION_BYTES))
    return {(one.topic, index) for one in message.assigned_partitions for index in one.partitions}


def eager(members: Mapping[str, Subscription], counts: Mapping[str, int]) -> dict[str, set[Named]]:
    """Deal all partitions out, each to the one with the fewest."""
    return _dealt(members, counts, {})


def cooperative(members: Mapping[str, Subscription], counts: Mapping[str, int]) -> dict[str, set[Named]]:
    """Leave what may stay where it is; what is to move goes to nobody until its owner gave it up."""
    owners: dict[Named, str] = {}
    for member_id in sorted(members, key=lambda one: members[one].generation_id):
        owners.update(dict.fromkeys(members[member_id].owned, member_id))
    plan = _dealt(members, counts, owners)
    for member_id, assigned in plan.items():
        assigned -= {one for one in assigned if owners.get(one, member_id) != member_id}
    return plan


def _dealt(
    members: Mapping[str, Subscription], counts: Mapping[str, int], owners: Mapping[Named, str]
) -> dict[str, set[Named]]:
    plan: dict[str, set[Named]] = {member_id: set() for member_id in members}
    left: list[Named] = []
    partitions = [(topic, index) for topic in sorted(counts) for index in range(counts[topic])]
    share = -(-len(partitions) // len(members))
    for one in partitions:
        owner = owners.get(one)
        if owner is not None and one[0] in members[owner].topics and len(plan[owner]) < share:
            plan[owner].add(one)
        else:
            left.append(one)
    for one in left:
        able = [member_id for member_id in members if one[0] in members[member_id].topics]
        if able:
            plan[min(able, key=lambda member_id: len(plan[member_id]))].add(one)
    return plan
