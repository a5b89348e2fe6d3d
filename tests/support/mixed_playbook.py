"""Playbooks of groups whose members speak both protocols: those of `consumer_playbook`, and classic ones.

A `ClassicConsumer` is a client of the classic protocol which joins, syncs and heeds what it is told.

Source: KIP-848 (online migration), the classic member's side.
"""

from collections.abc import Mapping, Sequence

from tests.support.consumer_playbook import ConsumerPlaybook
from tests.support.consumer_protocol import Shares, assigned_by, assigned_bytes, subscription_bytes
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.join_group import JoinGroupResponse
from wirekafka.protocol.apis.leave_group import LeaveGroupResponse
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.error_codes import ErrorCode


class ClassicConsumer:
    """A client of the classic protocol; it is cooperative, and says what it has when it joins."""

    def __init__(self, play: ConsumerPlaybook, name: str, *topics: str, instance: str | None = None) -> None:
        self.play = play
        self.name = name
        self.topics = list(topics)
        self.instance = instance
        self.rack: str | None = None
        self.member_id = ""
        self.generation = -1
        self.has: dict[str, list[int]] = {}
        self.protocols: tuple[str, ...] = ("range",)
        self.version = 3

    def send_join(self, **more: object) -> Ticket:
        """Send a JoinGroup; what it says in `more` is in place of what it would say. Give its ticket."""
        metadata = subscription_bytes(self.topics, self.has, rack_id=self.rack, version=self.version)
        said = {
            "instance": self.instance,
            "protocols": dict.fromkeys(self.protocols, metadata),
            **more,
        }
        return self.play.join(self.name, self.member_id, **said)  # type: ignore[arg-type]

    def heard(self, ticket: Ticket) -> JoinGroupResponse:
        """Take the answer to a JoinGroup, and go by it."""
        response = self.play.answers[ticket]
        assert isinstance(response, JoinGroupResponse)
        if response.error_code == ErrorCode.NONE:
            self.member_id, self.generation = response.member_id, response.generation_id
        return response

    def join(self, **more: object) -> JoinGroupResponse:
        """Send a JoinGroup that is answered at once, with `more` as for `send_join`."""
        return self.heard(self.send_join(**more))

    def sync(self) -> SyncGroupResponse:
        """Send a SyncGroup, and go by the assignment."""
        ticket = self.play.sync(
            self.member_id, self.generation, instance=self.instance, protocol=("consumer", self.protocols[0])
        )
        response = self.play.answers[ticket]
        assert isinstance(response, SyncGroupResponse)
        if response.error_code == ErrorCode.NONE:
            self.has = assigned_by(response.assignment)
        return response

    def join_and_sync(self) -> None:
        assert self.join().error_code == ErrorCode.NONE
        assert self.sync().error_code == ErrorCode.NONE

    def beat(self) -> ErrorCode:
        return self.play.heartbeat(self.member_id, self.generation, instance=self.instance)

    def follow(self) -> None:
        """Send a heartbeat, and rejoin if it is told to."""
        if self.beat() is ErrorCode.REBALANCE_IN_PROGRESS:
            self.join_and_sync()

    def leave(self) -> LeaveGroupResponse:
        """Send a LeaveGroup."""
        response = self.play.answers[self.play.leave((self.member_id, self.instance))]
        assert isinstance(response, LeaveGroupResponse)
        return response


def join_together(play: ConsumerPlaybook, members: Sequence[ClassicConsumer], wait_ms: int = 60_000) -> None:
    """Let all of them join, and wait for the answers."""
    tickets = [member.send_join() for member in members]
    deadline_ms = play.now_ms + wait_ms
    while any(ticket not in play.answers for ticket in tickets) and play.now_ms < deadline_ms:
        play.pass_ms(1_000)
    for member, ticket in zip(members, tickets, strict=True):
        assert member.heard(ticket).error_code == ErrorCode.NONE


def share_out(play: ConsumerPlaybook, shares: Mapping[ClassicConsumer, Shares | bytes]) -> None:
    """Let members join, and have the first assign this to them."""
    members = list(shares)
    join_together(play, members)
    written = {
        member.member_id: share if isinstance(share, bytes) else assigned_bytes(share)
        for member, share in shares.items()
    }
    for number, member in enumerate(members):
        play.sync(member.member_id, member.generation, {} if number else written, instance=member.instance)
    for member, share in shares.items():
        member.has = (
            {} if isinstance(share, bytes) else {t: list(partitions) for t, partitions in share.items()}
        )
