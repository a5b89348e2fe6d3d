"""The uniform assignor for members that all subscribe to the same topics.

Called by `uniform`. Each member keeps what it has up to its quota; what is free then fills those that are
below theirs. The quotas differ by one at most: when 7 partitions meet 3 members, one member's is 3.

What is left over after equal shares goes by order: members come as they are told, which by
`groups.consumer.target` is Kafka's order, and topics by name, where Kafka's order is that of a hash map of
their random ids.

Source: Kafka's UniformHomogeneousAssignmentBuilder; KIP-848.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.consumer.assignors.assignor import Assignments, Members, TopicsById

Partition = tuple[bytes, int]


def assign_alike(members: Members, topics: TopicsById) -> Assignments:
    """Give every member its new target; there is at least one member."""
    subscribed = next(iter(members.values())).subscribed
    topic_ids = sorted(subscribed, key=lambda topic_id: topics[topic_id].name)
    places = {topic_id: place for place, topic_id in enumerate(topic_ids)}
    free = [*_partitions_of_nobody(members, topic_ids, topics)]
    total = sum(topics[topic_id].partition_count for topic_id in topic_ids)
    quotas = _Quotas(total, len(members))
    assignments: Assignments = {}
    wanting: list[tuple[str, int]] = []
    for member_id in members:
        quota = quotas.upper
        kept, given_up = _keep(members[member_id].assigned, places, quota)
        free += given_up
        assignments[member_id] = kept
        wanted = quotas.settle(quota - sum(map(len, kept.values())))
        if wanted:
            wanting.append((member_id, wanted))
    remaining = iter(free)
    for member_id, wanted in wanting:
        assignments[member_id] = _with(assignments[member_id], islice(remaining, wanted))
    return assignments


class _Quotas:
    """How many partitions the next member may have; each member settles its quota in turn."""

    __slots__ = ("_larger", "_lower", "_members")

    def __init__(self, partitions: int, members: int) -> None:
        self._lower, self._larger = divmod(partitions, members)
        self._members = members

    @property
    def upper(self) -> int:
        return self._lower + (self._larger > 0)

    def settle(self, unused: int) -> int:
        """Settle one member's quota, of which it does not use so much yet; give how much it shall get.

        A member below a larger quota leaves the larger one to a member that can use it now, unless there
        are as many larger quotas left as members.
        """
        larger = self._larger > 0
        if unused > 0 and larger and self._members > self._larger:
            unused -= 1
            larger = False
        self._larger -= larger
        self._members -= 1
        return unused


def _partitions_of_nobody(
    members: Members, topic_ids: Iterable[bytes], topics: TopicsById
) -> Iterator[Partition]:
    for topic_id in topic_ids:
        owned = frozenset[int]().union(
            *(member.assigned[topic_id] for member in members.values() if topic_id in member.assigned)
        )
        for partition in range(topics[topic_id].partition_count):
            if partition not in owned:
                yield topic_id, partition


def _keep(assigned: Assignment, places: dict[bytes, int], quota: int) -> tuple[Assignment, list[Partition]]:
    """Keep of subscribed topics what the quota allows, and tell what is given up for others."""
    kept: dict[bytes, frozenset[int]] = {}
    given_up: list[Partition] = []
    for topic_id in sorted(assigned.keys() & places.keys(), key=places.__getitem__):
        partitions = assigned[topic_id]
        if len(partitions) > quota:
            in_order = sorted(partitions)
            partitions = frozenset(in_order[:quota])
            given_up += [(topic_id, partition) for partition in in_order[quota:]]
        quota -= len(partitions)
        if partitions:
            kept[topic_id] = partitions
    return kept, given_up


def _with(assignment: Assignment, added: Iterable[Partition]) -> Assignment:
    by_topic: dict[bytes, list[int]] = {}
    for topic_id, partition in added:
        by_topic.setdefault(topic_id, []).append(partition)
    grown = {topic_id: assignment.get(topic_id, frozenset()).union(new) for topic_id, new in by_topic.items()}
    return {**assignment, **grown}
