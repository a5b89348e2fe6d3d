"""Group id to the journal of its shard: one machine for each partition of `__consumer_offsets`.

Called by the group handlers, and by `cluster` as that topic is made or removed. The machine is imported
for the first shard: until then no broker needs it.

Source: Kafka's GroupCoordinatorService and CoordinatorRuntime.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import TYPE_CHECKING, TypeVar

from wirekafka.broker.alarms import Alarms
from wirekafka.broker.clock import Clock
from wirekafka.broker.firebreak import contained
from wirekafka.broker.group_settings import group_config
from wirekafka.broker.journal import Interruption, Journal
from wirekafka.broker.partition import Partition
from wirekafka.groups import OverridesOf, Topics, at_pace, partition_for
from wirekafka.machine import Decision, Ticket
from wirekafka.metadata import Settings
from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage

if TYPE_CHECKING:
    from wirekafka.groups import GroupRecord, GroupShard

logger = get_logger("broker")

OFFSETS_TOPIC = "__consumer_offsets"
_PACE_HOLDS_MS = 1000
_ANEW_EVERY_MS = 3_600_000
"""Longer than any session: what fails again and again may not keep all else from falling due."""

T = TypeVar("T")


class Coordination:
    """The consumer groups of this broker."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        alarms: Alarms,
        *,
        topics: Topics,
        overrides_of: OverridesOf,
        ask_again: Callable[[str, int], None],
    ) -> None:
        """`ask_again` is told of a partition that is missed, by topic and index."""
        self._config = group_config(settings)
        self._at_pace = self._config
        self._pace_due_ms = 0
        self._clock = clock
        self._alarms = alarms
        self._topics = topics
        self._overrides_of = overrides_of
        self._ask_again = ask_again
        self._shards: dict[int, tuple[GroupShard, Journal[GroupRecord]] | None] = {}

    @property
    def shards(self) -> "Iterable[GroupShard]":
        """Every shard, for listing groups."""
        return [shard for shard, _ in self._open()]

    @property
    def holds_heartbeats(self) -> bool:
        """Whether the answer to a Heartbeat may be held back at present."""
        return self._at_pace.heartbeat_hold_max_ms > 0

    def open_shard(self, index: int, partition: Partition) -> None:
        """Load a partition of `__consumer_offsets` and take up the groups it holds.

        Raises KafkaError or MalformedMessage when it cannot be read. After what nobody foresaw it is left
        out.
        """
        with contained(
            f"loading the groups of {partition.topic_partition}",
            lambda: self.leave_out_shard(index),
            foreseen=(KafkaError, MalformedMessage),
        ):
            self._load_shard(index, partition)

    def _start_anew(self, index: int, partition: Partition) -> None:
        """Take up groups from their log again, after a fault that may have left them half changed.

        They are as after a restart, and every session begins anew: what failed is not due again at once.
        """
        with contained(
            f"loading the groups of {partition.topic_partition}", lambda: self.leave_out_shard(index)
        ):
            self._load_shard(index, partition, may_start_anew_ms=self._clock.now_ms() + _ANEW_EVERY_MS)

    def _load_shard(self, index: int, partition: Partition, may_start_anew_ms: int = 0) -> None:
        from wirekafka.groups import GroupShard, records

        shard = GroupShard(index, self._at_pace, self._topics, self._overrides_of)
        self._tell_the_time(shard)
        journal = Journal(
            shard,
            records,
            partition,
            clock=self._clock,
            alarms=self._alarms,
            start_anew=lambda: self._start_anew(index, partition),
            may_start_anew_ms=may_start_anew_ms,
        )
        count = journal.load()
        shard.loaded(self._clock.now_ms())
        journal.set_alarm()
        if count:
            logger.info("loaded %d records of %s", count, partition.topic_partition)
        self._shards[index] = (shard, journal)

    def leave_out_shard(self, index: int) -> None:
        """Answer COORDINATOR_NOT_AVAILABLE for the groups of a partition that cannot be read."""
        self._shards[index] = None

    def close_all(self) -> None:
        """Forget every group: the offsets topic has been deleted."""
        for _, journal in self._open():
            journal.close()
        self._shards.clear()

    def look(self, group_id: str) -> "GroupShard":
        """The shard that holds a group, to be read only. Raises NOT_COORDINATOR as `ask` does."""
        return self._find(group_id)[0]

    def check_fits(self, group_id: str, said_bytes: int) -> None:
        """Refuse what a member says of itself when it is more than a record of its group can hold.

        Raises UNKNOWN_SERVER_ERROR, as it would be answered after all of it had been looked at.
        """
        most_bytes = self._find(group_id)[1].most_bytes
        if said_bytes > most_bytes:
            raise KafkaError(
                ErrorCode.UNKNOWN_SERVER_ERROR,
                f"A member of group '{group_id}' says {said_bytes} bytes of itself: {OFFSETS_TOPIC} takes "
                f"{most_bytes} (max.message.bytes).",
            )

    def tell(self, group_id: str, hear: "Callable[[GroupShard, int], T]") -> T:
        """Let the group's shard hear what needs no record and no waiting, such as a heartbeat."""
        shard, journal = self._find(group_id)
        self._keep_pace()
        self._tell_the_time(shard)
        answer = hear(shard, self._clock.now_ms())
        journal.set_alarm()
        return answer

    async def ask(
        self, group_id: str, decide: "Callable[[GroupShard, Ticket, int], Decision[GroupRecord]]"
    ) -> object:
        """Let the group's shard decide, carry it out, and wait for its reply.

        Before that, now and then, the settings of all shards are made to suit how many members there are.
        Raises NOT_COORDINATOR when there is no offsets topic yet: clients then look for their coordinator,
        which makes it.
        """
        shard, journal = self._find(group_id)
        self._keep_pace()
        self._tell_the_time(shard)
        return await journal.ask(lambda ticket, now_ms: decide(shard, ticket, now_ms), shard.forget)

    async def ask_until(
        self,
        group_id: str,
        decide: "Callable[[GroupShard, Ticket, int], Decision[GroupRecord]]",
        interrupted: Callable[[], Awaitable[None]],
        decide_then: "Callable[[GroupShard, int], Decision[GroupRecord]]",
    ) -> object:
        """Do as `ask` does, and when `interrupted` returns before there is a reply, ask for one."""
        shard, journal = self._find(group_id)
        self._keep_pace()
        self._tell_the_time(shard)

        def decide_later(now_ms: int) -> "Decision[GroupRecord]":
            self._tell_the_time(shard)
            return decide_then(shard, now_ms)

        interruption = Interruption(interrupted, decide_later)
        return await journal.ask(
            lambda ticket, now_ms: decide(shard, ticket, now_ms), shard.forget, interruption
        )

    def reconfigure(self, settings: Settings) -> None:
        """Let groups go by what holds for the broker now, from their next decision on."""
        self._config = group_config(settings)
        self._find_pace()

    def topics_changed(self, names: Collection[str]) -> None:
        """Let groups that read these topics see what became of them: made, deleted or grown."""
        for shard, _ in self._open():
            shard.topics_changed(names, self._clock.now_ms())

    def topic_deleted(self, name: str, topic_id: bytes) -> None:
        """Drop what groups have committed for a topic that is no more."""
        from wirekafka.groups import DeletedTopic

        for shard, journal in self._open():
            journal.carry_out(shard.delete_offsets_of_topics([DeletedTopic(name, topic_id)]))

    def _keep_pace(self) -> None:
        """Count the members now and then, and have them served as suits their number."""
        now_ms = self._clock.now_ms()
        if now_ms >= self._pace_due_ms:
            self._pace_due_ms = now_ms + _PACE_HOLDS_MS
            self._find_pace()

    def _find_pace(self) -> None:
        config = at_pace(
            self._config,
            classic_members=sum(shard.classic_member_count for shard in self.shards),
            consumer_members=sum(shard.consumer_member_count for shard in self.shards),
        )
        if config != self._at_pace:
            self._at_pace = config
            for shard in self.shards:
                shard.config = config

    def _tell_the_time(self, shard: "GroupShard") -> None:
        shard.wall_lead_ms = self._clock.wall_ms() - self._clock.now_ms()

    def _open(self) -> "list[tuple[GroupShard, Journal[GroupRecord]]]":
        return [entry for entry in self._shards.values() if entry is not None]

    def _find(self, group_id: str) -> "tuple[GroupShard, Journal[GroupRecord]]":
        if not self._shards:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, f"{OFFSETS_TOPIC} has not been made yet.")
        index = partition_for(group_id, len(self._shards))
        found = self._shards.get(index)
        if found is None:
            self._ask_again(OFFSETS_TOPIC, index)
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"Group '{group_id}' has its log offline.")
        return found
