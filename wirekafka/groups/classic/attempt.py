"""A JoinGroup under decision: the request and the facts that came with it.

`JoinAttempt` is made by `classic.joining`, and read there and in static_members; `JoinFacts` by
`groups.shard`, and read in `consumer.classic_members` too.

Source: the arguments that Kafka's GroupMetadataManager hands from one classicGroupJoin* to the next.
"""

from dataclasses import dataclass

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member, Protocols
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.client import Client
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.join_group import JoinGroupRequest


@dataclass(frozen=True, slots=True)
class JoinFacts:
    """What the request does not say itself: who asks, and what its version knows."""

    ticket: Ticket
    client: Client
    new_member_uuid: str
    member_id_required: bool
    skip_assignment_known: bool


@dataclass(frozen=True, slots=True)
class JoinAttempt:
    """One JoinGroup on its way through the group."""

    turn: Turn
    group: ClassicGroup
    request: JoinGroupRequest
    facts: JoinFacts

    @property
    def protocols(self) -> Protocols:
        """What the request offers."""
        return offered_protocols(self.request)

    @property
    def rebalance_timeout_ms(self) -> int:
        """What the request allows for a rebalance."""
        return rebalance_timeout_ms(self.request)

    def new_member_id(self) -> str:
        """Compose the id of a new member."""
        name = self.request.group_instance_id
        return new_member_id(self.facts.client.client_id, name, self.facts.new_member_uuid)

    def answer(self, response: object) -> None:
        """Answer at once."""
        self.turn.reply(self.facts.ticket, response)

    def park(self, member: Member) -> None:
        """Let the request wait as this member's, and the member have what the request asks for."""
        self.group.update(
            member,
            self.protocols,
            rebalance_ms=self.rebalance_timeout_ms,
            session_ms=self.request.session_timeout_ms,
        )
        self.turn.park_join(self.group, member.member_id, self.facts.ticket)


def offered_protocols(request: JoinGroupRequest) -> Protocols:
    """Give the protocols of a request, each name once: the votes count members by name."""
    return tuple({protocol.name: bytes(protocol.metadata) for protocol in request.protocols}.items())


def rebalance_timeout_ms(request: JoinGroupRequest) -> int:
    """Give the rebalance time-out of a request. JoinGroup v0 has none, and means its session time-out."""
    timeout_ms = request.rebalance_timeout_ms
    return request.session_timeout_ms if timeout_ms < 0 else timeout_ms


def new_member_id(client_id: str, group_instance_id: str | None, uuid_text: str) -> str:
    """Compose a member id as Kafka does: the instance id, or else the client id, then the UUID."""
    prefix = client_id if group_instance_id is None else group_instance_id
    return f"{prefix}-{uuid_text}"
