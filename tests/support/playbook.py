"""Playbooks: a machine driven by a script of times and inputs, as its journal would drive it.

Tests of the rooms with machines write `at 0: join a; at 3000: who was answered what`. Every record
passes through its bytes before it is applied, every alarm goes off at its time, and every ticket is
watched: answered at most once, and only if it was drawn.

Source: the contract in `wirekafka.machine`; the order of things in `broker.journal`.
"""

from collections.abc import Sequence
from typing import Generic, TypeVar

from wirekafka.groups import Client, GroupConfig, GroupRecord, GroupShard, records
from wirekafka.machine import Decision, KeyValue, Machine, Records, Ticket
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from wirekafka.protocol.apis.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

R = TypeVar("R")
A = TypeVar("A")


def newest_of_each_key(log: Sequence[KeyValue]) -> list[KeyValue]:
    """Keep the newest record of each key, as the cleaner does; tombstones may stay."""
    newest = {item.key: place for place, item in enumerate(log)}
    return [item for place, item in enumerate(log) if newest[item.key] == place]


class Playbook(Generic[R]):
    """One machine, its log and its clock."""

    def __init__(self, machine: Machine[R], codec: Records[R]) -> None:
        self.machine = machine
        self.codec = codec
        self.now_ms = 0
        self.log: list[KeyValue] = []
        self.answers: dict[Ticket, object] = {}
        self.waiting: set[Ticket] = set()
        self.append_error: KafkaError | None = None
        """While set, no record can be written."""
        self._drawn = 0

    def at(self, now_ms: int) -> None:
        """Let the time come, with every alarm on the way going off when it is due."""
        while (wake_ms := self.machine.wake_at_ms()) is not None and wake_ms <= now_ms:
            self.now_ms = max(self.now_ms, wake_ms)
            self.run(self.machine.on_time(self.now_ms))
        self.now_ms = now_ms

    def draw(self) -> Ticket:
        """Draw the ticket of a new request."""
        self._drawn += 1
        ticket = Ticket(self._drawn)
        self.waiting.add(ticket)
        return ticket

    def run(self, decision: Decision[R]) -> None:
        """Append and apply the decision's records, then release its replies."""
        if decision.records and self.append_error is not None:
            decision = self.machine.on_append_failed(decision, self.append_error, self.now_ms)
            assert not decision.records
        for record in decision.records:
            item = self.codec.encode(record, self.now_ms)
            self.log.append(item)
            read = self.codec.decode(item)
            assert read is not None
            self.machine.apply(read)
            self.written(read)
        for reply in decision.replies:
            self.waiting.remove(reply.ticket)
            self.answered(reply.ticket, reply.response)

    def written(self, record: R) -> None:
        """Take note of a record that was applied; for those who watch."""

    def answered(self, ticket: Ticket, response: object) -> None:
        """Take an answer as it is released."""
        self.answers[ticket] = response

    def replay(self, machine: Machine[R]) -> None:
        """Read the whole log into a new machine, and go on with that; who waited, waits no more."""
        for item in self.log:
            record = self.codec.decode(item)
            if record is not None:
                machine.apply(record)
        self.machine = machine
        self.waiting.clear()


class GroupPlaybook(Playbook[GroupRecord]):
    """A group shard, and short ways to say what clients send to it.

    Member names stand for client ids; the UUIDs drawn are 1, 2 and so on, so the first member of
    client a is "a-1".
    """

    def __init__(self, config: GroupConfig | None = None, group_id: str = "g") -> None:
        self.config = config or GroupConfig()
        self.group_id = group_id
        self.shard = GroupShard(0, self.config)
        super().__init__(self.shard, records)
        self.shard.loaded(0)

    def restart(self, *, after_ms: int = 0) -> None:
        """Stop as if killed, and start from the log."""
        self.shard = GroupShard(0, self.config)
        self.replay(self.shard)
        self.now_ms += after_ms
        self.shard.loaded(self.now_ms)

    def check_log(self) -> None:
        """What the log says, compacted or not, is what the shard knows; and who is parked, waits."""
        for log in (self.log, newest_of_each_key(self.log)):
            replayed = GroupShard(0, self.config)
            for item in log:
                record = records.decode(item)
                assert record is not None
                replayed.apply(record)
            assert replayed.durable == self.shard.durable
        assert set(self.shard.volatile.parked) == self.waiting

    def join(
        self,
        client: str,
        member_id: str = "",
        *,
        instance: str | None = None,
        protocols: dict[str, bytes] | None = None,
        protocol_type: str = "consumer",
        session_ms: int = 10_000,
        rebalance_ms: int = 60_000,
        member_id_required: bool = False,
        skip_assignment_known: bool = True,
    ) -> Ticket:
        """Send a JoinGroup; the ticket tells its answer from others."""
        ticket = self.draw()
        offered = {"range": b""} if protocols is None else protocols
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name=n, metadata=m) for n, m in offered.items()],
        )
        decision = self.shard.join(
            request,
            ticket=ticket,
            now_ms=self.now_ms,
            client=Client(client, "/127.0.0.1"),
            new_member_uuid=str(ticket),
            member_id_required=member_id_required,
            skip_assignment_known=skip_assignment_known,
        )
        self.run(decision)
        return ticket

    def sync(
        self,
        member_id: str,
        generation_id: int,
        assignments: dict[str, bytes] | None = None,
        *,
        instance: str | None = None,
        protocol: tuple[str | None, str | None] = (None, None),
        protocol_required: bool = False,
    ) -> Ticket:
        """Send a SyncGroup, with assignments when it is the leader's."""
        ticket = self.draw()
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=generation_id,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol[0],
            protocol_name=protocol[1],
            assignments=[
                SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in (assignments or {}).items()
            ],
        )
        self.run(
            self.shard.sync(request, ticket=ticket, now_ms=self.now_ms, protocol_required=protocol_required)
        )
        return ticket

    def heartbeat(self, member_id: str, generation_id: int, *, instance: str | None = None) -> ErrorCode:
        """Send a Heartbeat, and give its error code."""
        request = HeartbeatRequest(
            group_id=self.group_id,
            generation_id=generation_id,
            member_id=member_id,
            group_instance_id=instance,
        )
        return ErrorCode(self.shard.heartbeat(request, now_ms=self.now_ms).error_code)

    def leave(self, *members: tuple[str, str | None]) -> Ticket:
        """Send a LeaveGroup for members named by member id and instance id."""
        ticket = self.draw()
        identities = [MemberIdentity(member_id=m, group_instance_id=i) for m, i in members]
        request = LeaveGroupRequest(group_id=self.group_id, members=identities)
        self.run(self.shard.leave(request, ticket=ticket, now_ms=self.now_ms, one_member=False))
        return ticket

    def commit(
        self,
        member_id: str = "",
        generation_id: int = -1,
        *,
        offset: int = 1,
        topic: str = "t",
        topic_id: bytes = bytes(16),
        metadata: str | None = "",
        instance: str | None = None,
        retention_ms: int = -1,
        group_id_not_found_known: bool = True,
        exists: bool = True,
    ) -> Ticket:
        """Send an OffsetCommit for partition 0 of a topic."""
        ticket = self.draw()
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=metadata
        )
        request = OffsetCommitRequest(
            group_id=self.group_id,
            generation_id_or_member_epoch=generation_id,
            member_id=member_id,
            group_instance_id=instance,
            retention_time_ms=retention_ms,
            topics=[OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=[partition])],
        )
        decision = self.shard.commit_offsets(
            request,
            ticket=ticket,
            now_ms=self.now_ms,
            group_id_not_found_known=group_id_not_found_known,
            by_topic_id=False,
            partition_exists=lambda topic, partition: exists,
        )
        self.run(decision)
        return ticket

    def fetch(self, topic: str = "t", topic_id: bytes = bytes(16)) -> int:
        """Give the offset that the group has committed for partition 0 of a topic, or -1."""
        asked = OffsetFetchRequestTopics(name=topic, topic_id=topic_id, partition_indexes=[0])
        request = OffsetFetchRequestGroup(group_id=self.group_id, topics=[asked])
        return self.shard.fetch_offsets(request, by_topic_id=False).topics[0].partitions[0].committed_offset

    def fetch_all(self) -> dict[str, int]:
        """Give all that the group has committed for partitions 0, by topic."""
        request = OffsetFetchRequestGroup(group_id=self.group_id, topics=None)
        topics = self.shard.fetch_offsets(request, by_topic_id=False).topics
        return {topic.name: topic.partitions[0].committed_offset for topic in topics}

    def state(self) -> str:
        """Name the group's state as DescribeGroups does."""
        return self.shard.describe(self.group_id, group_id_not_found_known=False).group_state

    def stable(self, *clients: str, session_ms: int = 10_000, instances: bool = False) -> list[str]:
        """Bring a new group to its first stable generation; member ids, the leader's first.

        Each member is assigned its own id as bytes.
        """
        tickets = [
            self.join(client, session_ms=session_ms, instance=f"i{client}" if instances else None)
            for client in clients
        ]
        self.at(self.now_ms + 2 * self.config.group_initial_rebalance_delay_ms)
        members = [self.joined(ticket).member_id for ticket in tickets]
        for member in members[1:]:
            self.sync(member, 1)
        self.sync(members[0], 1, {member: member.encode() for member in members})
        return members

    # --- answers ---

    def joined(self, ticket: Ticket) -> JoinGroupResponse:
        return self._answer(ticket, JoinGroupResponse)

    def synced(self, ticket: Ticket) -> SyncGroupResponse:
        return self._answer(ticket, SyncGroupResponse)

    def left(self, ticket: Ticket) -> list[int]:
        """Give the error code of each member that was to leave."""
        return [member.error_code for member in self._answer(ticket, LeaveGroupResponse).members]

    def committed(self, ticket: Ticket) -> int:
        """Give the error code of the one partition committed."""
        return self._answer(ticket, OffsetCommitResponse).topics[0].partitions[0].error_code

    def _answer(self, ticket: Ticket, kind: type[A]) -> A:
        answer = self.answers[ticket]
        assert isinstance(answer, kind)
        return answer
