"""Tests of groups/consumer/sessions.py: members whose time is over."""

from dataclasses import replace

import pytest

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from tests.support.mixed_playbook import ClassicConsumer
from wirekafka.groups import GroupConfig
from wirekafka.groups.consumer import stored
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata


def test_silent_member_is_let_go_after_the_session_time_out() -> None:
    """The other gets its partitions."""
    play = ConsumerPlaybook(t=2)
    first, second = play.settled("a", "b")
    last_ms = play.now_ms
    for _ in range(8):
        play.pass_ms(5_000)
        first.beat()
    play.at(last_ms + 44_999)
    assert set(play.group.members) == {"a", "b"}
    play.at(last_ms + 45_000)
    assert set(play.group.members) == {"a"}
    first.beat()

    assert first.has == {"t": [0, 1]}
    assert second.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_members_that_fall_due_together_are_let_go_one_after_the_other() -> None:
    """Each decision stands on the epoch that the one before it wrote."""
    play = ConsumerPlaybook(t=2)
    first, second = play.settled("a", "b")
    epoch = play.group.group_epoch
    first.beat()
    second.beat()
    play.pass_ms(45_000)

    assert play.group.members == {}
    assert play.group.group_epoch == play.group.assignment_epoch == epoch + 2


def test_session_time_out_changes_while_the_group_runs() -> None:
    """consumer.session.timeout.ms of the group, from the next heartbeat on."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    play.overrides["consumer.session.timeout.ms"] = 20_000
    consumer.beat()
    start_ms = play.now_ms
    play.at(start_ms + 19_999)
    assert set(play.group.members) == {"a"}
    play.at(start_ms + 20_000)

    assert play.group.members == {}


def test_broker_wide_session_time_out_changes_while_the_group_runs() -> None:
    """The shard's settings may be replaced."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    play.shard.config = replace(play.config, group_consumer_session_timeout_ms=60_000)
    consumer.beat()
    play.pass_ms(59_999)
    assert set(play.group.members) == {"a"}
    play.pass_ms(1)

    assert play.group.members == {}


def test_member_that_does_not_give_up_is_let_go_after_its_rebalance_time_out() -> None:
    """Its heartbeats do not help it."""
    play = ConsumerPlaybook(t=2)
    (first,) = play.settled("a")
    second = play.consumer("b", "t")
    second.join()
    first.beat()
    for _ in range(11):
        play.pass_ms(5_000)
        first.beat(revokes=False)
        second.beat()
    assert set(play.group.members) == {"a", "b"}
    play.pass_ms(5_000)
    assert set(play.group.members) == {"b"}
    second.beat()

    assert second.has == {"t": [0, 1]}
    assert first.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_restart_gives_every_member_its_time_anew() -> None:
    """To be heard of, and to give up."""
    play = ConsumerPlaybook(t=2)
    (first,) = play.settled("a")
    first.rebalance_ms = 60_000
    play.consumer("b", "t").join()
    first.beat()
    play.pass_ms(40_000)
    play.restart()
    play.pass_ms(44_999)
    assert set(play.group.members) == {"a", "b"}
    first.beat(revokes=False)
    play.pass_ms(1)
    assert set(play.group.members) == {"a"}
    play.pass_ms(15_000)

    assert play.group.members == {}


def test_static_member_that_left_for_a_while_is_let_go_after_the_session_time_out() -> None:
    """Nobody came to take its place; what it had to give up is not asked of it."""
    play = ConsumerPlaybook(t=2)
    first = play.consumer("a", "t", instance="i")
    first.rebalance_ms = 1_000
    first.join()
    play.pass_ms(1_000)
    second = play.consumer("b", "t")
    second.join()
    first.beat()
    first.leave(for_a_while=True)
    play.pass_ms(5_000)
    second.beat()
    assert set(play.group.members) == {"a", "b"}
    play.pass_ms(40_000)

    assert set(play.group.members) == {"b"}


def test_removal_that_could_not_be_written_is_tried_again() -> None:
    """Half a second later, as Kafka's timers do."""
    play = ConsumerPlaybook(t=1)
    play.settled("a")
    start_ms = play.now_ms
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no")
    play.at(start_ms + 45_000)
    assert set(play.group.members) == {"a"}
    play.append_error = None
    play.at(start_ms + 45_499)
    assert set(play.group.members) == {"a"}
    play.at(start_ms + 45_500)

    assert play.group.members == {}


def test_member_whose_leaving_could_not_be_written_has_its_time_anew() -> None:
    """It was told so, and may leave again."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no")
    assert consumer.leave().error_code == ErrorCode.NOT_COORDINATOR
    play.append_error = None
    play.pass_ms(44_999)
    assert set(play.group.members) == {"a"}
    play.pass_ms(1)

    assert play.group.members == {}


def test_member_that_was_to_be_let_go_has_still_to_give_up() -> None:
    """Its rebalance time-out is tried again too."""
    play = ConsumerPlaybook(t=2)
    (first,) = play.settled("a")
    play.consumer("b", "t").join()
    first.beat()
    for _ in range(11):
        play.pass_ms(5_000)
        first.beat(revokes=False)
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no")
    play.pass_ms(5_000)
    first.beat(revokes=False)
    play.append_error = None
    play.pass_ms(500)

    assert "a" not in play.group.members


def test_member_of_a_group_that_was_never_written_has_no_deadline_that_matters() -> None:
    """Its heartbeat was answered with an error."""
    play = ConsumerPlaybook(t=1)
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no")
    play.consumer("a", "t").join()
    play.append_error = None
    play.pass_ms(45_000)

    assert play.log == []


def test_predecessor_of_a_static_member_is_let_go_in_silence() -> None:
    """Its deadline is left, and finds nobody."""
    play = ConsumerPlaybook(t=1)
    old = play.consumer("a", "t", instance="i")
    old.join()
    old.leave(for_a_while=True)
    new = play.consumer("b", "t", instance="i")
    new.join()
    for _ in range(10):
        play.pass_ms(5_000)
        new.beat()

    assert set(play.group.members) == {"b"}
    assert new.has == {"t": [0]}


def test_member_of_the_classic_protocol_has_its_own_session_time_out() -> None:
    """It said so in JoinGroup."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    classic = ClassicMemberMetadata(session_timeout_ms=7_000, supported_protocols=[])
    member = replace(play.member(consumer), classic=classic)
    play.log.append(play.codec.encode(stored.member_record("g", member), 0))
    play.restart()
    play.pass_ms(6_999)
    assert set(play.group.members) == {"a"}
    play.pass_ms(1)

    assert play.group.members == {}


def test_a_reply_of_the_same_tick_does_not_hide_that_a_deadline_was_not_written() -> None:
    """The silent member is looked at again at once, as when nothing else falls due."""
    play = ConsumerPlaybook(GroupConfig(group_initial_rebalance_delay_ms=45_000), t=2)
    play.group_id = "another"
    play.join("m")
    play.group_id = "g"
    play.consumer("a", "t").join()
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no")
    play.at(45_000)
    assert set(play.group.members) == {"a"}
    play.append_error = None
    play.pass_ms(500)

    assert play.group.members == {}


# --- members of the classic protocol: to join again and to sync, in time ---


@pytest.fixture
def new() -> Consumer:
    """A member by the consumer protocol, alone in its group, with the four partitions of its topic."""
    (made,) = ConsumerPlaybook(t=4).settled("new")
    return made


@pytest.fixture
def play(new: Consumer) -> ConsumerPlaybook:
    return new.play


@pytest.fixture
def old(play: ConsumerPlaybook) -> ClassicConsumer:
    """A classic member beside it, with a session that outlasts its rebalance time-out of 12 seconds."""
    play.pass_ms(1_000)
    made = ClassicConsumer(play, "old", "t")
    made.join(rebalance_ms=12_000, session_ms=30_000)
    return made


def test_member_has_its_rebalance_timeout_to_sync(play: ConsumerPlaybook, old: ClassicConsumer) -> None:
    """Heartbeats in between make no difference."""
    play.pass_ms(11_000)
    assert old.beat() is ErrorCode.NONE
    play.pass_ms(1_000)

    assert old.member_id not in play.group.members


def test_member_has_its_rebalance_timeout_to_join_again(
    play: ConsumerPlaybook, new: Consumer, old: ClassicConsumer
) -> None:
    """Since it was first told to."""
    old.sync()
    for _ in range(2):
        new.beat()
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    play.pass_ms(6_000)
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    play.pass_ms(5_999)
    assert old.member_id in play.group.members
    play.pass_ms(1)

    assert old.member_id not in play.group.members


def test_member_that_has_joined_and_synced_is_waited_for_no_more(
    play: ConsumerPlaybook, new: Consumer, old: ClassicConsumer
) -> None:
    old.sync()
    for _ in range(2):
        new.beat()
    old.beat()
    old.join(rebalance_ms=12_000, session_ms=30_000)
    old.sync()
    play.pass_ms(29_000)

    assert old.beat() is ErrorCode.NONE


def test_member_that_changes_to_the_consumer_protocol_need_not_sync(
    play: ConsumerPlaybook, old: ClassicConsumer
) -> None:
    """Under the id that it has."""
    play.consumer(old.member_id, "t").join()
    play.pass_ms(12_000)

    assert not play.group.members[old.member_id].is_classic


def test_deadline_of_a_member_that_is_gone_is_no_matter(play: ConsumerPlaybook, old: ClassicConsumer) -> None:
    """Nor that of a group that is."""
    old.leave()
    play.pass_ms(12_000)
    assert list(play.group.members) == ["new"]
    old.member_id = ""
    old.join(rebalance_ms=12_000, session_ms=60_000)
    play.leave(("new", None), (old.member_id, None))
    play.pass_ms(60_000)

    assert play.group.members == {}
