"""`ConsumerMember`: a simulated client of the consumer protocol (KIP-848).

Made by `runs`; speaks through `World.send`.

Source: Kafka's Java ConsumerMembershipManager and ConsumerHeartbeatRequestManager: one heartbeat at a
time, everything said again after an error, what is lost given up before what is won is taken, and the
acknowledgement sent as soon as that is done.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from tests.torture.groups.member import SimulatedMember
from tests.torture.groups.times import GROUP, HEARTBEAT_MS, POLL_MS, REBALANCE_MS, RETRY_MS
from tests.torture.groups.topics import Partition
from tests.torture.groups.world import World
from wirekafka.groups import GroupRecord
from wirekafka.machine import Decision, Ticket
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatTopicPartitions,
)
from wirekafka.protocol.error_codes import ErrorCode

LEAVING, LEAVING_FOR_A_WHILE = -1, -2

_LOST = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,  # it was dropped, and then the group was downgraded
)
_RETRIABLE = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNRELEASED_INSTANCE_ID,
)
_OF_NO_CONCERN = (
    ErrorCode.NONE,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.STALE_MEMBER_EPOCH,
    *_LOST,
    *_RETRIABLE,
)


@dataclass(frozen=True, slots=True)
class Manners:
    """How it subscribes, and who is to assign."""

    by_regex: bool = False
    server_assignor: str | None = None


class ConsumerMember(SimulatedMember):
    """Joins, reconciles and beats."""

    def __init__(self, world: World, name: str, instance_id: str | None, manners: Manners) -> None:
        super().__init__(world, name, instance_id)
        self.manners = manners
        self.member_epoch = 0
        self._lives = 0
        self._target: set[Partition] = set()
        self._is_reconciled = True
        """Whether it has gone over to the newest target that it was told of, even if that changes nothing."""
        self._is_reconciling = False
        self._is_asking = False
        self._attempts = 0
        """How often it began anew: what was asked before that is answered too late."""
        self._says_all = True
        self._says_owned = False
        self._is_away = False

    def begin(self) -> None:
        self._lives += 1
        self.member_id = f"{self.name}-{self._lives}"
        self._is_asking = self._is_away = False
        self._start_anew()
        self.later(self.world.random.randrange(POLL_MS), self._poll)
        self.later(self.world.random.randrange(HEARTBEAT_MS), self._beat_regularly)

    def resubscribe(self, topics: Iterable[str]) -> None:
        self.topics = set(topics)
        self._says_all = True
        self._beat()

    def is_counted(self) -> bool:
        return self.member_id in self.world.judge.member_ids()

    def _start_anew(self) -> None:
        self.stop_reading(list(self.reading))
        self._attempts += 1
        self.member_epoch, self._target = 0, set()
        self._is_reconciled, self._is_reconciling, self._says_all = True, False, True

    # --- the thread of the application ---

    def _poll(self) -> None:
        if not self.polls:
            self._stop_polling()
            return
        if self._is_away:
            self._is_away = False
            self._start_anew()
            self._beat()
        self.known = self.world.topics.counts()
        if self.commit_is_due and self.member_epoch > 0:
            self.commit(self.member_epoch, self._heed_commit)
        self.read_all()
        self._reconcile()
        self.later(POLL_MS, self._poll)

    def _stop_polling(self) -> None:
        """Be away; for max.poll.interval.ms and longer is too long, and the member leaves for then."""
        away_ms = self.polling_stops_for_ms
        if away_ms > REBALANCE_MS:
            self.later(REBALANCE_MS, self._away_too_long)
        self.later(away_ms, self._poll)

    def _away_too_long(self) -> None:
        self._send_leave()
        self._is_away = True
        self._start_anew()

    def _heed_commit(self, code: ErrorCode) -> None:
        # A stale epoch is mended by the next heartbeat, and who is unknown will hear of it by that.
        if code not in _OF_NO_CONCERN:
            self.world.find(f"{self} commits, and hears {code.name}")

    # --- reconciling ---

    def _reconcile(self) -> None:
        """Begin to go over to the target; it takes the application a while to let go."""
        if self._is_reconciling or self._is_reconciled or self._is_away:
            return
        self._is_reconciling = True
        if set(self.reading) - self._target and self.member_epoch > 0:
            self.commit(self.member_epoch, self._heed_commit)
        self.later(self.world.random.choice((1, 50, 1_000, 4_000)), self._let_go)

    def _let_go(self) -> None:
        if not self._is_reconciling:
            return
        self._is_reconciling = False
        self.stop_reading(set(self.reading) - self._target)
        if self.start_reading(self._target, self.member_epoch):
            self._is_reconciled = self._says_owned = True
            self._beat()

    # --- heartbeats ---

    def _beat_regularly(self) -> None:
        self._beat()
        self.later(HEARTBEAT_MS, self._beat_regularly)

    def _beat(self) -> None:
        if self._is_asking or self._is_away or not self.alive:
            return
        self._is_asking = True
        request = self._request()
        said_owned, self._says_owned = self._says_owned, False
        self._says_all = False
        attempt = self._attempts

        def heard(response: object | None) -> None:
            self._is_asking = False
            if attempt != self._attempts:
                self.later(1, self._beat)
            elif isinstance(response, ConsumerGroupHeartbeatResponse):
                self._heard(response)
            else:
                self._says_all, self._says_owned = True, said_owned
                self.later(RETRY_MS, self._beat)

        self.world.send(self, lambda ticket: self._ask(request, ticket), heard)

    def _ask(self, request: ConsumerGroupHeartbeatRequest, ticket: Ticket) -> Decision[GroupRecord]:
        return self.world.shard.consumer_heartbeat(
            request,
            ticket=ticket,
            now_ms=self.world.now_ms,
            client=self.client,
            new_member_uuid=str(ticket),
            member_id_required=True,
        )

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, member_epoch=self.member_epoch
        )
        request.instance_id = self.instance_id
        if self._says_all:
            request.rebalance_timeout_ms = REBALANCE_MS
            request.server_assignor = self.manners.server_assignor
            request.subscribed_topic_names = [] if self.manners.by_regex else sorted(self.topics)
            request.subscribed_topic_regex = "|".join(sorted(self.topics)) if self.manners.by_regex else None
        if self._says_all or self._says_owned:
            request.topic_partitions = [] if self.member_epoch == 0 else self._owned()
        return request

    def _owned(self) -> list[HeartbeatTopicPartitions]:
        return [
            HeartbeatTopicPartitions(topic_id=topic_id, partitions=[one.number for one in ones])
            for topic_id, ones in groupby(sorted(self.reading), key=lambda one: one.topic_id)
        ]

    def _heard(self, response: ConsumerGroupHeartbeatResponse) -> None:
        code = ErrorCode(response.error_code)
        if code is ErrorCode.NONE:
            self._go_on(response)
        elif code in _LOST:
            self.dropped(code)
            self._start_anew()
            self.later(1, self._beat)
        elif code is ErrorCode.FENCED_INSTANCE_ID:
            self.dropped(code)
            self.end()
        elif code in _RETRIABLE:
            self._says_all = True
            self.later(RETRY_MS, self._beat)
        else:
            self.world.find(f"{self} hears {code.name}: {response.error_message}")

    def _go_on(self, response: ConsumerGroupHeartbeatResponse) -> None:
        if response.member_epoch < self.member_epoch:
            self.world.find(f"{self} goes back from epoch {self.member_epoch} to {response.member_epoch}")
        self.is_well()
        self.member_epoch = response.member_epoch
        if response.assignment is not None:
            target = {
                Partition(topic.topic_id, index)
                for topic in response.assignment.topic_partitions
                for index in topic.partitions
            }
            self._is_reconciled &= target == self._target
            self._target = target
            if self.polls:
                self._reconcile()

    # --- going ---

    def leave(self) -> None:
        self.world.tell(f"{self} leaves")
        if self.member_epoch > 0:
            self.commit(self.member_epoch, self._heed_commit)
        self._send_leave()
        self.end()
        self.silent_since_ms = self.world.now_ms

    def _send_leave(self) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=LEAVING if self.instance_id is None else LEAVING_FOR_A_WHILE,
            instance_id=self.instance_id,
        )
        self.world.send(self, lambda ticket: self._ask(request, ticket), lambda response: None)
