"""What the metadata log says at present: topics, their partitions and settings, the next producer id.

Changed only by `MetadataMachine.apply`; read by everyone. One object for the broker's whole life,
changed in place, so that a record costs the same with ten topics and with ten thousand.
`generation` tells whether anything changed.

Source: Kafka's MetadataImage, TopicsImage and ConfigurationsImage.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from wirekafka.ids import TopicId
from wirekafka.metadata.records import MetadataRecord
from wirekafka.metadata.topics import collision_key
from wirekafka.protocol.stored.cluster_metadata import (
    ConfigRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)

TOPIC_RESOURCE = 2
"""The code of topics among the resources that have settings; the others follow."""
BROKER_RESOURCE = 4
BROKER_LOGGER_RESOURCE = 8
CLIENT_METRICS_RESOURCE = 16
GROUP_RESOURCE = 32

_SAME_LEADER = -2
_NO_CONFIGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PartitionImage:
    """Where one partition lies and who leads it; a leader of -1 is none. Equal ones are one object."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(slots=True)
class TopicImage:
    """One topic; `partitions` by partition id."""

    name: str
    topic_id: TopicId
    partitions: dict[int, PartitionImage] = field(default_factory=dict)
    generation: int = field(default=0, compare=False)
    """Grows with every change of its partitions."""


class MetadataImage:
    """The present state of the cluster's metadata."""

    def __init__(self) -> None:
        self._topics: dict[str, TopicImage] = {}
        self._topics_by_id: dict[bytes, TopicImage] = {}
        self._names_by_collision_key: dict[str, dict[str, None]] = {}
        self._configs: dict[tuple[int, str], dict[str, str]] = {}
        self._features: dict[str, int] = {}
        self._partition_images: dict[PartitionImage, PartitionImage] = {}
        self.topics: Mapping[str, TopicImage] = MappingProxyType(self._topics)
        """The topics by name: a view that follows later changes, as are the two below."""
        self.topics_by_id: Mapping[bytes, TopicImage] = MappingProxyType(self._topics_by_id)
        self.features: Mapping[str, int] = MappingProxyType(self._features)
        """The finalized feature levels by name."""
        self.removed_topic_ids: set[bytes] = set()
        """The topics that were deleted and whose folders may still be there."""
        self.next_producer_id = 0
        self.generation = 0
        """Grows with every change."""
        self.topics_generation = 0
        """Grows with every change of the topics and of their partitions."""
        self.broker_configs_generation = 0
        """Grows with every change of a broker's settings."""

    def configs(self, resource_type: int, resource_name: str) -> Mapping[str, str]:
        """The settings made for one resource itself, as text; empty if there are none."""
        return MappingProxyType(self._configs.get((resource_type, resource_name), _NO_CONFIGS))

    def topic_configs(self, name: str) -> Mapping[str, str]:
        """The settings made for one topic itself, as text; empty if there are none."""
        return self.configs(TOPIC_RESOURCE, name)

    def colliding_name(self, name: str) -> str | None:
        """A topic that differs from `name` at most in `.` and `_`; None if there is none."""
        key = collision_key(name)
        return None if key is None else next(iter(self._names_by_collision_key.get(key, ())), None)

    def apply(self, record: MetadataRecord) -> None:
        """Change the image by one record. Called by `MetadataMachine.apply` alone."""
        match record:
            case TopicRecord():
                self._add_topic(record)
            case PartitionRecord():
                self._put_partition(record)
            case PartitionChangeRecord():
                self._change_partition(record)
            case ConfigRecord():
                self._put_config(record)
            case RemoveTopicRecord():
                self._remove_topic(record)
            case ProducerIdsRecord():
                self.next_producer_id = record.next_producer_id
            case FeatureLevelRecord():
                self._put_feature(record)
        self.generation += 1

    def _add_topic(self, record: TopicRecord) -> None:
        self.topics_generation += 1
        assert record.name not in self._topics, "a topic is created once"
        topic = TopicImage(record.name, TopicId(record.topic_id))
        self._topics[topic.name] = self._topics_by_id[topic.topic_id] = topic
        key = collision_key(topic.name)
        if key is not None:
            self._names_by_collision_key.setdefault(key, {})[topic.name] = None

    def _put_partition(self, record: PartitionRecord) -> None:
        self.topics_generation += 1
        topic = self._topics_by_id[record.topic_id]
        topic.generation += 1
        topic.partitions[record.partition_id] = self._shared(
            PartitionImage(record.leader, record.leader_epoch, tuple(record.replicas), tuple(record.isr))
        )

    def _change_partition(self, record: PartitionChangeRecord) -> None:
        """Follow what a Kafka controller wrote in this log, before the folder was opened here.

        Each change of the leader is an epoch. That nobody leads any more is what a Kafka says that stops: its
        epoch is over, and the node of this folder leads in the next.
        """
        self.topics_generation += 1
        topic = self._topics_by_id[record.topic_id]
        topic.generation += 1
        partitions = topic.partitions
        before = partitions[record.partition_id]
        changes_leader = record.leader != _SAME_LEADER
        partitions[record.partition_id] = self._shared(
            PartitionImage(
                record.leader if record.leader >= 0 else before.leader,
                before.leader_epoch + changes_leader,
                before.replicas if record.replicas is None else tuple(record.replicas),
                tuple(record.isr) if record.isr else before.isr,
            )
        )

    def _shared(self, image: PartitionImage) -> PartitionImage:
        """Give the one of those that are equal: with one broker, very many partitions are."""
        return self._partition_images.setdefault(image, image)

    def _put_config(self, record: ConfigRecord) -> None:
        resource = (record.resource_type, record.resource_name)
        if record.resource_type == BROKER_RESOURCE:
            self.broker_configs_generation += 1
        if record.value is not None:
            self._configs.setdefault(resource, {})[record.name] = record.value
            return
        configs = self._configs.get(resource, {})
        configs.pop(record.name, None)
        if not configs:
            self._configs.pop(resource, None)

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        self.topics_generation += 1
        topic = self._topics_by_id.pop(record.topic_id)
        self.removed_topic_ids.add(topic.topic_id)
        del self._topics[topic.name]
        self._configs.pop((TOPIC_RESOURCE, topic.name), None)
        key = collision_key(topic.name)
        if key is not None:
            names = self._names_by_collision_key[key]
            del names[topic.name]
            if not names:
                del self._names_by_collision_key[key]

    def _put_feature(self, record: FeatureLevelRecord) -> None:
        if record.feature_level:
            self._features[record.name] = record.feature_level
        else:
            self._features.pop(record.name, None)
