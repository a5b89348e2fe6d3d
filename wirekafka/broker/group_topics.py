"""`GroupTopics`: the topics of the cluster as groups may know them.

Made by `broker`, and given to every `GroupShard` by `coordination`; reads the metadata image, which it
follows by itself.

Source: Kafka's KRaftCoordinatorMetadataImage, and Utils.computeTopicHash (the racks of a partition are
those of its replicas' brokers).
"""

from collections.abc import Iterable

from wirekafka.groups import TopicFacts
from wirekafka.metadata import MetadataImage, TopicImage


class GroupTopics:
    """`groups.topics.Topics` over the metadata image."""

    def __init__(self, image: MetadataImage, node_id: int, rack: str | None) -> None:
        """`rack`: where this broker, `node_id`, stands; None when that is not known."""
        self._image = image
        self._racks_by_node = {} if rack is None else {node_id: rack}
        self._facts: dict[bytes, TopicFacts] = {}
        self._facts_generation = 0

    @property
    def generation(self) -> int:
        return self._image.topics_generation

    def named(self, name: str) -> TopicFacts | None:
        topic = self._image.topics.get(name)
        return None if topic is None else self._facts_of(topic)

    def with_id(self, topic_id: bytes) -> TopicFacts | None:
        topic = self._image.topics_by_id.get(topic_id)
        return None if topic is None else self._facts_of(topic)

    def names(self) -> Iterable[str]:
        return self._image.topics.keys()

    def _facts_of(self, topic: TopicImage) -> TopicFacts:
        """Facts are kept until any topic changes: members of many groups ask for the same ones."""
        if self._facts_generation != self.generation:
            self._facts.clear()
            self._facts_generation = self.generation
        facts = self._facts.get(topic.topic_id)
        if facts is None:
            facts = self._facts[topic.topic_id] = self._made(topic)
        return facts

    def _made(self, topic: TopicImage) -> TopicFacts:
        racks = tuple(
            frozenset(
                self._racks_by_node[node]
                for node in topic.partitions[index].replicas
                if node in self._racks_by_node
            )
            for index in range(len(topic.partitions))
        )
        return TopicFacts(topic.name, topic.topic_id, len(topic.partitions), racks)
