"""Playbooks of groups whose members speak both protocols: those of `consumer_playbook`, and classic ones.

A `ClassicConsumer` is a client of the classic protocol which joins, syncs and heeds what it is told.

Source: KIP-848 (online migration), the classic member's side.
"""

import struct
from collections.abc import Mapping, Sequence

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.protocol.apis.join_group import JoinGroupResponse
from wirekafka.protocol.apis.leave_group import LeaveGroupResponse
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedPartitions,
)


def subscription_bytes(
    topics: Sequence[str],
    owned: Mapping[str, Sequence[int]] | None = None,
    *,
    rack_id: str | None = None,
    version: int = 3,
) -> bytes:
    """What a consumer says of itself in JoinGroup."""
    message = ConsumerProtocolSubscription(
        topics=list(topics),
        owned_partitions=[
            OwnedPartitions(topic=topic, partitions=list(partitions))
            for topic, partitions in (owned or {}).items()
        ],
        rack_id=rack_id,
    )
    return struct.pack(">h", version) + codec_for(ConsumerProtocolSubscription, version).build(message)


def assigned_by(assignment: bytes) -> dict[str, list[int]]:
    """What a consumer reads in the assignment that SyncGroup gave it."""
    (version,) = struct.unpack_from(">h", assignment)
    message = codec_for(ConsumerProtocolAssignment, version).parse(assignment[2:])
    return {one.topic: one.partitions for one in message.assigned_partitions}


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

    def join(self, **more: object) -> JoinGroupResponse:
        """Send a JoinGroup; what it says in `more` is in place of what it would say."""
        metadata = subscription_bytes(self.topics, self.has, rack_id=self.rack, version=self.version)
        said = {
            "instance": self.instance,
            "protocols": dict.fromkeys(self.protocols, metadata),
            **more,
        }
        ticket = self.play.join(self.name, self.member_id, **said)  # type: ignore[arg-type]
        response = self.play.answers[ticket]
        assert isinstance(response, JoinGroupResponse)
        if response.error_code == ErrorCode.NONE:
            self.member_id, self.generation = response.member_id, response.generation_id
        return response

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
