"""The range assignor: of each topic, every subscriber gets one run of neighbouring partitions.

Called through the table in `assignors`. Members come in the same order for every topic, so topics with as
many partitions and the same subscribers are divided alike, and records of one key in two of them meet in
one member. Static members come first: they keep their place when others come and go. What anybody has
had until now does not count, and neither do racks, of which Kafka's assignor takes no note since 4.0.

Source: Kafka's RangeAssignor; KIP-848.
"""

from collections import Counter

from wirekafka.groups.consumer.assignors.assignor import Assignments, AssignorMember, Members, TopicsById


def assign(members: Members, topics: TopicsById) -> Assignments:
    """Divide each topic among its subscribers; the first ones get the partitions that are over."""
    subscribers = Counter(topic_id for member in members.values() for topic_id in member.subscribed)
    shares = {
        topic_id: _Shares(topics[topic_id].partition_count, count) for topic_id, count in subscribers.items()
    }
    assignments: Assignments = {}
    for member in sorted(members.values(), key=_place):
        given = {topic_id: shares[topic_id].next() for topic_id in member.subscribed}
        assignments[member.member_id] = {topic_id: share for topic_id, share in given.items() if share}
    return assignments


def _place(member: AssignorMember) -> tuple[bool, str]:
    if member.instance_id is not None:
        return (False, member.instance_id)
    return (True, member.member_id)


class _Shares:
    """A topic's partitions being dealt out."""

    __slots__ = ("_dealt", "_larger", "_share")

    def __init__(self, partition_count: int, subscribers: int) -> None:
        self._share, self._larger = divmod(partition_count, subscribers)
        self._dealt = 0

    def next(self) -> frozenset[int]:
        start = self._dealt
        self._dealt += self._share
        if self._larger > 0:
            self._larger -= 1
            self._dealt += 1
        return frozenset(range(start, self._dealt))
