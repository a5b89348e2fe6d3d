"""A classic group brought to stability, for tests of groups that become one of the other kind."""

import struct
from collections.abc import Mapping, Sequence

from tests.support.consumer_playbook import ConsumerPlaybook
from tests.support.mixed_playbook import ClassicConsumer, subscription_bytes
from wirekafka.protocol.apis.join_group import JoinGroupResponse
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.stored.consumer_protocol import AssignedPartitions, ConsumerProtocolAssignment

Shares = Mapping[str, Sequence[int]]


def assigned_bytes(topics: Shares, *, user_data: bytes | None = None, version: int = 1) -> bytes:
    """What a leader gives a member to read."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedPartitions(topic=topic, partitions=list(partitions))
            for topic, partitions in topics.items()
        ],
        user_data=user_data,
    )
    return struct.pack(">h", version) + codec_for(ConsumerProtocolAssignment, version).build(message)


def send_join(member: ClassicConsumer, **said: object) -> int:
    """Send a JoinGroup whose answer may wait; give its ticket."""
    metadata = subscription_bytes(member.topics, member.has, rack_id=member.rack, version=member.version)
    offered = dict.fromkeys(member.protocols, metadata)
    return member.play.join(
        member.name,
        member.member_id,
        **{"instance": member.instance, "protocols": offered, **said},  # type: ignore[arg-type]
    )


def joined(play: ConsumerPlaybook, members: Sequence[ClassicConsumer], wait_ms: int = 60_000) -> None:
    """Let all of them join, and wait for the answers."""
    tickets = [send_join(member) for member in members]
    deadline_ms = play.now_ms + wait_ms
    while any(ticket not in play.answers for ticket in tickets) and play.now_ms < deadline_ms:
        play.pass_ms(1_000)
    for member, ticket in zip(members, tickets, strict=True):
        response = play.answers[ticket]  # type: ignore[index]
        assert isinstance(response, JoinGroupResponse)
        assert response.error_code == 0
        member.member_id, member.generation = response.member_id, response.generation_id


def stable(play: ConsumerPlaybook, shares: Mapping[ClassicConsumer, Shares | bytes]) -> None:
    """Let members join, and have the first assign this to them."""
    members = list(shares)
    joined(play, members)
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
