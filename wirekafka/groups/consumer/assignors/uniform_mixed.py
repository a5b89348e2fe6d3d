"""The uniform assignor for members with different subscriptions.

Called by `uniform`. Everybody keeps what it has of the topics it still subscribes to; what is free goes to
the least loaded subscribers, and then partitions move, topic by topic and round after round, from the most to
the least loaded subscriber of a topic, until a whole round moves nothing. Topics with the most partitions for
each subscriber come first, since those with few can even out what is left.

The rounds are limited as in Kafka, to 16: where subscriptions overlap crosswise, evening out may take long.

Source: Kafka's UniformHeterogeneousAssignmentBuilder; KIP-848.
"""

import struct
from collections.abc import Iterable

from wirekafka.groups.consumer.assignors.assignor import Assignments, Members, TopicsById
from wirekafka.groups.consumer.assignors.load import Load

MAX_ROUNDS = 16
NOBODY = -1


def assign_mixed(members: Members, topics: TopicsById) -> Assignments:
    """Give every member its new target."""
    balance = _Balance(members, topics)
    balance.give_what_is_free()
    balance.even_out()
    return balance.assignments()


class _Balance:
    """Who has which partition; members go by their number, in the order in which they are told."""

    def __init__(self, members: Members, topics: TopicsById) -> None:
        self._member_ids = [*members]
        self._sizes = [0] * len(members)
        self._subscribers: dict[bytes, list[int]] = {}
        for number, member_id in enumerate(self._member_ids):
            for topic_id in members[member_id].subscribed:
                self._subscribers.setdefault(topic_id, []).append(number)
        self._owners = {
            topic_id: [NOBODY] * topics[topic_id].partition_count for topic_id in self._subscribers
        }
        for number, member_id in enumerate(self._member_ids):
            member = members[member_id]
            for topic_id in member.assigned.keys() & member.subscribed:
                for partition in member.assigned[topic_id]:
                    self._give(topic_id, partition, number)

    def _give(self, topic_id: bytes, partition: int, number: int) -> None:
        owners = self._owners[topic_id]
        if owners[partition] != NOBODY:
            self._sizes[owners[partition]] -= 1
        owners[partition] = number
        self._sizes[number] += 1

    def _in_order(self, topic_ids: Iterable[bytes]) -> list[bytes]:
        def place(topic_id: bytes) -> tuple[float, int, tuple[int, ...]]:
            subscribers = len(self._subscribers[topic_id])
            share = len(self._owners[topic_id]) / subscribers
            return (-share, subscribers, struct.unpack(">qq", topic_id))

        return sorted(topic_ids, key=place)

    def give_what_is_free(self) -> None:
        free = [topic_id for topic_id, owners in self._owners.items() if NOBODY in owners]
        for topic_id in self._in_order(free):
            load = Load(self._subscribers[topic_id], self._sizes)
            for partition, owner in enumerate(self._owners[topic_id]):
                if owner == NOBODY:
                    self._give(topic_id, partition, load.next_to_give())

    def even_out(self) -> None:
        shared = [topic_id for topic_id, subscribers in self._subscribers.items() if len(subscribers) > 1]
        in_order = self._in_order(shared)
        last_moved: bytes | None = None
        for _ in range(MAX_ROUNDS):
            for topic_id in in_order:
                if topic_id == last_moved:
                    return
                if self._even_out_topic(topic_id) or last_moved is None:
                    last_moved = topic_id

    def _even_out_topic(self, topic_id: bytes) -> bool:
        """Move partitions of one topic until its subscribers are even; tell whether any moved."""
        subscribers = self._subscribers[topic_id]
        if self._is_even(subscribers):
            return False
        load = Load(subscribers, self._sizes)
        to_take: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic_id]):
            to_take.setdefault(owner, []).append(partition)
        moved = False
        while (taken_from := _next_with_partitions(load, to_take)) is not None:
            partition = to_take[taken_from].pop()
            given_to = load.next_to_give()
            if load.is_even:
                break
            self._give(topic_id, partition, given_to)
            moved = True
        return moved

    def _is_even(self, members: Iterable[int]) -> bool:
        sizes = [self._sizes[number] for number in members]
        return max(sizes) - min(sizes) <= 1

    def assignments(self) -> Assignments:
        gathered: list[dict[bytes, list[int]]] = [{} for _ in self._member_ids]
        for topic_id, owners in self._owners.items():
            for partition, owner in enumerate(owners):
                gathered[owner].setdefault(topic_id, []).append(partition)
        return {
            member_id: {topic_id: frozenset(partitions) for topic_id, partitions in of_member.items()}
            for member_id, of_member in zip(self._member_ids, gathered, strict=True)
        }


def _next_with_partitions(load: Load, to_take: dict[int, list[int]]) -> int | None:
    """Give the most loaded member that has partitions of the topic left; None when none has."""
    while (number := load.next_to_take()) is not None:
        if to_take.get(number):
            return number
        load.leave_out()
    return None
