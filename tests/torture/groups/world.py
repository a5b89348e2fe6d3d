"""`World`: a group shard, its log, the topics, the network and the clock of one random run.

`runs` makes a world and troubles it; simulated members send their requests through `send` and have
their time told by `later`. Everything that goes wrong is drawn from one seed.

Source: the order of things in `broker.journal`; what a TCP connection may do to a request.
"""

import heapq
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.support.playbook import Playbook, newest_of_each_key
from tests.torture.groups import judging
from tests.torture.groups.topics import Partition, SimulatedTopics
from wirekafka.groups import DeletedTopic, GroupConfig, GroupRecord, GroupShard, records
from wirekafka.machine import Decision, Ticket
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

if TYPE_CHECKING:
    from tests.torture.groups.member import SimulatedMember

Answered = Callable[[object | None], None]
"""Takes the answer to a request, or None when the connection was lost."""
Ask = Callable[[Ticket], Decision[GroupRecord]]

_RECONNECT_MS = 150


class Finding(AssertionError):
    """Something that must not be."""


class World(Playbook[GroupRecord]):
    """One simulated cluster with one group."""

    def __init__(self, seed: int, config: GroupConfig) -> None:
        self.random = random.Random(seed)
        self.config = config
        self.topics = SimulatedTopics()
        self.restarted_ms = 0
        self.shard = self._new_shard()
        super().__init__(self.shard, records)
        self.shard.loaded(0)
        self.judge = judging.Judge(self)
        self.readers: dict[Partition, set[SimulatedMember]] = {}
        self.members: list[SimulatedMember] = []
        self.loss = 0.0
        """How likely it is that a request, or its answer, is lost with its connection."""
        self.story: list[str] = []
        """What happened, a line each, for who must understand a finding."""
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._scheduled = 0
        self._sent: dict[Ticket, tuple[SimulatedMember, Answered]] = {}

    def _new_shard(self) -> GroupShard:
        return GroupShard(0, self.config, self.topics)

    # --- time ---

    def schedule(self, delay_ms: int, event: Callable[[], None]) -> None:
        """Let something happen after a while."""
        self._scheduled += 1
        heapq.heappush(self._events, (self.now_ms + delay_ms, self._scheduled, event))

    def pass_time(self, duration_ms: int) -> None:
        """Let members, deadlines and troubles have their turns for so long."""
        until_ms = self.now_ms + duration_ms
        while self._events and self._events[0][0] <= until_ms:
            due_ms, _, event = heapq.heappop(self._events)
            self.at(max(due_ms, self.now_ms))
            event()
        self.at(max(until_ms, self.now_ms))

    def tell(self, text: str) -> None:
        self.story.append(f"{self.now_ms:>7} {text}")

    # --- the network ---

    def send(self, member: "SimulatedMember", ask: Ask, answered: Answered) -> None:
        """Send a member's request; the connection may be lost on the way there, or back."""
        member.before_sending()
        answered = member.of_this_life(answered)
        if self.random.random() < self.loss:
            self.disconnect(member, answered)
            return
        ticket = self.draw()
        self._sent[ticket] = member, answered
        self.run(ask(ticket))

    def disconnect(self, member: "SimulatedMember", answered: Answered) -> None:
        """Lose the member's connection with a request on it."""
        member.excuse()
        self._lose(member, answered)

    def _lose(self, member: "SimulatedMember", answered: Answered) -> None:
        member.later(_RECONNECT_MS, lambda: answered(None))

    def answered(self, ticket: Ticket, response: object) -> None:
        """Bring an answer to the member that waits for it, if the network will."""
        member, answered = self._sent.pop(ticket)
        if self.random.random() < self.loss:
            self.disconnect(member, answered)
        else:
            member.later(self.random.randrange(1, 20), lambda: answered(response))

    def hang_up(self, member: "SimulatedMember") -> None:
        """Lose all that the member waits for; the broker may notice."""
        for ticket in [ticket for ticket, (who, _) in self._sent.items() if who is member]:
            if self.random.random() < 0.5:
                del self._sent[ticket]
                self.waiting.remove(ticket)
                self.shard.forget(ticket)

    # --- the machine ---

    def run(self, decision: Decision[GroupRecord]) -> None:
        """As the journal does, and with a look at the whole group afterwards."""
        if decision.records and self.append_error is not None:
            self.tell(f"could not write {len(decision.records)} records")
            self.judge.not_written(decision.records)
        super().run(decision)
        self.judge.look()

    def written(self, record: GroupRecord) -> None:
        self.judge.written(record)

    def fail_appends(self, duration_ms: int) -> None:
        """Let no record be written for a while."""
        self.tell(f"appends fail for {duration_ms} ms")
        self.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
        self.schedule(duration_ms, self._mend_appends)
        for member in self.members:
            member.appends_failed()

    def _mend_appends(self) -> None:
        self.append_error = None

    def restart(self, *, after_ms: int, compacted: bool) -> None:
        """Kill the broker, and start it from its log some time later."""
        self.tell(f"broker killed; back after {after_ms} ms{', log compacted' if compacted else ''}")
        if compacted:
            self.log = newest_of_each_key(self.log)
        before = self.shard
        self.shard = self._new_shard()
        self.append_error = None
        self.replay(self.shard)
        self.judge.restarted(before, self.shard)
        lost, self._sent = self._sent, {}
        self.now_ms += after_ms
        self.restarted_ms = self.now_ms
        self.shard.loaded(self.now_ms)
        for member, answered in lost.values():
            self._lose(member, answered)
        for member in self.members:
            member.broker_restarted()
        self.judge.look()

    # --- topics ---

    def create_topic(self, name: str, partition_count: int) -> None:
        self.tell(f"topic {name} created with {partition_count} partitions")
        self.topics.create(name, partition_count)
        self._topics_changed(name)

    def delete_topic(self, name: str) -> None:
        """Delete a topic; what was committed to it goes with it."""
        self.tell(f"topic {name} deleted")
        topic = self.topics.delete(name)
        for index in range(len(topic.ends)):
            self.readers.pop(Partition(topic.topic_id, index), None)
        self.run(self.shard.delete_offsets_of_topics([DeletedTopic(name, topic.topic_id)]))
        self._topics_changed(name)

    def grow_topic(self, name: str, partition_count: int) -> None:
        self.tell(f"topic {name} has {partition_count} partitions")
        self.topics.grow(name, partition_count)
        self._topics_changed(name)

    def produce(self) -> None:
        """Append a few records to every topic."""
        for topic in self.topics.by_name.values():
            for index in range(len(topic.ends)):
                topic.ends[index] += self.random.randrange(3)

    def _topics_changed(self, name: str) -> None:
        self.shard.topics_changed([name], self.now_ms)

    # --- reading ---

    def start_reading(self, member: "SimulatedMember", partition: Partition) -> None:
        """Have a member take a partition up; nobody may be at it whom the group still counts."""
        readers = self.readers.setdefault(partition, set())
        for other in readers:
            self.judge.both_read(other, member, partition)
        readers.add(member)

    def stop_reading(self, member: "SimulatedMember", partition: Partition) -> None:
        self.readers.get(partition, set()).discard(member)

    def find(self, sentence: str) -> None:
        """Stop the run with a finding."""
        raise Finding(f"at {self.now_ms} ms: {sentence}")
