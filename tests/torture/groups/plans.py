"""How leaders of classic groups assign, and the bytes in which members say what they read and own.

`classic` asks these when its member leads.

Source: the eager and the cooperative protocol of Kafka's ConsumerPartitionAssignor (KIP-429, KIP-792);
the strategies are simpler ones, which keep the same rules.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

from tests.support.consumer_protocol import (
    Shares,
    assigned_by,
    assigned_bytes,
    subscription_bytes,
    subscription_in,
)

Named = tuple[str, int]
"""A partition by its topic's name, as classic members know it."""


class Subscription(NamedTuple):
    topics: frozenset[str]
    owned: frozenset[Named]
    generation_id: int


def written_subscription(subscription: Subscription) -> bytes:
    return subscription_bytes(
        sorted(subscription.topics),
        _by_topic(subscription.owned),
        generation_id=subscription.generation_id,
    )


def read_subscription(metadata: bytes) -> Subscription:
    message = subscription_in(metadata)
    owned = {(one.topic, index) for one in message.owned_partitions for index in one.partitions}
    return Subscription(frozenset(message.topics), frozenset(owned), message.generation_id)


def written_assignment(assigned: Iterable[Named]) -> bytes:
    return assigned_bytes(_by_topic(assigned))


def read_assignment(assignment: bytes) -> set[Named]:
    if not assignment:
        return set()
    return {(topic, index) for topic, indexes in assigned_by(assignment).items() for index in indexes}


def _by_topic(partitions: Iterable[Named]) -> Shares:
    return {
        topic: [index for _, index in ones]
        for topic, ones in groupby(sorted(partitions), key=lambda one: one[0])
    }


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
