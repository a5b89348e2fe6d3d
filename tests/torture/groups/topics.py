"""The topics of a simulated cluster: what the machine may ask of them, and what was read of them.

`World` holds them; members read records here, and here a record that nobody processed is found.

Source: `wirekafka.groups.topics.Topics`, which the broker implements over its metadata.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from wirekafka.groups.topics import TopicFacts


class Partition(NamedTuple):
    """A partition of one topic, not of a later one that has the same name."""

    topic_id: bytes
    number: int


@dataclass(slots=True)
class SimulatedTopic:
    name: str
    topic_id: bytes
    ends: list[int] = field(default_factory=list)
    """The end offset of each partition."""
    processed: list[int] = field(default_factory=list)
    """Below this offset every record of the partition was processed, at least once."""

    def grow(self, partition_count: int) -> None:
        """Have so many partitions, the new ones empty."""
        more = partition_count - len(self.ends)
        self.ends += [0] * more
        self.processed += [0] * more


class SimulatedTopics:
    """The topics that there are at this moment."""

    def __init__(self) -> None:
        self.generation = 0
        self.by_name: dict[str, SimulatedTopic] = {}
        self._by_id: dict[bytes, SimulatedTopic] = {}
        self._made = 0

    def create(self, name: str, partition_count: int) -> None:
        """Create a topic under an id that no topic had before."""
        self._made += 1
        topic = SimulatedTopic(name, self._made.to_bytes(16, "big"))
        topic.grow(partition_count)
        self.by_name[name] = self._by_id[topic.topic_id] = topic
        self.generation += 1

    def delete(self, name: str) -> SimulatedTopic:
        topic = self.by_name.pop(name)
        del self._by_id[topic.topic_id]
        self.generation += 1
        return topic

    def grow(self, name: str, partition_count: int) -> None:
        self.by_name[name].grow(partition_count)
        self.generation += 1

    def topic(self, topic_id: bytes) -> SimulatedTopic | None:
        return self._by_id.get(topic_id)

    def counts(self) -> dict[str, tuple[bytes, int]]:
        """What a client learns of the topics: the id of each, and how many partitions it has."""
        return {name: (topic.topic_id, len(topic.ends)) for name, topic in self.by_name.items()}

    # --- as the machine sees them ---

    def named(self, name: str) -> TopicFacts | None:
        return _facts(self.by_name.get(name))

    def with_id(self, topic_id: bytes) -> TopicFacts | None:
        return _facts(self._by_id.get(topic_id))

    def names(self) -> Iterable[str]:
        return list(self.by_name)


def _facts(topic: SimulatedTopic | None) -> TopicFacts | None:
    if topic is None:
        return None
    count = len(topic.ends)
    return TopicFacts(topic.name, topic.topic_id, count, (frozenset[str](),) * count)
