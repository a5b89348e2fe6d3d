"""`ClassicMember`: a simulated client of the classic protocol.

Made by `runs`; speaks through `World.send`.

Source: Kafka's Java AbstractCoordinator and ConsumerCoordinator: what each error makes a client do,
and that an eager one gives all up before it joins, a cooperative one what it lost after it synced.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.torture.groups import plans
from tests.torture.groups.member import SimulatedMember
from tests.torture.groups.plans import Named, Subscription
from tests.torture.groups.times import GROUP, HEARTBEAT_MS, POLL_MS, REBALANCE_MS, RETRY_MS, SESSION_MS
from tests.torture.groups.topics import Partition
from tests.torture.groups.world import World
from wirekafka.groups import GroupRecord
from wirekafka.machine import Decision, Ticket
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.apis.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest, MemberIdentity
from wirekafka.protocol.apis.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from wirekafka.protocol.error_codes import ErrorCode

RANGE, COOPERATIVE = "range", "cooperative-sticky"

_NOWHERE: Named = ("", 0)
"""A partition of a topic that is gone."""
_LOST_GENERATION = (ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID)


@dataclass(frozen=True, slots=True)
class Habits:
    """What kind of client it is: its protocols, and what its version of JoinGroup knows."""

    protocols: tuple[str, ...] = (RANGE,)
    member_id_required: bool = True
    skip_assignment_known: bool = True

    @property
    def is_cooperative(self) -> bool:
        """A client is so when all of its assignors are; KIP-429's first rolling bounce is eager."""
        return self.protocols == (COOPERATIVE,)


class ClassicMember(SimulatedMember):
    """Joins, syncs, beats; rejoins when told to."""

    def __init__(self, world: World, name: str, instance_id: str | None, habits: Habits) -> None:
        super().__init__(world, name, instance_id)
        self.habits = habits
        self.generation_id = -1
        self.is_stable = False
        self._must_join = False
        self._is_converted = self._is_removed = False
        """Whether the group was converted, or has removed it, since it last synced."""
        self._is_joining = False
        """From its JoinGroup to the answer of its SyncGroup."""
        self._held: HeartbeatRequest | None = None
        self._is_leader = False
        self._group_reads: frozenset[str] = frozenset()
        self._planned_for: dict[str, tuple[bytes, int]] = {}

    def begin(self) -> None:
        self._forget_generation()
        self.member_id, self._held, self._is_joining = "", None, False
        self.later(self.world.random.randrange(POLL_MS), self._poll)
        self.later(HEARTBEAT_MS, self._beat)

    def broker_restarted(self) -> None:
        """A generation that was not complete, and ids that were only promised, are not in the log."""
        self.excuse()

    def appends_failed(self) -> None:
        """A group that was never written may be forgotten."""
        self.excuse()

    def group_converted(self) -> None:
        """The group's epoch, which becomes the generation, may be ahead of the member's.

        And a cooperative member may still read what the leader has just taken from it: Kafka takes it for
        given up at the conversion, since the classic protocol has no word for that.
        """
        self.excuse()
        self._is_converted = True

    def removed(self) -> None:
        """A consumer group lets a classic member join under an id that it removed (getOrMaybeCreateMember).

        Then a client does not hear that it lost all meanwhile. One that goes on from its own old positions
        processes records twice, with Kafka too; this one asks for them, so that a commit never goes back.
        """
        self._is_removed = True

    def is_counted(self) -> bool:
        judge = self.world.judge
        if self._is_converted or self._is_removed:
            return False
        return self.member_id in judge.member_ids() and self.generation_id == judge.epoch_of(self.member_id)

    def resubscribe(self, topics: Iterable[str]) -> None:
        self.topics = set(topics)
        self._must_join = True

    # --- the thread that polls ---

    def _poll(self) -> None:
        if not self.polls:
            self._stop_polling()
            return
        self.known = self.world.topics.counts()
        if self.is_stable:
            self._must_join |= self._is_leader and self._planned_for != self._relevant()
        if self._must_join and not self._is_joining:
            self._rejoin()
        elif self.is_stable:
            if self.commit_is_due:
                self.commit(self.generation_id, self._heed_commit)
            self.read_all()
        self.later(POLL_MS, self._poll)

    def _stop_polling(self) -> None:
        """Be away. Whoever is so for max.poll.interval.ms leaves, if a dynamic member, and joins anew."""
        away_ms = self.polling_stops_for_ms
        if away_ms > REBALANCE_MS:
            self.later(REBALANCE_MS, self._away_too_long)
        self.later(away_ms, self._poll)

    def _away_too_long(self) -> None:
        if self.instance_id is None:
            self._send_leave()
            self.member_id = ""
        self._lose_generation()

    def _heed_commit(self, code: ErrorCode) -> None:
        if code in _LOST_GENERATION:
            self._lost(code)
        elif code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._must_join = True
        elif code is ErrorCode.FENCED_INSTANCE_ID:
            self._fenced(code)

    # --- joining ---

    def _rejoin(self) -> None:
        """Commit, give up what must be given up, and join; who hears that it is out, has lost all before."""
        self._must_join, self._is_joining = False, True
        if self.is_stable:
            self.is_stable = False
            self.commit(self.generation_id, self._prepare_join)
        else:
            self._prepare_join(ErrorCode.NONE)

    def _prepare_join(self, code: ErrorCode) -> None:
        if not self._is_joining:
            return
        if code in _LOST_GENERATION or code is ErrorCode.FENCED_INSTANCE_ID:
            self._heed_commit(code)
            return
        if not self.habits.is_cooperative:
            self.stop_reading(list(self.reading))
        self._join()

    def _join(self) -> None:
        metadata = plans.written_subscription(self._subscription())
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=n, metadata=metadata) for n in self.habits.protocols],
        )
        self.world.send(
            self,
            lambda ticket: self.world.shard.join(
                request,
                ticket=ticket,
                now_ms=self.world.now_ms,
                client=self.client,
                new_member_uuid=str(ticket),
                member_id_required=self.habits.member_id_required,
                skip_assignment_known=self.habits.skip_assignment_known,
            ),
            self._joined,
        )

    def _subscription(self) -> Subscription:
        owned = {self._named(one) for one in self.reading} if self.habits.is_cooperative else set()
        return Subscription(frozenset(self.topics), frozenset(owned), self.generation_id)

    def _joined(self, response: object | None) -> None:
        if not isinstance(response, JoinGroupResponse):
            self._join_again()
            return
        code = ErrorCode(response.error_code)
        match code:
            case ErrorCode.NONE:
                self.member_id, self.generation_id = response.member_id, response.generation_id
                self._sync(response)
            case ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = response.member_id
                self._join()
            case ErrorCode.FENCED_INSTANCE_ID:
                self._fenced(code)
            case ErrorCode.UNKNOWN_MEMBER_ID | ErrorCode.ILLEGAL_GENERATION:
                self._lost(code)
            case _:
                self._retry(code)

    def _retry(self, code: ErrorCode) -> None:
        if code not in _RETRIABLE:
            self.world.find(f"{self} is answered with {code.name}, which has no place here")
        self._join_again()

    def _join_again(self) -> None:
        self.later(RETRY_MS, self._end_joining)

    def _end_joining(self) -> None:
        self._must_join, self._is_joining = True, False

    # --- syncing ---

    def _sync(self, joined: JoinGroupResponse) -> None:
        self._is_leader = joined.leader == joined.member_id
        assignments = {}
        if self._is_leader:
            subscriptions = {m.member_id: plans.read_subscription(m.metadata) for m in joined.members}
            self._group_reads = frozenset[str]().union(*(one.topics for one in subscriptions.values()))
            self._planned_for = self._relevant()
            if not joined.skip_assignment:
                make = plans.cooperative if joined.protocol_name == COOPERATIVE else plans.eager
                assignments = make(subscriptions, {n: count for n, (_, count) in self._planned_for.items()})
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=joined.protocol_type,
            protocol_name=joined.protocol_name,
            assignments=[
                SyncGroupRequestAssignment(member_id=m, assignment=plans.written_assignment(a))
                for m, a in assignments.items()
            ],
        )
        self.world.send(self, lambda ticket: self._ask_sync(request, ticket), self._synced)

    def _ask_sync(self, request: SyncGroupRequest, ticket: Ticket) -> Decision[GroupRecord]:
        return self.world.shard.sync(request, ticket=ticket, now_ms=self.world.now_ms, protocol_required=True)

    def _synced(self, response: object | None) -> None:
        if not isinstance(response, SyncGroupResponse):
            self._join_again()
            return
        code = ErrorCode(response.error_code)
        match code:
            case ErrorCode.NONE:
                self._take(plans.read_assignment(response.assignment))
            case ErrorCode.FENCED_INSTANCE_ID:
                self._fenced(code)
            case ErrorCode.UNKNOWN_MEMBER_ID | ErrorCode.ILLEGAL_GENERATION:
                self._lost(code)
            case _:
                self._retry(code)

    def _take(self, assigned: set[Named]) -> None:
        """Begin with what was assigned; a cooperative member that gives something up joins again."""
        self.known = self.world.topics.counts()
        partitions = {
            Partition(self.known[topic][0], index) for topic, index in assigned if topic in self.known
        }
        gone = set(self.reading) - partitions
        self.stop_reading(list(self.reading) if self._is_removed else gone)
        self.is_stable, self._is_joining = True, False
        self._is_converted = self._is_removed = False
        self._must_join |= bool(gone)
        if not self.start_reading(partitions, None):
            self._must_join = True

    # --- heartbeats ---

    def _beat(self) -> None:
        if self.is_stable and self.member_id and self._held is None:
            generation = self.member_id, self.generation_id
            request = self._held = HeartbeatRequest(
                group_id=GROUP,
                generation_id=self.generation_id,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
            )

            def heard(response: object | None) -> None:
                self._held = None
                # What is said of a generation that was left meanwhile is of no use.
                if isinstance(response, HeartbeatResponse) and self._is_still_in(generation):
                    self._heard(ErrorCode(response.error_code))

            self.world.send(self, lambda ticket: self._ask_heartbeat(request, ticket), heard)
        self.later(HEARTBEAT_MS, self._beat)

    def _is_still_in(self, generation: tuple[str, int]) -> bool:
        return self.is_stable and generation == (self.member_id, self.generation_id)

    def _ask_heartbeat(self, request: HeartbeatRequest, ticket: Ticket) -> Decision[GroupRecord]:
        return self.world.shard.hold_heartbeat(request, ticket=ticket, now_ms=self.world.now_ms)

    def before_sending(self) -> None:
        """More on a connection is the sign for the broker to hold back the answer no longer."""
        if self._held is not None:
            request, self._held = self._held, None
            self.world.run(self.world.shard.release_heartbeat(request, now_ms=self.world.now_ms))

    def _heard(self, code: ErrorCode) -> None:
        match code:
            case ErrorCode.NONE:
                self.is_well()
            case ErrorCode.REBALANCE_IN_PROGRESS:
                self._must_join = True
            case ErrorCode.UNKNOWN_MEMBER_ID | ErrorCode.ILLEGAL_GENERATION:
                self._lost(code)
            case ErrorCode.FENCED_INSTANCE_ID:
                self._fenced(code)
            case _:
                if code not in _RETRIABLE:
                    self.world.find(f"{self} hears {code.name} to a heartbeat")

    # --- going ---

    def leave(self) -> None:
        self.world.tell(f"{self} leaves")
        if self.is_stable:
            self.commit(self.generation_id, lambda code: None)
        if self.instance_id is None and self.member_id:
            self._send_leave()
        self.end()
        self.silent_since_ms = self.world.now_ms

    def _send_leave(self) -> None:
        request = LeaveGroupRequest(
            group_id=GROUP, members=[MemberIdentity(member_id=self.member_id, group_instance_id=None)]
        )
        self.world.send(
            self,
            lambda ticket: self.world.shard.leave(
                request, ticket=ticket, now_ms=self.world.now_ms, one_member=False
            ),
            lambda response: None,
        )

    def _lost(self, code: ErrorCode) -> None:
        self.dropped(code)
        if code is ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        self._lose_generation()

    def _lose_generation(self) -> None:
        self.stop_reading(list(self.reading))
        self._forget_generation()

    def _forget_generation(self) -> None:
        self.generation_id, self.is_stable = -1, False
        self._must_join, self._is_joining = True, False

    def _fenced(self, code: ErrorCode) -> None:
        """Another process has this one's place: give up for good."""
        self.dropped(code)
        self.end()

    # --- topics ---

    def _relevant(self) -> dict[str, tuple[bytes, int]]:
        """What of the topics matters to a leader's plan."""
        return {name: one for name, one in self.known.items() if name in self._group_reads}

    def _named(self, partition: Partition) -> Named:
        for name, (topic_id, _) in self.known.items():
            if topic_id == partition.topic_id:
                return name, partition.number
        return _NOWHERE


_RETRIABLE = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.REBALANCE_IN_PROGRESS,
)
