"""Tests of groups/classic/group.py."""

import pytest

from wirekafka.groups import Client
from wirekafka.groups.classic.group import ClassicGroup, Replacement
from wirekafka.groups.classic.member import Member, Parked
from wirekafka.groups.classic.states import ClassicGroupState
from wirekafka.machine import Ticket
from wirekafka.protocol.error_codes import ErrorCode


def member(member_id: str, *protocols: str, instance: str | None = None, rebalance_ms: int = 1) -> Member:
    return Member(
        member_id=member_id,
        group_instance_id=instance,
        client=Client("c", "/h"),
        rebalance_timeout_ms=rebalance_ms,
        session_timeout_ms=1,
        protocols=tuple((name, b"") for name in protocols or ("range",)),
    )


def preparing(*members: Member, protocol_type: str = "connect") -> ClassicGroup:
    group = ClassicGroup("g", protocol_type=protocol_type)
    group.move_to(ClassicGroupState.PREPARING_REBALANCE, 5)
    for one in members:
        group.add(one)
        group.awaiting_join[one.member_id] = Parked(Ticket(1))
    return group


def test_most_votes_win_among_what_all_support() -> None:
    """A protocol that one member lacks is out, however many would vote for it."""
    group = preparing(member("a", "x", "p", "q"), member("b", "x", "q", "p"), member("c", "q", "p"))

    assert group.select_protocol() == "q"


def test_tied_vote_is_decided_as_by_kafka() -> None:
    """Whoever was there first: so a rolling upgrade ends in the protocol that it would have there."""
    for one, other in (("range", "cooperative-sticky"), ("cooperative-sticky", "range")):
        group = preparing(member("a", one, other), member("b", other, one))
        assert group.select_protocol() == "range"


def test_group_supports_what_a_protocol_of_all_members_allows() -> None:
    """One common protocol and the same type are needed; an empty group takes what it gets."""
    group = preparing(member("a", "p", "q"), member("b", "q"))

    assert group.supports("connect", ["x", "q"])
    assert not group.supports("connect", ["p"])
    assert not group.supports("consumer", ["q"])
    assert ClassicGroup("g").supports("any", ["any"])
    assert not ClassicGroup("g").supports("", ["any"])
    assert not ClassicGroup("g").supports("any", [])


def test_first_member_leads_and_the_next_follows_when_it_goes() -> None:
    """A leader that is removed is succeeded by the member who was there longest."""
    group = preparing(member("a"), member("b"))
    assert group.leader_id == "a"
    group.awaiting_join.clear()
    group.remove("a")
    assert group.leader_id == "b"
    group.remove("b")

    assert group.leader_id is None


def test_parked_member_may_not_be_removed_silently() -> None:
    """Its request would never be answered: our own mistake."""
    group = preparing(member("a"))

    with pytest.raises(AssertionError):
        group.remove("a")


def test_leader_must_be_among_those_who_joined() -> None:
    """Kafka's maybeElectNewJoinedLeader."""
    group = preparing(member("a"), member("b"))
    assert group.elect_joined_leader()
    assert group.leader_id == "a"
    del group.awaiting_join["a"]
    assert group.elect_joined_leader()
    assert group.leader_id == "b"
    group.awaiting_join.clear()

    assert not group.elect_joined_leader()


def test_generation_starts_with_members_or_ends_empty() -> None:
    """Both count the generation up; the time of the state is what offsets expire from."""
    group = preparing(member("a"))
    group.start_generation(9)
    assert (group.generation_id, group.protocol_name, group.state_since_ms) == (1, "range", 9)
    assert group.is_completing
    empty = preparing()
    empty.start_generation(7)

    assert (empty.generation_id, empty.protocol_name, empty.state_since_ms) == (1, None, 7)
    assert empty.is_empty


def test_all_have_joined_when_nobody_is_pending_either() -> None:
    """A member id given out is a member expected."""
    group = preparing(member("a"))
    assert group.all_joined
    group.pending_members.add("b")

    assert not group.all_joined


def test_rebalance_timeout_is_the_longest_of_the_members() -> None:
    """Nobody is dropped before the time that it asked for."""
    assert preparing(member("a", rebalance_ms=5), member("b", rebalance_ms=9)).rebalance_timeout_ms == 9
    assert preparing().rebalance_timeout_ms == 0


def test_instance_is_fenced_by_its_present_member() -> None:
    """UNKNOWN_MEMBER_ID for what is not there, FENCED_INSTANCE_ID for what another one holds."""
    group = preparing(member("a", instance="i"), member("b"))

    assert group.member_refusal("a", "i") is None
    assert group.member_refusal("a", None) is None
    assert group.member_refusal("b", "i") is ErrorCode.FENCED_INSTANCE_ID
    assert group.member_refusal("b", "j") is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.member_refusal("c", None) is ErrorCode.UNKNOWN_MEMBER_ID


def test_replacement_can_be_undone() -> None:
    """What the old member had comes back with its id, its lead and its protocols."""
    group = preparing(member("a", "p", instance="i"))
    group.awaiting_join.clear()
    old = group.members["a"]
    new = group.replace_static(old, "n")
    group.update(new, (("p", b"new"), ("q", b"")), rebalance_ms=8, session_ms=9)
    assert (group.leader_id, group.static_members, group.protocol_counts["q"]) == ("n", {"i": "n"}, 1)
    back = group.undo_replacement(Replacement(old, "n"))

    assert back == old
    assert group.members == {"a": old}
    assert (group.leader_id, group.static_members, group.protocol_counts["q"]) == ("a", {"i": "a"}, 0)


def test_new_member_is_not_alive_by_waiting() -> None:
    """It cannot know its id, and so cannot beat; it is given five minutes in all."""
    group = preparing(member("a"), member("b"))
    group.members["a"].is_new = True
    del group.awaiting_join["b"]

    assert not group.is_alive_by_waiting(group.members["a"])
    assert not group.is_alive_by_waiting(group.members["b"])
    group.members["a"].is_new = False
    assert group.is_alive_by_waiting(group.members["a"])


def test_unknown_topics_count_as_subscribed_for_consumers_only() -> None:
    """Kafka's isSubscribedToTopic."""
    consumers = preparing(member("a"), protocol_type="consumer")
    consumers.start_generation(0)
    others = preparing(member("a"))
    others.start_generation(0)
    assert consumers.topics is None
    assert consumers.is_subscribed_to("any")
    assert not others.is_subscribed_to("any")
    consumers.topics = frozenset({"t"})

    assert consumers.is_subscribed_to("t")
    assert not consumers.is_subscribed_to("u")


def test_consumers_without_a_protocol_have_unknown_topics() -> None:
    """There is no metadata to read before the vote."""
    group = preparing(member("a"), protocol_type="consumer")
    group.refresh_topics()
    assert group.topics is None
    empty = preparing(protocol_type="consumer")
    empty.refresh_topics()

    assert empty.topics == frozenset()


def test_forbidden_move_is_refused() -> None:
    """The table is asked at every move."""
    with pytest.raises(ValueError, match="from Empty to Stable"):
        ClassicGroup("g").move_to(ClassicGroupState.STABLE, 0)
