"""Topic and partition to `Partition`: opened, made and removed as the metadata says.

Called by `cluster`, which tells of every record applied, and by handlers, which look partitions up.
Calls `storage.LogDirectory`, and `opening` for all that is there at the start.

A log that could not be opened or made for want of space or descriptors is tried again when it is asked for.

Source: Kafka's LogManager and the part of ReplicaManager that follows metadata changes.
"""

from collections.abc import Callable, Sequence

import trio

from wirekafka.broker.flushing import Flusher
from wirekafka.broker.opening import Wanted, Watch, log_progress, open_logs, open_one, report_notices
from wirekafka.broker.partition import Partition
from wirekafka.ids import TopicPartition
from wirekafka.metadata import MetadataImage, TopicImage
from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, LogDirectory, PartitionLog, belongs, may_pass

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
        flusher: Flusher | None = None,
        remove_later: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        """`remove_later` is given the folders of deleted topics; without it they are removed at once."""
        self._directory = directory
        self._image = image
        self._log_config = log_config
        self._now_ms = now_ms
        self._flusher = flusher
        self._remove_later = remove_later
        self._by_topic: dict[str, dict[int, Partition | KafkaError]] = {}
        self._names: dict[bytes, str] = {}
        self.generation = 0
        """Grows whenever a partition goes on line, off line or away."""
        self._generations: dict[str, int] = {}
        """What it grew to when that was one of a topic."""
        self._asked: set[TopicPartition] = set()
        """Offline partitions that were asked for since they were last tried."""
        self._asked_bell = trio.Event()
        self._reopening: set[TopicPartition] = set()
        """What is being tried again in a thread, and may not be touched meanwhile."""

    def find(self, topic: str, partition: int) -> Partition:
        """Look a partition up.

        Raises UNKNOWN_TOPIC_OR_PARTITION, or KAFKA_STORAGE_ERROR for one whose log cannot be used.
        """
        found = self._by_topic.get(topic, {}).get(partition)
        if isinstance(found, Partition):
            return found
        if found is not None:
            self.ask_again(topic, partition)
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

    def generation_of(self, topic: str) -> int:
        """Tell by a number whether one of a topic has gone on line or off line since; 0 before the first."""
        return self._generations.get(topic, 0)

    def exists(self, topic: str, partition: int) -> bool:
        """Whether the metadata knows the partition, on line or not."""
        return partition in self._by_topic.get(topic, {})

    def is_online(self, topic: str, partition: int) -> bool:
        return isinstance(self._by_topic.get(topic, {}).get(partition), Partition)

    def online(self) -> list[Partition]:
        """Every partition whose log can be used."""
        found = (partition for topic in self._by_topic.values() for partition in topic.values())
        return [partition for partition in found if isinstance(partition, Partition)]

    def of_topic(self, topic: str) -> list[Partition]:
        """The partitions of a topic. Raises what `find` does, for any of them."""
        return [self.find(topic, index) for index in sorted(self._by_topic.get(topic) or [0])]

    async def open_all(self, *, threads: int = 1, watch: Watch = log_progress) -> None:
        """Open every topic of the metadata; set folders aside that belong to none.

        Done in that many threads, while `watch` shows how far it has come.
        """
        await trio.to_thread.run_sync(self._clear_folders)
        wanted = [
            self._wanted(topic, index) for topic in self._image.topics.values() for index in topic.partitions
        ]
        opened = await open_logs(self._directory, wanted, threads=threads, watch=watch, now_ms=self._now_ms())
        for each, log in opened:
            self._take_up(each.topic_partition, log)

    def _clear_folders(self) -> None:
        """Remove the folders of topics whose deletion was broken off; set aside those of no topic at all."""
        for topic_partition, topic_id in self._directory.partitions():
            if topic_partition.topic == METADATA_TOPIC:
                continue
            topic = self._image.topics.get(topic_partition.topic)
            if (
                topic is None
                or not belongs(topic_id, topic.topic_id)
                or topic_partition.partition not in topic.partitions
            ):
                self._clear(topic_partition, is_deleted=topic_id in self._image.removed_topic_ids)
        self._image.removed_topic_ids.clear()
        self._directory.forget_all_but(
            {
                TopicPartition(name, index)
                for name, topic in self._image.topics.items()
                for index in topic.partitions
            }
            | {TopicPartition(METADATA_TOPIC, 0)}
        )

    def _clear(self, topic_partition: TopicPartition, *, is_deleted: bool) -> None:
        if is_deleted:
            self._delete_folder(topic_partition)
            return
        name = self._directory.set_aside(topic_partition)
        logger.warning("the folder %s belongs to no topic: it is now named %s", topic_partition, name)

    def _delete_folder(self, topic_partition: TopicPartition) -> None:
        try:
            self._directory.delete_partition(topic_partition)
        except KafkaError as error:
            logger.error("%s is deleted, its folder is not: %s", topic_partition, error)

    async def free_names(self) -> None:
        """Have nothing on the disk tell of deleted partitions, whose names may be used again.

        What cannot be done here is done when their folders are made, on the event loop.
        """
        checkpoints = self._directory.checkpoints
        if checkpoints.has_forgotten:
            try:
                await trio.to_thread.run_sync(checkpoints.write_forgotten)
            except KafkaError as error:
                logger.error("what is noted of deleted topics is still on the disk: %s", error)

    def expect(self, topic: TopicImage) -> None:
        """Take note of a topic some of whose partitions may be opened later."""
        self._names[topic.topic_id] = topic.name

    def open_one(self, topic: TopicImage, index: int) -> None:
        """Open a partition of a topic, made if it is not there; one that cannot be read is offline."""
        wanted = self._wanted(topic, index)
        if wanted.topic_partition in self._reopening:
            going = KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"{wanted.topic_partition} is still to be removed."
            )
            self._take_up(wanted.topic_partition, going)
        else:
            self._take_up(wanted.topic_partition, open_one(self._directory, wanted, now_ms=self._now_ms()))

    def _wanted(self, topic: TopicImage, index: int) -> Wanted:
        self.expect(topic)
        return Wanted(TopicPartition(topic.name, index), topic.topic_id, self._log_config(topic.name))

    def _take_up(self, topic_partition: TopicPartition, log: PartitionLog | KafkaError) -> None:
        topic, index = topic_partition
        self.generation += 1
        self._generations[topic] = self.generation
        partitions = self._by_topic.setdefault(topic, {})
        before = partitions.get(index)
        if isinstance(log, KafkaError):
            if not isinstance(before, KafkaError) or before.message != log.message:
                logger.error("%s is offline: %s", topic_partition, log)
            partitions[index] = log
        else:
            if before is not None:
                logger.info("%s is on line now", topic_partition)
            leader_epoch = self._image.topics[topic].partitions[index].leader_epoch
            partitions[index] = Partition(log, leader_epoch, self._flusher)

    # --- trying again

    def ask_again(self, topic: str, index: int) -> None:
        """Have a partition tried again that is offline, if that may help."""
        if self._may_come_back(topic, index):
            self._asked.add(TopicPartition(topic, index))
            self._asked_bell.set()

    def _may_come_back(self, topic: str, index: int) -> bool:
        found = self._by_topic.get(topic, {}).get(index)
        return isinstance(found, KafkaError) and may_pass(found)

    async def reopen_asked(self) -> list[TopicPartition]:
        """Wait for offline partitions to be asked for, and try them again; give those on line now."""
        await self._asked_bell.wait()
        asked, self._asked, self._asked_bell = self._asked, set(), trio.Event()
        wanted = [
            self._wanted(self._image.topics[topic], index)
            for topic, index in sorted(asked)
            if self._may_come_back(topic, index)
        ]
        self._reopening = {each.topic_partition for each in wanted}
        try:
            opened = await open_logs(
                self._directory, wanted, threads=1, watch=log_progress, now_ms=self._now_ms()
            )
        finally:
            self._reopening = set()
        for each, log in opened:
            self._take_up_again(each, log)
        report_notices(self._directory)
        return [each.topic_partition for each in wanted if self.is_online(*each.topic_partition)]

    def _take_up_again(self, wanted: Wanted, log: PartitionLog | KafkaError) -> None:
        """Take up what was tried again, or remove it when its topic was deleted meanwhile."""
        name, index = wanted.topic_partition
        topic = self._image.topics.get(name)
        if topic is not None and topic.topic_id == wanted.topic_id:
            self._take_up(wanted.topic_partition, log)
            return
        if isinstance(log, PartitionLog):
            log.abandon()
        self._delete_folder(wanted.topic_partition)
        if topic is not None and index in topic.partitions:
            self.open_one(topic, index)

    def reconfigure(self, topic: str) -> None:
        """Give the logs of a topic the settings that now hold for it."""
        config = self._log_config(topic)
        for partition in self._by_topic.get(topic, {}).values():
            if isinstance(partition, Partition):
                partition.reconfigure(config)

    def remove_topic(self, topic_id: bytes) -> str:
        """Close a deleted topic's partitions, wake who waits, remove the folders; give its name."""
        name = self._names.pop(topic_id)
        self.generation += 1
        self._generations.pop(name, None)
        self._image.removed_topic_ids.discard(topic_id)
        for index, partition in self._by_topic.pop(name, {}).items():
            topic_partition = TopicPartition(name, index)
            if topic_partition in self._reopening:
                continue  # it is removed when the thread is through with it
            try:
                if isinstance(partition, Partition):
                    partition.mark_deleted()
                    self._directory.delete_log(partition.log, later=self._remove_later)
                else:
                    self._directory.delete_partition(topic_partition, later=self._remove_later)
            except KafkaError as error:
                logger.error("%s is deleted, its folder is not: %s", topic_partition, error)
        return name
