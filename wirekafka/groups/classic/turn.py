"""`Turn`: one input being decided, with the time it came at and what has been decided so far.

`groups.shard` opens a turn for each request and deadline; joining, syncing, liveness and rebalance
write into it.

Source: the part of Kafka's CoordinatorResult and CoordinatorTimer in one request.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member, Parked
from wirekafka.groups.classic.responses import join_error, sync_error
from wirekafka.groups.classic.volatile import Volatile
from wirekafka.groups.config import GroupConfig
from wirekafka.groups.deadlines import Deadline, HeldDeadline, SessionDeadline, SyncDeadline
from wirekafka.groups.records import GroupMetadata, GroupRecord
from wirekafka.machine import Decision, Reply, Ticket
from wirekafka.protocol.apis.heartbeat import HeartbeatResponse
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_offsets import GroupMetadataValue


@dataclass(slots=True)
class Turn:
    """What a function that decides is given, and where it puts what it decides."""

    config: GroupConfig
    volatile: Volatile
    now_ms: int
    """For deadlines: never jumps."""
    wall_ms: int
    """For what is stored, and judged after a restart."""
    decision: Decision[GroupRecord] = field(default_factory=Decision)
    foreign_groups: Collection[str] = ()
    """The ids of groups that are not served."""

    def record_group(self, group: ClassicGroup, value: GroupMetadataValue) -> None:
        """Append the group's record; the group waits for it to be applied."""
        group.unwritten = value
        self.decision.records.append(GroupMetadata(group.group_id, value))

    def reply(self, ticket: Ticket, response: object) -> None:
        """Answer a request that never waited."""
        self.decision.replies.append(Reply(ticket, response))

    def schedule(self, key: Deadline, delay_ms: int) -> None:
        self.volatile.deadlines.schedule(key, self.now_ms + delay_ms)

    def cancel(self, key: Deadline) -> None:
        self.volatile.deadlines.cancel(key)

    def expect_heartbeat(self, group: ClassicGroup, member: Member, within_ms: int | None = None) -> None:
        """Give the member its session time-out, or `within_ms`, to be heard of again."""
        delay_ms = member.session_timeout_ms if within_ms is None else within_ms
        self.schedule(SessionDeadline(group.group_id, member.member_id), delay_ms)

    def park_join(self, group: ClassicGroup, member_id: str, ticket: Ticket) -> None:
        """Let a JoinGroup wait. One that waits already is told to try again; Kafka would forget it."""
        self.answer_join(group, member_id, join_error(ErrorCode.REBALANCE_IN_PROGRESS, member_id))
        group.awaiting_join[member_id] = self._park(ticket)

    def park_sync(self, group: ClassicGroup, member_id: str, ticket: Ticket) -> None:
        """Let a SyncGroup wait. One that waits already is told to try again; Kafka would forget it."""
        self.answer_sync(group, member_id, sync_error(ErrorCode.REBALANCE_IN_PROGRESS))
        group.awaiting_sync[member_id] = self._park(ticket)

    def hold_heartbeat(self, group_id: str, member_id: str, ticket: Ticket, hold_ms: int) -> None:
        """Let a Heartbeat wait for news, for so long at most."""
        key = HeldDeadline(group_id, member_id)
        self.volatile.held_heartbeats[key] = self._park(ticket)
        self.schedule(key, hold_ms)

    def answer_heartbeat(self, group_id: str, member_id: str, code: ErrorCode) -> None:
        """Answer the member's Heartbeat if one is held."""
        key = HeldDeadline(group_id, member_id)
        parked = self.volatile.held_heartbeats.pop(key, None)
        if self._answer(parked, HeartbeatResponse(error_code=code)):
            self.cancel(key)

    def _park(self, ticket: Ticket) -> Parked:
        parked = self.volatile.parked[ticket] = Parked(ticket)
        return parked

    def answer_join(self, group: ClassicGroup, member_id: str, response: object) -> bool:
        """Answer the member's parked JoinGroup; False when it has none."""
        return self._answer(group.awaiting_join.pop(member_id, None), response)

    def answer_sync(self, group: ClassicGroup, member_id: str, response: object) -> bool:
        """Answer the member's parked SyncGroup; False when it has none."""
        return self._answer(group.awaiting_sync.pop(member_id, None), response)

    def _answer(self, parked: Parked | None, response: object) -> bool:
        if parked is None:
            return False
        if parked.ticket is not None:
            del self.volatile.parked[parked.ticket]
            self.reply(parked.ticket, response)
        return True

    def note_sync(self, group: ClassicGroup, member_id: str) -> None:
        """Wait no more for the member's SyncGroup."""
        group.pending_sync.discard(member_id)
        if not group.pending_sync:
            self.cancel(SyncDeadline(group.group_id))

    def remove_member(self, group: ClassicGroup, member_id: str) -> None:
        """Let a member, or a pending one, go, with its deadline; what it waits for fails."""
        self.answer_join(group, member_id, join_error(ErrorCode.UNKNOWN_MEMBER_ID))
        self.answer_sync(group, member_id, sync_error(ErrorCode.UNKNOWN_MEMBER_ID))
        self.answer_heartbeat(group.group_id, member_id, ErrorCode.UNKNOWN_MEMBER_ID)
        self.cancel(SessionDeadline(group.group_id, member_id))
        group.remove(member_id)
