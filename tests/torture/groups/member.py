"""`SimulatedMember`: what clients of both protocols have in common: a life, reading, committing.

`runs` starts, stalls and kills members; `classic` and `consumer` say how they speak to the group.

Source: Kafka's Java consumer: earliest when nothing is committed, positions committed as they were
processed, no reading before the committed offset is known.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import groupby

from tests.torture.groups.times import COMMIT_MS, EXCUSED_MS, GROUP, MAX_POLL_RECORDS
from tests.torture.groups.topics import Partition
from tests.torture.groups.world import Answered, World
from wirekafka.groups import Client
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from wirekafka.protocol.error_codes import ErrorCode


class SimulatedMember(ABC):
    """One client process; a new life begins with `start`."""

    def __init__(self, world: World, name: str, instance_id: str | None) -> None:
        self.world, self.name, self.instance_id = world, name, instance_id
        self.client = Client(name, "/127.0.0.1")
        self.topics: set[str] = set()
        self.alive = False
        self.reading: dict[Partition, int] = {}
        """The partitions it reads, and how far it has come."""
        self.known: dict[str, tuple[bytes, int]] = {}
        self.member_id = ""
        self.heard_ms = 0
        """When the broker last heard of it, at the latest."""
        self.silent_since_ms: int | None = None
        """Since when it is dead, when it went without a word."""
        self._life = 0
        self._frozen_until_ms = 0
        self._polling_stops_until_ms = 0
        self._committed_ms = 0
        self._committed: dict[Partition, int] = {}
        self._is_shaken = False
        self._excused_until_ms = -1
        world.members.append(self)

    # --- life ---

    def start(self, topics: Iterable[str]) -> None:
        """Begin a life that reads these topics."""
        self.topics, self.alive, self.silent_since_ms = set(topics), True, None
        self._frozen_until_ms = self._polling_stops_until_ms = 0
        self._is_shaken, self._excused_until_ms = False, -1
        if self.world.append_error is not None:
            self.appends_failed()
        self.world.tell(f"{self} starts, reads {sorted(self.topics)}")
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Begin to poll and to beat."""

    def end(self) -> None:
        """End this life, without a word to anyone."""
        self.alive = False
        self._life += 1
        self.stop_reading(list(self.reading))
        self.world.hang_up(self)

    def crash(self) -> None:
        self.world.tell(f"{self} crashes")
        self.end()
        self.silent_since_ms = self.world.now_ms

    @abstractmethod
    def leave(self) -> None:
        """End this life politely."""

    def freeze(self, duration_ms: int) -> None:
        """Do nothing at all for a while, and then go on as if nothing had been."""
        self.world.tell(f"{self} freezes for {duration_ms} ms")
        self._frozen_until_ms = self.world.now_ms + duration_ms
        self.excuse_for(duration_ms)

    def stop_polling(self, duration_ms: int) -> None:
        """Be busy with what was polled; heartbeats go on."""
        self.world.tell(f"{self} stops polling for {duration_ms} ms")
        self._polling_stops_until_ms = self.world.now_ms + duration_ms
        self.excuse_for(duration_ms)

    def later(self, delay_ms: int, what: Callable[[], None]) -> None:
        """Do something after a while, in this life; when frozen then, after that."""
        life = self._life

        def due() -> None:
            if self._life != life:
                return
            if self.is_frozen:
                self.world.schedule(self._frozen_until_ms - self.world.now_ms, due)
            else:
                what()

        self.world.schedule(delay_ms, due)

    def of_this_life(self, answered: Answered) -> Answered:
        """Take the answer only if it comes in this life."""
        life = self._life
        return lambda response: answered(response) if self._life == life else None

    @property
    def is_frozen(self) -> bool:
        return self.world.now_ms < self._frozen_until_ms

    @property
    def polls(self) -> bool:
        return self.world.now_ms >= self._polling_stops_until_ms

    @property
    def polling_stops_for_ms(self) -> int:
        return max(0, self._polling_stops_until_ms - self.world.now_ms)

    # --- what may be held against the broker ---

    def excuse(self) -> None:
        """Grant that the group may drop the member, until all is well between the two again."""
        self._is_shaken = True

    def excuse_for(self, duration_ms: int) -> None:
        """Grant that the group may drop the member for so long, and as long again as it takes to notice."""
        self._excused_until_ms = max(self._excused_until_ms, self.world.now_ms + duration_ms + EXCUSED_MS)

    def is_well(self) -> None:
        """Take note that a heartbeat was answered with no error."""
        self._is_shaken = False

    def dropped(self, code: ErrorCode) -> None:
        """Take note that the group does not know the member any more."""
        self.world.tell(f"{self} is dropped: {code.name}")
        if self.world.now_ms > self._excused_until_ms and not self._is_shaken:
            self.world.find(f"{self} was alive and well, and is dropped with {code.name}")

    def broker_restarted(self) -> None:
        """Take note that the broker has lost what it did not write."""

    def before_sending(self) -> None:
        """Do what is due before the next request goes out."""

    def appends_failed(self) -> None:
        """Take note that the broker could write nothing for a while."""

    def group_converted(self) -> None:
        """Take note that the group speaks another protocol now."""

    def removed(self) -> None:
        """Take note that a consumer group has removed the member, which does not know of it yet."""

    @abstractmethod
    def is_counted(self) -> bool:
        """Whether the broker holds it for a member that knows what it may read."""

    @abstractmethod
    def resubscribe(self, topics: Iterable[str]) -> None:
        """Read these topics from now on."""

    # --- reading ---

    def read_all(self) -> None:
        """Process a few records of every partition, if there are any."""
        for partition, position in self.reading.items():
            topic = self.world.topics.topic(partition.topic_id)
            if topic is None or partition.number >= len(topic.ends):
                continue  # deleted, or made anew with fewer partitions than the plan was for
            if position > topic.processed[partition.number]:
                self.world.find(
                    f"{self} reads {partition.number} of {topic.name} from {position}, and what is between "
                    f"{topic.processed[partition.number]} and that was never processed"
                )
            end = min(position + MAX_POLL_RECORDS, topic.ends[partition.number])
            self.reading[partition] = end
            topic.processed[partition.number] = max(end, topic.processed[partition.number])

    def start_reading(self, partitions: Iterable[Partition], member_epoch: int | None) -> bool:
        """Read these from where the group has come to; False when that could not be learnt.

        A member of the classic protocol says neither its id nor an epoch.
        """
        wanted = sorted(set(partitions) - set(self.reading))
        asked = [
            OffsetFetchRequestTopics(
                name=self._name_of(topic_id),
                topic_id=topic_id,
                partition_indexes=[one.number for one in ones],
            )
            for topic_id, ones in groupby(wanted, key=lambda one: one.topic_id)
            if self._name_of(topic_id)
        ]
        request = OffsetFetchRequestGroup(
            group_id=GROUP,
            member_id=None if member_epoch is None else self.member_id,
            member_epoch=-1 if member_epoch is None else member_epoch,
            topics=asked,
        )
        found = self.world.shard.fetch_offsets(request, by_topic_id=True)
        if found.error_code != ErrorCode.NONE:
            return False
        for topic in found.topics:
            for one in topic.partitions:
                partition = Partition(topic.topic_id, one.partition_index)
                self.world.start_reading(self, partition)
                self.reading[partition] = max(one.committed_offset, 0)
        return True

    def stop_reading(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            if self.reading.pop(partition, None) is not None:
                self.world.stop_reading(self, partition)

    def _name_of(self, topic_id: bytes) -> str:
        topic = self.world.topics.topic(topic_id)
        return "" if topic is None else topic.name

    def commit(self, member_epoch: int, answered: Callable[[ErrorCode], None]) -> None:
        """Commit how far every partition was processed; the greatest error of all is the answer.

        With nothing to commit it is answered at once; with a lost connection, by NETWORK_EXCEPTION.
        """
        self._committed_ms = self.world.now_ms
        if not self.reading or self.reading == self._committed:
            answered(ErrorCode.NONE)
            return
        committing = dict(self.reading)
        request = OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=member_epoch,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            topics=[self._committed_topic(*pair) for pair in self._by_topic()],
        )

        def code_of(response: object | None) -> None:
            if response is None:
                answered(ErrorCode.NETWORK_EXCEPTION)
            if isinstance(response, OffsetCommitResponse):
                codes = {one.error_code for topic in response.topics for one in topic.partitions}
                if codes <= {0}:
                    self._committed = committing
                answered(ErrorCode(max(codes - _OF_TOPICS, default=0)))

        self.world.send(
            self,
            lambda ticket: self.world.shard.commit_offsets(
                request,
                ticket=ticket,
                now_ms=self.world.now_ms,
                group_id_not_found_known=True,
                by_topic_id=True,
                partition_exists=lambda topic, partition: topic in self.world.topics.by_name,
            ),
            code_of,
        )

    @property
    def commit_is_due(self) -> bool:
        return self.world.now_ms >= self._committed_ms + COMMIT_MS

    def _by_topic(self) -> list[tuple[bytes, list[Partition]]]:
        ordered = sorted(self.reading)
        return [(topic_id, list(ones)) for topic_id, ones in groupby(ordered, key=lambda one: one.topic_id)]

    def _committed_topic(self, topic_id: bytes, ones: list[Partition]) -> OffsetCommitRequestTopic:
        return OffsetCommitRequestTopic(
            name=self._name_of(topic_id),
            topic_id=topic_id,
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=one.number,
                    committed_offset=self.reading[one],
                    committed_leader_epoch=-1,
                    committed_metadata="",
                )
                for one in ones
            ],
        )

    def __repr__(self) -> str:
        instance = f" ({self.instance_id})" if self.instance_id else ""
        return f"{self.name}{instance}"


_OF_TOPICS = {int(ErrorCode.UNKNOWN_TOPIC_ID), int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)}
