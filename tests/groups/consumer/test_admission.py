"""Tests of groups/consumer/admission.py: who is let in, and with what."""

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.protocol.error_codes import ErrorCode


def test_empty_classic_group_of_the_name_gives_way() -> None:
    """Its record is deleted, what it committed stays."""
    play = ConsumerPlaybook(t=1)
    play.stable("c")
    play.commit("c-1", 1)
    play.leave(("c-1", None))
    assert "g" in play.shard.volatile.classic_groups
    play.consumer("a", "t").join()

    assert "g" not in play.shard.volatile.classic_groups
    assert play.group.members.keys() == {"a"}
    assert play.fetch_all() != {}
    play.restart()
    assert play.group.members.keys() == {"a"}
    assert "g" not in play.shard.volatile.classic_groups


def test_group_that_only_has_offsets_gives_way() -> None:
    """A simple consumer committed to it."""
    play = ConsumerPlaybook(t=1)
    play.commit("", -1)
    play.consumer("a", "t").join()

    assert play.group.members.keys() == {"a"}
    assert play.fetch_all() != {}


def test_members_of_an_unknown_group_or_id_are_told_so() -> None:
    """UNKNOWN_MEMBER_ID in a group that is there."""
    play = ConsumerPlaybook(t=1)
    play.settled("a")
    stranger = play.consumer("x")
    stranger.epoch = 3

    assert stranger.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_consumer_heartbeats_to_a_classic_group_find_no_consumer_group() -> None:
    """GROUP_ID_NOT_FOUND, and the answer says which."""
    play = ConsumerPlaybook(t=1)
    play.stable("c")
    stranger = play.consumer("x")
    stranger.epoch = 3
    answer = stranger.beat()

    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert "is not a consumer group" in (answer.error_message or "")


def test_instance_id_in_use_is_not_released() -> None:
    """UNRELEASED_INSTANCE_ID (111) until its holder leaves or its session ends."""
    play = ConsumerPlaybook(t=1)
    holder = play.consumer("a", "t", instance="i")
    holder.join()
    other = play.consumer("b", "t", instance="i")
    assert other.join().error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    play.pass_ms(45_000)

    assert other.join().error_code == ErrorCode.NONE


def test_static_member_is_fenced_by_its_successor() -> None:
    """FENCED_INSTANCE_ID (82); an instance id that nobody has is UNKNOWN_MEMBER_ID."""
    play = ConsumerPlaybook(t=1)
    old = play.consumer("a", "t", instance="i")
    old.join()
    old.leave(for_a_while=True)
    new = play.consumer("b", "t", instance="i")
    new.join()
    old.epoch = 2
    assert old.beat().error_code == ErrorCode.FENCED_INSTANCE_ID
    old.instance = "j"

    assert old.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_static_member_may_come_back_into_a_full_group() -> None:
    """It adds nobody."""
    play = ConsumerPlaybook(t=1)
    old = play.consumer("a", "t", instance="i")
    old.join()
    old.leave(for_a_while=True)
    play.shard.config = play.config.__class__(group_consumer_max_size=1)

    assert play.consumer("b", "t", instance="i").join().error_code == ErrorCode.NONE
    assert play.consumer("c", "t", instance="j").join().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_group_of_a_type_that_is_not_served_is_no_consumer_group() -> None:
    """Neither to who joins, nor to who stays, nor to who leaves."""
    play = ConsumerPlaybook(t=1)
    play.shard.durable.foreign_groups["g"] = ForeignGroup("g", ForeignGroupType.SHARE)
    answers = []
    for epoch in (0, 3):
        client = play.consumer("x", "t")
        client.epoch = epoch
        answers.append(client.beat() if epoch else client.join())
    answers.append(client.leave())

    assert {answer.error_message for answer in answers} == {"Group g is not a consumer group."}
    assert play.log == []
