"""Story: groups that are not of consumers, as Connect workers and schema registries form them."""

import pytest

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import GroupConfig
from wirekafka.protocol.error_codes import ErrorCode

PROTOCOLS = {"compatible": b"\xffnot a subscription", "eager": b""}


@pytest.mark.parametrize("protocol_type", ["connect", "sr"])
def test_group_of_any_protocol_type_shares_what_its_leader_says(protocol_type: str) -> None:
    """Kafka: metadata and assignments are passed on unread; the type is the group's from its first member."""
    play = GroupPlaybook()
    tickets = [play.join(who, protocol_type=protocol_type, protocols=PROTOCOLS) for who in "ab"]
    consumer = play.join("c", protocols=PROTOCOLS)
    play.at(6_000)
    leader, follower = (play.joined(ticket) for ticket in tickets)
    said = (protocol_type, "compatible")
    waits = play.sync(follower.member_id, 1, protocol=said)
    play.sync(leader.member_id, 1, {follower.member_id: b"connector"}, protocol=said)

    assert play.joined(consumer).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert (leader.protocol_type, leader.protocol_name) == said
    assert [one.metadata for one in leader.members] == [b"\xffnot a subscription"] * 2
    assert play.synced(waits).assignment == b"connector"
    assert [(row.protocol_type, row.group_state) for row in play.shard.list_groups()] == [
        (protocol_type, "Stable")
    ]


def test_empty_group_takes_the_type_of_who_comes_next() -> None:
    """Kafka: what the group was before it was empty binds nobody."""
    play = GroupPlaybook(GroupConfig(group_initial_rebalance_delay_ms=0))
    play.join("a", protocol_type="connect")
    play.at(0)
    play.leave(("a-1", None))
    ticket = play.join("b")
    play.at(0)

    assert play.joined(ticket).protocol_type == "consumer"


def test_offsets_of_such_a_group_stay_while_it_has_members() -> None:
    """KIP-211: nobody but the members knows what they read."""
    play = GroupPlaybook(GroupConfig(offsets_retention_ms=10_000, offsets_retention_check_interval_ms=1_000))
    ticket = play.join("a", protocol_type="connect", session_ms=60_000)
    play.at(3_000)
    play.sync("a-1", play.joined(ticket).generation_id, {})
    play.commit("a-1", 1)
    play.at(30_000)
    assert play.fetch() == 1

    play.leave(("a-1", None))
    play.at(39_000)
    assert play.fetch() == 1
    play.at(41_000)
    assert play.fetch() == -1
