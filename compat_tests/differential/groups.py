"""Members of classic groups for the scenarios: one member, and the requests it sends.

Called by the scenarios with groups. Source: the classic group protocol; KIP-394 (member id first),
KIP-345 (static members), KIP-559 (protocol in SyncGroup).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from compat_tests.differential.side import Side
from compat_tests.differential.wire import Connection, framed, request_body
from wirekafka.protocol.apis.describe_groups import DescribeGroupsRequest
from wirekafka.protocol.apis.find_coordinator import FindCoordinatorRequest
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest, MemberIdentity
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from wirekafka.protocol.apis.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.message import Message
from wirekafka.protocol.stored.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedPartitions,
)

MEMBER_ID_REQUIRED = 79
REBALANCE_IN_PROGRESS = 27
SESSION_MS, REBALANCE_MS = 60_000, 60_000
Protocols = Sequence[tuple[str, bytes]]
RANGE: Protocols = (("range", b"x"),)

NEWEST_SYNC, NEWEST_HEARTBEAT, NEWEST_LEAVE, NEWEST_DESCRIBE = 5, 4, 5, 6
STATES_IN_LIST, TYPES_IN_LIST = 4, 5
INSTANCE_IN_HEARTBEAT = INSTANCE_IN_SYNC = MANY_IN_LEAVE = 3
INSTANCE_IN_JOIN, PROTOCOL_IN_SYNC, TIMEOUT_IN_JOIN = 5, 5, 1


def await_groups(side: Side) -> None:
    """Wait until the broker coordinates groups: its internal topic is there and loaded."""
    side.arrange_until(FindCoordinatorRequest(key="g"), 2, lambda answer: answer.error_code == 0)
    for partition in range(4):
        # Group ids that fall to each of the four partitions of __consumer_offsets.
        group = OffsetFetchRequestGroup(group_id=chr(ord("a") + partition), topics=None)
        side.arrange_until(
            OffsetFetchRequest(groups=[group]), 8, lambda answer: answer.groups[0].error_code == 0
        )
    request = MetadataRequest(topics=[MetadataRequestTopic(name="__consumer_offsets")])
    known = side.arrange_until(request, 12, lambda answer: answer.topics[0].error_code == 0)
    side.stands.topics[known.topics[0].topic_id] = "topic __consumer_offsets"


@dataclass(frozen=True, slots=True)
class Filters:
    """What groups are listed by: states, types, and states of one type."""

    states: Sequence[Sequence[str]]
    types: Sequence[Sequence[str]]
    states_of_one_type: Sequence[Sequence[str]]
    one_type: str


def list_groups(side: Side, version: int, names: Collection[str], filters: Filters) -> None:
    """List by each filter that the version has; of the answers keep these groups, not other scenarios'."""
    requests = {"all": ListGroupsRequest()}
    if version >= STATES_IN_LIST:
        requests |= {f"states {s}": ListGroupsRequest(states_filter=list(s)) for s in filters.states}
    if version >= TYPES_IN_LIST:
        requests |= {f"types {t}": ListGroupsRequest(types_filter=list(t)) for t in filters.types}
        for states in filters.states_of_one_type:
            both = ListGroupsRequest(states_filter=list(states), types_filter=[filters.one_type])
            requests[f"states {states} and type {filters.one_type}"] = both

    # Any: a ListGroupsResponse.
    def keep(answer: Any) -> None:
        answer.groups = [group for group in answer.groups if group.group_id in names]

    for label, request in requests.items():
        side.ask(label, request, version, keep=keep)


SUBSCRIPTION_VERSION = 3


def subscription(
    *topics: str, owned: Sequence[tuple[str, Sequence[int]]] = (), generation_id: int = -1
) -> bytes:
    """Say as a consumer by the classic protocol what it reads, and holds; a range assignor wants no more."""
    message = ConsumerProtocolSubscription(
        topics=list(topics),
        owned_partitions=[OwnedPartitions(topic=t, partitions=list(p)) for t, p in owned],
        generation_id=generation_id,
    )
    body = codec_for(ConsumerProtocolSubscription, SUBSCRIPTION_VERSION).build(message)
    return SUBSCRIPTION_VERSION.to_bytes(2, "big") + body


def assignment(*held: tuple[str, Sequence[int]]) -> bytes:
    """Say as a leader by the classic protocol what a member holds."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=[AssignedPartitions(topic=t, partitions=list(p)) for t, p in held]
    )
    body = codec_for(ConsumerProtocolAssignment, SUBSCRIPTION_VERSION).build(message)
    return SUBSCRIPTION_VERSION.to_bytes(2, "big") + body


@dataclass(slots=True)
class Asker:
    """Sends what members of one group send, all in about one version."""

    side: Side
    group: str
    version: int
    """That of JoinGroup; the others' go along as far as they reach."""

    # Any: a response, or None; as for Side.ask.
    def ask(self, label: str, request: Message, version: int) -> Any:
        """Ask at another version than JoinGroup's; the label then says which that was."""
        return self.side.ask(self.told(label, version), request, version)

    def told(self, label: str, version: int) -> str:
        return label if version == self.version else f"{label}, with join v{self.version}"

    def join_request(
        self,
        member_id: str = "",
        *,
        group: str | None = None,
        protocols: Protocols = RANGE,
        protocol_type: str = "consumer",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        instance: str | None = None,
    ) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group if group is None else group,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in protocols],
        )

    # Any: a response, or None; as for Side.ask.
    def join(self, label: str, member_id: str = "", **fields: Any) -> Any:
        return self.side.ask(label, self.join_request(member_id, **fields), self.version)

    def join_fully(self, label: str, member_id: str = "", **fields: Any) -> Any:
        """Join, and once more with the member id where one is given first."""
        answer = self.join(label, member_id, **fields)
        if answer is not None and answer.error_code == MEMBER_ID_REQUIRED:
            answer = self.join(f"{label}, with the member id", answer.member_id, **fields)
        return answer

    def sync(
        self,
        label: str,
        member_id: str,
        generation_id: int = 1,
        *,
        group: str | None = None,
        protocol: tuple[str | None, str | None] = ("consumer", "range"),
        instance: str | None = None,
        assignments: Sequence[tuple[str, bytes]] | None = None,
    ) -> Any:
        given = [(member_id, b"A")] if assignments is None else assignments
        request = SyncGroupRequest(
            group_id=self.group if group is None else group,
            generation_id=generation_id,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol[0],
            protocol_name=protocol[1],
            assignments=[SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in given],
        )
        return self.ask(label, request, min(self.version, NEWEST_SYNC))

    def heartbeat(
        self,
        label: str,
        member_id: str,
        generation_id: int = 1,
        *,
        group: str | None = None,
        instance: str | None = None,
    ) -> Any:
        request = HeartbeatRequest(
            group_id=self.group if group is None else group,
            generation_id=generation_id,
            member_id=member_id,
            group_instance_id=instance,
        )
        return self.ask(label, request, min(self.version, NEWEST_HEARTBEAT))

    def leave(self, label: str, *members: tuple[str, str | None], group: str | None = None) -> Any:
        """Let members leave; before version 3 the first of them alone."""
        version = min(self.version, NEWEST_LEAVE)
        group = self.group if group is None else group
        request = LeaveGroupRequest(group_id=group)
        if version < MANY_IN_LEAVE:
            request.member_id = members[0][0] if members else ""
        else:
            request.members = [MemberIdentity(member_id=m, group_instance_id=i) for m, i in members]
        return self.ask(label, request, version)

    def describe(self, label: str, *groups: str, operations: bool = False) -> Any:
        request = DescribeGroupsRequest(
            groups=list(groups or (self.group,)), include_authorized_operations=operations
        )
        return self.ask(label, request, min(self.version, NEWEST_DESCRIBE))

    def await_rebalance(self, member_id: str, generation_id: int) -> None:
        """Beat, unseen, until the member is told to rejoin: a join sent over another connection has come."""
        beat = HeartbeatRequest(group_id=self.group, generation_id=generation_id, member_id=member_id)
        self.side.arrange_until(beat, 2, lambda answer: answer.error_code == REBALANCE_IN_PROGRESS)

    def join_waiting(self, connection: Connection, member_id: str = "", **fields: Any) -> None:
        """Send a JoinGroup over a connection of its own, and leave it unanswered."""
        connection.send(framed(request_body(self.join_request(member_id, **fields), self.version)))
