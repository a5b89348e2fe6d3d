"""Tests of groups/classic/attempt.py."""

from wirekafka.groups import Client, GroupConfig
from wirekafka.groups.classic.attempt import JoinAttempt, JoinFacts, new_member_id
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.classic.volatile import Volatile
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol


def attempt(rebalance_ms: int, *names: str) -> JoinAttempt:
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=7,
        rebalance_timeout_ms=rebalance_ms,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name=n, metadata=n.encode()) for n in names],
    )
    facts = JoinFacts(Ticket(1), Client("c", "/h"), "uuid", True, True)
    return JoinAttempt(Turn(GroupConfig(), Volatile(), 0, 0), ClassicGroup("g"), request, facts)


def test_member_id_is_made_of_instance_or_client_and_uuid() -> None:
    """ClassicGroup.generateMemberId."""
    assert new_member_id("client", None, "uuid") == "client-uuid"
    assert new_member_id("client", "instance", "uuid") == "instance-uuid"
    assert attempt(1).new_member_id() == "c-uuid"


def test_request_without_a_rebalance_timeout_means_its_session() -> None:
    """JoinGroup v0."""
    assert attempt(-1).rebalance_timeout_ms == 7
    assert attempt(5).rebalance_timeout_ms == 5


def test_protocol_named_twice_counts_once() -> None:
    """Else the member would count as two among those who support it."""
    assert attempt(1, "p", "q", "p").protocols == (("p", b"p"), ("q", b"q"))
