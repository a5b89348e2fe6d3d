"""What a group may know of topics, and the hash by which it notices that they changed.

`broker.group_topics` tells a `GroupShard` of the topics by these types; `groups.consumer` asks them, and
keeps `metadata_hash` in the group's record: when the hash of today is another, a new target is due.

Source: Kafka's CoordinatorMetadataImage, and computeTopicHash and computeGroupHash of its group
coordinator's Utils. Both are XXH3 of 64 bits; numbers go in little-endian, a text as its UTF-16 units
followed by how many they are.
"""

import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol

_HASH_VERSION = b"\0"


class TopicFacts(NamedTuple):
    name: str
    topic_id: bytes
    partition_count: int
    racks: tuple[frozenset[str], ...]
    """For each partition, the racks of its replicas; empty where none is known."""


class Topics(Protocol):
    """The topics that there are."""

    @property
    def generation(self) -> int:
        """A number that grows with every change."""
        ...

    def named(self, name: str) -> TopicFacts | None: ...

    def with_id(self, topic_id: bytes) -> TopicFacts | None: ...

    def names(self) -> Iterable[str]: ...


class _NoTopics:
    generation = 0

    def named(self, name: str) -> TopicFacts | None:
        return None

    def with_id(self, topic_id: bytes) -> TopicFacts | None:
        return None

    def names(self) -> Iterable[str]:
        return ()


NO_TOPICS: Topics = _NoTopics()
"""A cluster without topics."""


def existing(topics: Topics, names: Iterable[str]) -> Iterator[TopicFacts]:
    """Give those of the named topics that there are."""
    return (facts for name in names if (facts := topics.named(name)) is not None)


@lru_cache(maxsize=4096)
def topic_hash(topic: TopicFacts) -> int:
    """Hash all that the assignment of a topic's partitions may depend on, as a signed number of 64 bits.

    Every join and every leave asks for that of all of the group's topics, which are mostly as they were.
    """
    parts = [_HASH_VERSION, topic.topic_id[7::-1], topic.topic_id[:7:-1], _text(topic.name)]
    parts.append(struct.pack("<i", topic.partition_count))
    for partition in range(topic.partition_count):
        parts.append(struct.pack("<i", partition))
        racks = topic.racks[partition] if partition < len(topic.racks) else ()
        for rack in sorted(racks):
            written = _text(rack)
            parts += (written[-4:], written)
    return _xxh3(b"".join(parts))


def metadata_hash(topics: Iterable[TopicFacts]) -> int:
    """Hash the topics that a group is subscribed to and that exist; 0 when there are none."""
    hashes = {topic.name: topic_hash(topic) for topic in topics}
    if not hashes:
        return 0
    return _xxh3(b"".join(struct.pack("<q", hashes[name]) for name in sorted(hashes)))


def _text(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + struct.pack("<i", len(units) // 2)


def _xxh3(data: bytes) -> int:
    import xxhash  # here: the first consumer group pays for loading it, not every start

    return int.from_bytes(xxhash.xxh3_64_digest(data), "big", signed=True)
