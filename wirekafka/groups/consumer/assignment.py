"""Assignments: which partitions of which topics, with or without the epochs they were given at.

Used by all of this folder, which keeps no empty set in an assignment: equal assignments are equal values.

Source: Kafka's Assignment and Utils (assignmentFromTopicPartitions, toAssignmentWithEpochs).
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

Assignment = Mapping[bytes, frozenset[int]]
"""Topic id to partitions, never to an empty set."""

OwnedPartitions = Mapping[bytes, Mapping[int, int]]
"""Topic id to partition to the epoch at which the member was given it; never to an empty mapping."""


class TopicPartitionsMessage(Protocol):
    """What the wire and the log have of one topic."""

    topic_id: bytes
    partitions: list[int]


class OwnedPartitionsMessage(TopicPartitionsMessage, Protocol):
    """What the log has of one topic, with epochs if it was written by Kafka 4.3 or later."""

    assignment_epochs: list[int] | None


def from_topics(topics: Iterable[TopicPartitionsMessage]) -> dict[bytes, frozenset[int]]:
    """Read an assignment from a message's list of topics, which may name one more than once."""
    found: dict[bytes, frozenset[int]] = {}
    for topic in topics:
        if topic.partitions:
            found[topic.topic_id] = found.get(topic.topic_id, frozenset()).union(topic.partitions)
    return found


def owned_from_topics(topics: Iterable[OwnedPartitionsMessage], default_epoch: int) -> OwnedPartitions:
    """Read what a member owns; where the log has no epochs of the partitions, they have the default."""
    epoch = max(default_epoch, 0)
    return {
        topic.topic_id: dict(zip(topic.partitions, _epochs(topic, epoch), strict=True))
        for topic in topics
        if topic.partitions
    }


def _epochs(topic: OwnedPartitionsMessage, default_epoch: int) -> list[int]:
    epochs = topic.assignment_epochs
    if epochs is not None and len(epochs) == len(topic.partitions):
        return epochs
    return [default_epoch] * len(topic.partitions)


def in_order(assignment: Mapping[bytes, Iterable[int]]) -> list[tuple[bytes, list[int]]]:
    """Give topics and partitions sorted, as they are written and sent."""
    return [(topic_id, sorted(assignment[topic_id])) for topic_id in sorted(assignment)]


def without_epochs(owned: Mapping[bytes, Iterable[int]]) -> dict[bytes, frozenset[int]]:
    """Forget since when; a plain assignment comes back as it is."""
    return {topic_id: frozenset(partitions) for topic_id, partitions in owned.items() if partitions}


def with_epoch(assignment: Mapping[bytes, Iterable[int]], epoch: int) -> OwnedPartitions:
    """Own every partition of an assignment since the same epoch."""
    return {topic_id: dict.fromkeys(partitions, epoch) for topic_id, partitions in assignment.items()}


def together(first: OwnedPartitions, second: OwnedPartitions) -> OwnedPartitions:
    """Give the partitions of both; the second's epoch stands where both have one."""
    return {
        topic_id: {**first.get(topic_id, {}), **second.get(topic_id, {})} for topic_id in {**first, **second}
    }


def overlap(first: Mapping[bytes, Iterable[int]], second: Mapping[bytes, Iterable[int]]) -> bool:
    """Whether the two have a partition in common."""
    return any(not set(second.get(topic_id, ())).isdisjoint(first[topic_id]) for topic_id in first)
