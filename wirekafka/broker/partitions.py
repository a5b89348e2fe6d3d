"""Topic and partition to `Partition`: opened, made and removed as the metadata says.

Called by `cluster`, which tells of every record applied, and by handlers, which look partitions up.
Calls `storage.LogDirectory`.

Source: Kafka's LogManager and the part of ReplicaManager that follows metadata changes.
"""

from collections.abc import Callable

from wirekafka.broker.partition import Partition
from wirekafka.ids import TopicPartition
from wirekafka.metadata import MetadataImage, TopicImage
from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, LogDirectory

logger = get_logger("broker")

METADATA_TOPIC = "__cluster_metadata"


class Partitions:
    """Every partition of every topic on this broker: open, or offline with the reason."""

    def __init__(
        self,
        directory: LogDirectory,
        image: MetadataImage,
        *,
        log_config: Callable[[str], LogConfig],
        now_ms: Callable[[], int],
    ) -> None:
        self._directory = directory
        self._image = image
        self._log_config = log_config
        self._now_ms = now_ms
        self._by_topic: dict[str, dict[int, Partition | KafkaError]] = {}
        self._names: dict[bytes, str] = {}

    def find(self, topic: str, partition: int) -> Partition:
        """Look a partition up.

        Raises UNKNOWN_TOPIC_OR_PARTITION, or KAFKA_STORAGE_ERROR for one whose log cannot be used.
        """
        found = self._by_topic.get(topic, {}).get(partition)
        if isinstance(found, Partition):
            return found
        if found is not None:
            # A fresh one each time: an exception keeps the frames of every raise alive.
            raise KafkaError(found.code, found.message)
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {partition} of topic '{topic}'."
        )

    def name_of(self, topic_id: bytes) -> str:
        """Give the name of the topic with this id. Raises UNKNOWN_TOPIC_ID."""
        topic = self._image.topics_by_id.get(topic_id)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "No topic has this id.")
        return topic.name

    def exists(self, topic: str, partition: int) -> bool:
        """Whether the metadata knows the partition, on line or not."""
        return partition in self._by_topic.get(topic, {})

    def is_online(self, topic: str, partition: int) -> bool:
        return isinstance(self._by_topic.get(topic, {}).get(partition), Partition)

    def open_all(self) -> None:
        """Open every topic of the metadata; set folders aside that belong to none."""
        for topic_partition, topic_id in self._directory.partitions():
            if topic_partition.topic == METADATA_TOPIC:
                continue
            topic = self._image.topics.get(topic_partition.topic)
            if (
                topic is None
                or topic.topic_id != topic_id
                or topic_partition.partition not in topic.partitions
            ):
                name = self._directory.set_aside(topic_partition)
                logger.warning("the folder %s belongs to no topic: it is now named %s", topic_partition, name)
        for topic in self._image.topics.values():
            for index in topic.partitions:
                self.open_one(topic, index)

    def open_one(self, topic: TopicImage, index: int) -> None:
        """Open a partition of a topic, made if it is not there; one that cannot be read is offline."""
        topic_partition = TopicPartition(topic.name, index)
        self._names[topic.topic_id] = topic.name
        partitions = self._by_topic.setdefault(topic.name, {})
        config = self._log_config(topic.name)
        try:
            log = self._directory.open_log(topic_partition, topic.topic_id, config, now_ms=self._now_ms())
        except KafkaError as error:
            logger.error("%s is offline: %s", topic_partition, error)
            partitions[index] = error
        else:
            partitions[index] = Partition(log, topic.partitions[index].leader_epoch)

    def reconfigure(self, topic: str) -> None:
        """Give the logs of a topic the settings that now hold for it."""
        config = self._log_config(topic)
        for partition in self._by_topic.get(topic, {}).values():
            if isinstance(partition, Partition):
                partition.log.config = config

    def remove_topic(self, topic_id: bytes) -> str:
        """Close a deleted topic's partitions, wake who waits, remove the folders; give its name."""
        name = self._names.pop(topic_id)
        for index, partition in self._by_topic.pop(name).items():
            topic_partition = TopicPartition(name, index)
            try:
                if isinstance(partition, Partition):
                    partition.mark_deleted()
                    self._directory.delete_log(partition.log)
                else:
                    self._directory.delete_partition(topic_partition)
            except KafkaError as error:
                logger.error("%s is deleted, its folder is not: %s", topic_partition, error)
        return name
