"""`GroupShard`: the state machine of one `__consumer_offsets` partition.

Asked by `broker.coordination` through its journal: finds the group, asks the rules of `classic` and
`offsets`, and applies records. What `Durable` holds changes in `apply` alone; `Volatile` changes
while a request is decided.

Source: Kafka's GroupCoordinatorShard, and the request checks of GroupCoordinatorService.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from wirekafka.groups import failures, offsets, views
from wirekafka.groups.classic import joining, liveness, rebalance, stored, syncing, undo
from wirekafka.groups.classic.attempt import JoinFacts
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Client
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.classic.volatile import (
    Deadline,
    JoinDeadline,
    RetentionDeadline,
    SessionDeadline,
    SyncDeadline,
    Volatile,
)
from wirekafka.groups.config import GroupConfig
from wirekafka.groups.offsets import CommittedOffsets, DeletedTopic, PartitionExists
from wirekafka.groups.records import GroupMetadata, GroupRecord, OffsetCommit
from wirekafka.machine import Decision, Ticket
from wirekafka.protocol.apis.describe_groups import DescribedGroup
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.apis.join_group import JoinGroupRequest
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest
from wirekafka.protocol.apis.list_groups import ListedGroup
from wirekafka.protocol.apis.offset_commit import OffsetCommitRequest
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequestGroup, OffsetFetchResponseGroup
from wirekafka.protocol.apis.sync_group import SyncGroupRequest
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.stored.consumer_offsets import GroupMetadataValue


@dataclass(slots=True)
class Durable:
    """What the records say, and no more."""

    groups: dict[str, GroupMetadataValue] = field(default_factory=dict)
    offsets: CommittedOffsets = field(default_factory=CommittedOffsets)


class GroupShard:
    """Decides for the groups of one partition.

    Requests that may write or wait take a `ticket`, and are answered in a Decision, now or later:
    join, sync, leave, commit_offsets. The others neither write nor wait and give their answer.
    """

    def __init__(self, partition: int, config: GroupConfig) -> None:
        self.partition = partition
        self.config = config
        self.durable = Durable()
        self.volatile = Volatile()
        self.wall_lead_ms = 0
        """How far the wall clock is ahead of `now_ms`, as who asks last found it: what is stored has wall
        time, what falls due does not."""

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

        `new_member_uuid` is the text of a fresh UUID, of which a new member's id is composed.
        """
        turn = self._turn(now_ms)
        facts = JoinFacts(ticket, client, new_member_uuid, member_id_required, skip_assignment_known)
        joining.join(turn, request, facts)
        return turn.decision

    def sync(
        self, request: SyncGroupRequest, *, ticket: Ticket, now_ms: int, protocol_required: bool
    ) -> Decision[GroupRecord]:
        """Serve a SyncGroup; the answer may wait for the leader's."""
        turn = self._turn(now_ms)
        syncing.sync(turn, request, ticket, protocol_required=protocol_required)
        return turn.decision

    def heartbeat(self, request: HeartbeatRequest, *, now_ms: int) -> HeartbeatResponse:
        """Serve a Heartbeat."""
        return HeartbeatResponse(error_code=liveness.heartbeat(self._turn(now_ms), request))

    def leave(
        self, request: LeaveGroupRequest, *, ticket: Ticket, now_ms: int, one_member: bool
    ) -> Decision[GroupRecord]:
        """Serve a LeaveGroup, of one member or of many."""
        turn = self._turn(now_ms)
        turn.reply(ticket, liveness.leave(turn, request, one_member=one_member))
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
        exists = request.group_id in self.volatile.groups
        stored = self.durable.offsets.of_group(request.group_id) if exists else {}
        return views.fetched(request, stored, by_topic_id=by_topic_id)

    def describe(self, group_id: str, *, group_id_not_found_known: bool) -> DescribedGroup:
        """Describe one group; who may do what to it is left to the caller."""
        group = self.volatile.groups.get(group_id)
        if group is None:
            return views.described_missing(group_id, group_id_not_found_known=group_id_not_found_known)
        return views.described(group)

    def list_groups(self, states: Sequence[str] = (), types: Sequence[str] = ()) -> list[ListedGroup]:
        """List the groups that are in one of `states` and of one of `types`, when those are named."""
        return list(views.listed(self.volatile.groups.values(), states, types))

    def delete_offsets_of_topics(self, topics: Iterable[DeletedTopic]) -> Decision[GroupRecord]:
        """Delete what is committed to topics that are gone."""
        return Decision(records=[*offsets.tombstones_of_topics(self.durable.offsets, topics)])

    def forget(self, ticket: Ticket) -> None:
        """Never answer this ticket: its client hung up. Its member stays, as if it still waited."""
        parked = self.volatile.parked.pop(ticket, None)
        if parked is not None:
            parked.ticket = None

    # --- the machine ---

    def apply(self, record: GroupRecord) -> None:
        """Make a record's content the durable state; what a group has decided for itself settles."""
        match record:
            case OffsetCommit():
                self.durable.offsets.apply(record)
                if record.value is not None and record.group_id not in self.volatile.groups:
                    self.volatile.groups[record.group_id] = ClassicGroup(record.group_id)
            case GroupMetadata(group_id, None):
                self.durable.groups.pop(group_id, None)
                self._drop_group(group_id)
            case GroupMetadata(group_id, value):
                assert value is not None
                self.durable.groups[group_id] = value
                self._settle_or_restore(group_id, value)
            case _:
                assert_never(record)

    def _settle_or_restore(self, group_id: str, value: GroupMetadataValue) -> None:
        group = self.volatile.groups.get(group_id)
        if group is not None and group.unwritten == value:
            stored.settle(group)
        else:
            self.volatile.groups[group_id] = stored.restored(group_id, value)

    def _drop_group(self, group_id: str) -> None:
        group = self.volatile.groups.pop(group_id, None)
        if group is None:
            return
        group.move_to(ClassicGroupState.DEAD, group.state_since_ms)
        for member_id in [*group.members, *group.pending_members]:
            self.volatile.deadlines.cancel(SessionDeadline(group_id, member_id))

    def loaded(self, now_ms: int) -> None:
        """Begin to serve after the log was replayed: every member has its session time-out anew."""
        turn = self._turn(now_ms)
        turn.schedule(RetentionDeadline(), self.config.offsets_retention_check_interval_ms)
        for group in self.volatile.groups.values():
            for member in group.members.values():
                turn.expect_heartbeat(group, member)
            if len(group.members) > self.config.group_max_size:
                rebalance.prepare(turn, group)
        assert not turn.decision.records

    def wake_at_ms(self) -> int | None:
        """The earliest deadline; heartbeats and every decision may move it."""
        return self.volatile.deadlines.next_due_ms()

    def on_time(self, now_ms: int) -> Decision[GroupRecord]:
        """Decide what fell due, in the order in which it did.

        What has expired is decided by itself, since it may be much; what is due behind it waits for the
        next call, for which `wake_at_ms` asks at once.
        """
        turn = self._turn(now_ms)
        while (deadline := self.volatile.deadlines.pop_due(now_ms)) is not None:
            if isinstance(deadline, RetentionDeadline) and turn.decision.replies:
                self.volatile.deadlines.schedule(deadline, now_ms)
                break
            self._on_deadline(turn, deadline)
            if isinstance(deadline, RetentionDeadline):
                break
        return turn.decision

    def _on_deadline(self, turn: Turn, deadline: Deadline) -> None:
        if isinstance(deadline, RetentionDeadline):
            self._expire(turn)
            turn.schedule(deadline, self.config.offsets_retention_check_interval_ms)
            return
        group = self.volatile.groups[deadline.group_id]
        match deadline:
            case SessionDeadline():
                liveness.on_session_deadline(turn, group, deadline.member_id)
            case JoinDeadline():
                rebalance.on_join_deadline(turn, group)
            case SyncDeadline():
                rebalance.on_sync_deadline(turn, group)
            case _:
                assert_never(deadline)

    def _expire(self, turn: Turn) -> None:
        """Delete expired offsets, and groups that are empty and have no others."""
        for group in self.volatile.groups.values():
            gone = list(offsets.expired(turn, self.durable.offsets, group))
            turn.decision.records.extend(gone)
            kept = sum(map(len, self.durable.offsets.of_group(group.group_id).values())) - len(gone)
            if group.is_empty and not kept:
                turn.decision.records.append(GroupMetadata(group.group_id, None))

    def on_append_failed(
        self, decision: Decision[GroupRecord], error: KafkaError, now_ms: int
    ) -> Decision[GroupRecord]:
        """Answer the decision's tickets with errors, and take back what groups did in memory."""
        turn, code = self._turn(now_ms), failures.client_code(error.code)
        for reply in decision.replies:
            turn.reply(reply.ticket, failures.failed(reply.response, code))
        for record in decision.records:
            group = self.volatile.groups.get(record.group_id)
            if isinstance(record, GroupMetadata) and record.value is not None and group is not None:
                undo.undo_record(turn, group, code, is_written=record.group_id in self.durable.groups)
        assert not turn.decision.records
        return turn.decision

    def _turn(self, now_ms: int) -> Turn:
        return Turn(self.config, self.volatile, now_ms, now_ms + self.wall_lead_ms)
