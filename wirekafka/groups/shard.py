"""`GroupShard`: the state machine of one `__consumer_offsets` partition.

Asked by `broker.coordination` through its journal: finds the group, asks the rules of its kind, of `offsets`
and of `deleting`, and applies records. What `Durable` holds changes in `apply` alone; `Volatile` changes
while a request is decided.

Source: Kafka's GroupCoordinatorShard, and the request checks of GroupCoordinatorService.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from wirekafka.groups import applying, deleting, failures, falling_due, offsets, views
from wirekafka.groups.applying import Durable
from wirekafka.groups.classic import held, joining, liveness, rebalance, syncing, undo
from wirekafka.groups.classic.attempt import JoinFacts
from wirekafka.groups.classic.stored import must_rebalance
from wirekafka.groups.classic.volatile import Volatile
from wirekafka.groups.client import Client
from wirekafka.groups.config import GroupConfig
from wirekafka.groups.consumer import classic_members, describing, heartbeat, metadata, sessions
from wirekafka.groups.consumer.heartbeat import HeartbeatFacts
from wirekafka.groups.consumer.settings import OverridesOf, no_overrides
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.deadlines import Deadline, RetentionDeadline
from wirekafka.groups.deleting import DeletedTopic
from wirekafka.groups.kinds import Group, ServedGroup
from wirekafka.groups.offsets import PartitionExists
from wirekafka.groups.records import GroupMetadata, GroupRecord
from wirekafka.groups.topics import NO_TOPICS, Topics
from wirekafka.machine import Decision, Ticket
from wirekafka.protocol.apis.consumer_group_describe import DescribedConsumerGroup
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from wirekafka.protocol.apis.describe_groups import DescribedGroup
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.apis.join_group import JoinGroupRequest
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest
from wirekafka.protocol.apis.list_groups import ListedGroup
from wirekafka.protocol.apis.offset_commit import OffsetCommitRequest
from wirekafka.protocol.apis.offset_delete import OffsetDeleteRequest
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequestGroup, OffsetFetchResponseGroup
from wirekafka.protocol.apis.sync_group import SyncGroupRequest
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


class GroupShard:
    """Decides for the groups of one partition.

    Requests that may write or wait take a `ticket`, and are answered in a Decision, now or later:
    join, sync, leave, consumer_heartbeat, commit_offsets, and what deletes. The others neither write nor
    wait, and give their answer.
    """

    def __init__(
        self,
        partition: int,
        config: GroupConfig,
        topics: Topics = NO_TOPICS,
        overrides_of: OverridesOf = no_overrides,
    ) -> None:
        """`topics` and `overrides_of` are asked anew for each decision, and `config` may be replaced."""
        self.partition = partition
        self.config = config
        self.topics = topics
        self.overrides_of = overrides_of
        self.durable = Durable()
        self.volatile = Volatile()
        self.wall_lead_ms = 0
        """How far the wall clock is ahead of `now_ms`, as who asks last found it: what is stored has wall
        time, what falls due does not."""

    @property
    def classic_member_count(self) -> int:
        """How many members the classic groups here have."""
        return sum(len(group.members) for group in self.volatile.classic_groups.values())

    @property
    def consumer_member_count(self) -> int:
        """How many members the consumer groups here have."""
        return sum(len(group.members) for group in self.durable.consumer_groups.values())

    # --- requests ---

    def join(
        self,
        request: JoinGroupRequest,
        *,
        ticket: Ticket,
        now_ms: int,
        client: Client,
        new_member_uuid: str,
        member_id_required: bool,
        skip_assignment_known: bool,
    ) -> Decision[GroupRecord]:
        """Serve a JoinGroup; the answer may wait for the other members.

        `new_member_uuid` is the text of a fresh UUID, of which a new member's id is composed; it may be empty
        when the request brings an id.
        """
        turn = self._turn(now_ms)
        facts = JoinFacts(ticket, client, new_member_uuid, member_id_required, skip_assignment_known)
        group = self.durable.consumer_groups.get(request.group_id)
        if group is None or group.is_empty:
            joining.join(turn, request, facts, deleting.tombstones_of_group(group) if group else ())
        else:
            classic_members.join(turn, group, request, facts)
        return turn.decision

    def sync(
        self, request: SyncGroupRequest, *, ticket: Ticket, now_ms: int, protocol_required: bool
    ) -> Decision[GroupRecord]:
        """Serve a SyncGroup; the answer may wait for the leader's."""
        turn = self._turn(now_ms)
        group = self.durable.consumer_groups.get(request.group_id)
        if group is None:
            syncing.sync(turn, request, ticket, protocol_required=protocol_required)
        else:
            classic_members.sync(turn, group, request, ticket, protocol_required=protocol_required)
        return turn.decision

    def heartbeat(self, request: HeartbeatRequest, *, now_ms: int) -> HeartbeatResponse:
        """Serve a Heartbeat."""
        turn, group = self._turn(now_ms), self.durable.consumer_groups.get(request.group_id)
        if group is None:
            return HeartbeatResponse(error_code=liveness.heartbeat(turn, request))
        return HeartbeatResponse(error_code=classic_members.heartbeat(turn, group, request))

    def hold_heartbeat(
        self, request: HeartbeatRequest, *, ticket: Ticket, now_ms: int
    ) -> Decision[GroupRecord]:
        """Serve a Heartbeat; when there is no news, the answer may wait for some."""
        turn = self._turn(now_ms)
        if request.group_id in self.durable.consumer_groups:
            turn.reply(ticket, self.heartbeat(request, now_ms=now_ms))
        else:
            held.heartbeat(turn, request, ticket)
        return turn.decision

    def release_heartbeat(self, request: HeartbeatRequest, *, now_ms: int) -> Decision[GroupRecord]:
        """Answer a Heartbeat that is held, since its client has more to say."""
        turn = self._turn(now_ms)
        turn.answer_heartbeat(request.group_id, request.member_id, ErrorCode.NONE)
        return turn.decision

    def leave(
        self, request: LeaveGroupRequest, *, ticket: Ticket, now_ms: int, one_member: bool
    ) -> Decision[GroupRecord]:
        """Serve a LeaveGroup, of one member or of many."""
        turn, group = self._turn(now_ms), self.durable.consumer_groups.get(request.group_id)
        if group is None:
            response = liveness.leave(turn, request, one_member=one_member)
        else:
            response = classic_members.leave(turn, group, request, one_member=one_member)
        turn.reply(ticket, response)
        return turn.decision

    def consumer_heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        *,
        ticket: Ticket,
        now_ms: int,
        client: Client,
        new_member_uuid: str,
        member_id_required: bool,
    ) -> Decision[GroupRecord]:
        """Serve a ConsumerGroupHeartbeat; a member without an id is given `new_member_uuid` for one."""
        turn = self._turn(now_ms)
        facts = HeartbeatFacts(client, new_member_uuid, member_id_required)
        turn.reply(ticket, heartbeat.heartbeat(turn, request, facts))
        return turn.decision

    def commit_offsets(
        self,
        request: OffsetCommitRequest,
        *,
        ticket: Ticket,
        now_ms: int,
        group_id_not_found_known: bool,
        by_topic_id: bool,
        partition_exists: PartitionExists,
    ) -> Decision[GroupRecord]:
        """Serve an OffsetCommit whose topics have their names filled in, and their ids if known.

        Where topics go by id, one without a name is answered with UNKNOWN_TOPIC_ID.
        """
        turn = self._turn(now_ms)
        response = offsets.commit(
            turn,
            request,
            self._group(request.group_id),
            group_id_not_found_known=group_id_not_found_known,
            by_topic_id=by_topic_id,
            exists=partition_exists,
        )
        turn.reply(ticket, response)
        return turn.decision

    def fetch_offsets(
        self, request: OffsetFetchRequestGroup, *, by_topic_id: bool
    ) -> OffsetFetchResponseGroup:
        """Give the committed offsets of one group.

        Topics have their names filled in; where they go by id, one without is UNKNOWN_TOPIC_ID.
        When all topics are asked for, a topic's id is given as it was committed, or is zero.
        """
        group = self._group(request.group_id)
        stored = self.durable.offsets.of_group(request.group_id)
        return views.fetched(request, group, stored, by_topic_id=by_topic_id)

    def describe(self, group_id: str, *, group_id_not_found_known: bool) -> DescribedGroup:
        """Describe one group; who may do what to it is left to the caller."""
        group = self._group(group_id)
        return views.described(group_id, group, group_id_not_found_known=group_id_not_found_known)

    def describe_consumer_group(self, group_id: str) -> DescribedConsumerGroup:
        """Describe one group of the consumer protocol; who may do what to it is left to the caller."""
        group, default_assignor = self._group(group_id), self.config.group_consumer_assignors[0]
        return describing.described(group_id, group, self.topics, default_assignor)

    def list_groups(self, states: Sequence[str] = (), types: Sequence[str] = ()) -> list[ListedGroup]:
        """List the groups that are in one of `states` and of one of `types`, when those are named."""
        groups = chain(self._served_groups(), self.durable.foreign_groups.values())
        return list(views.listed(groups, states, types))

    def topics_changed(self, names: Iterable[str], now_ms: int) -> None:
        """Hear that topics were made, deleted or given more partitions.

        Nothing is decided at once: groups take it up with the next heartbeat of a member.
        """
        metadata.topics_changed(self._turn(now_ms), names)

    def delete_offsets_of_topics(self, topics: Iterable[DeletedTopic]) -> Decision[GroupRecord]:
        """Delete what is committed to topics that are gone."""
        tombstones = deleting.tombstones_of_topics(self.durable.offsets, topics)
        return Decision(records=[*tombstones], may_be_split=True)

    def delete_offsets(
        self, request: OffsetDeleteRequest, *, ticket: Ticket, now_ms: int, partition_exists: PartitionExists
    ) -> Decision[GroupRecord]:
        """Serve an OffsetDelete."""
        turn, group = self._turn(now_ms), self._group(request.group_id)
        response = deleting.delete_offsets(
            turn, request, group, self.durable.offsets, exists=partition_exists
        )
        turn.reply(ticket, response)
        return turn.decision

    def delete_group(self, group_id: str, *, ticket: Ticket, now_ms: int) -> Decision[GroupRecord]:
        """Delete one group that is named in a DeleteGroups; the reply is its DeletableGroupResult."""
        turn, group = self._turn(now_ms), self._group(group_id)
        turn.reply(ticket, deleting.delete_group(turn, group_id, group, self.durable.offsets))
        return turn.decision

    def forget(self, ticket: Ticket) -> None:
        """Never answer this ticket: its client hung up. Its member stays, as if it still waited."""
        parked = self.volatile.parked.pop(ticket, None)
        if parked is not None:
            parked.ticket = None

    # --- the machine ---

    def apply(self, record: GroupRecord) -> None:
        """Make a record's content the durable state; what a group has decided for itself settles."""
        applying.apply(self.durable, self.volatile, record)

    def loaded(self, now_ms: int) -> None:
        """Begin to serve after the log was replayed: every member has its session time-out anew."""
        turn = self._turn(now_ms)
        turn.schedule(RetentionDeadline(), self.config.offsets_retention_check_interval_ms)
        for group in self.volatile.classic_groups.values():
            for member in group.members.values():
                turn.expect_heartbeat(group, member)
            value = self.durable.classic_groups.get(group.group_id)
            is_unled = value is not None and must_rebalance(value)
            if is_unled or len(group.members) > self.config.group_max_size:
                rebalance.prepare(turn, group)
        for consumer_group in self.durable.consumer_groups.values():
            sessions.resume(turn, consumer_group)
        self.volatile.new_topics_generation = self.topics.generation
        assert not turn.decision.records

    def wake_at_ms(self) -> int | None:
        """The earliest deadline; heartbeats and every decision may move it."""
        return self.volatile.deadlines.next_due_ms()

    def on_time(self, now_ms: int) -> Decision[GroupRecord]:
        """Decide what fell due, in the order in which it did.

        Some deadlines are decided by themselves; what is due behind them waits for the next call, for which
        `wake_at_ms` asks at once.
        """
        turn = self._turn(now_ms)
        while (deadline := self.volatile.deadlines.pop_due(now_ms)) is not None:
            stands_alone = self._stands_alone(deadline)
            if stands_alone and (turn.decision.records or turn.decision.replies):
                self.volatile.deadlines.schedule(deadline, now_ms)
                break
            self._on_deadline(turn, deadline)
            if stands_alone:
                break
        return turn.decision

    def _stands_alone(self, deadline: Deadline) -> bool:
        """Whether nothing else may be in the decision: what expires may be much, and a consumer group's
        members are expected again when its records cannot be written, which no reply may hide."""
        return isinstance(deadline, RetentionDeadline) or deadline.group_id in self.durable.consumer_groups

    def _on_deadline(self, turn: ConsumerTurn, deadline: Deadline) -> None:
        if isinstance(deadline, RetentionDeadline):
            deleting.expire(turn, self._served_groups(), self.durable.offsets)
            turn.decision.may_be_split = True
            turn.schedule(deadline, self.config.offsets_retention_check_interval_ms)
            return
        falling_due.on_deadline(turn, deadline)

    def on_append_failed(
        self, decision: Decision[GroupRecord], error: KafkaError, now_ms: int
    ) -> Decision[GroupRecord]:
        """Answer the decision's tickets with errors, and take back what groups did in memory."""
        turn, code = self._turn(now_ms), failures.client_code(error.code)
        for reply in decision.replies:
            turn.reply(reply.ticket, failures.failed(reply.response, code))
        for record in decision.records:
            group = self.volatile.classic_groups.get(record.group_id)
            if isinstance(record, GroupMetadata) and record.value is not None and group is not None:
                undo.undo_record(
                    turn,
                    group,
                    code,
                    is_written=record.group_id in self.durable.classic_groups,
                    is_other_kind=record.group_id in self.durable.consumer_groups,
                )
        for group_id in dict.fromkeys(record.group_id for record in decision.records):
            consumer_group = self.durable.consumer_groups.get(group_id)
            metadata.forget_check_of_stranger(turn, group_id)
            if consumer_group is not None:
                within_ms = None if decision.replies else sessions.RETRY_MS
                sessions.resume(turn, consumer_group, within_ms=within_ms)
        assert not turn.decision.records
        return turn.decision

    def _group(self, group_id: str) -> Group | None:
        durable = self.durable
        served = durable.consumer_groups.get(group_id) or self.volatile.classic_groups.get(group_id)
        return served or durable.foreign_groups.get(group_id)

    def _served_groups(self) -> Iterator[ServedGroup]:
        yield from self.volatile.classic_groups.values()
        yield from self.durable.consumer_groups.values()

    def _turn(self, now_ms: int) -> ConsumerTurn:
        return ConsumerTurn(
            self.config,
            self.volatile,
            now_ms,
            now_ms + self.wall_lead_ms,
            foreign_groups=self.durable.foreign_groups,
            consumer_groups=self.durable.consumer_groups,
            topics=self.topics,
            overrides_of=self.overrides_of,
        )
