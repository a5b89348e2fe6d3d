"""Tests of groups/consumer/admission.py: who is let in, and with what."""

import pytest

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups.consumer.admission import check_request
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatTopicPartitions,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def request(**fields: object) -> ConsumerGroupHeartbeatRequest:
    """A first request that is as it must be, but for these fields."""
    made = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=1,
        subscribed_topic_names=[],
        topic_partitions=[],
    )
    for name, value in fields.items():
        setattr(made, name, value)
    return made


SOME = [HeartbeatTopicPartitions(topic_id=bytes(16), partitions=[0])]


@pytest.mark.parametrize(
    "fields",
    [
        {"group_id": ""},
        {"group_id": " \t"},
        {"member_id": ""},
        {"member_id": "", "member_epoch": 1},
        {"member_id": "", "member_epoch": -1},
        {"instance_id": ""},
        {"rack_id": " "},
        {"rebalance_timeout_ms": -1},
        {"topic_partitions": None},
        {"topic_partitions": SOME},
        {"subscribed_topic_names": None},
        {"member_epoch": -2},
        {"member_epoch": -3},
    ],
)
def test_request_of_the_wrong_form_is_invalid(fields: dict[str, object]) -> None:
    """INVALID_REQUEST (42), as Kafka's GroupCoordinatorService has it."""
    with pytest.raises(KafkaError) as caught:
        check_request(request(**fields), ["uniform"], member_id_required=True)

    assert caught.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"subscribed_topic_names": None, "subscribed_topic_regex": ""},
        {"member_epoch": -2, "instance_id": "i"},
        {"member_epoch": -1},
        {"member_epoch": 5, "topic_partitions": SOME, "rebalance_timeout_ms": -1},
        {"server_assignor": "uniform"},
    ],
)
def test_request_of_the_right_form_is_let_through(fields: dict[str, object]) -> None:
    """Joining without any topic is allowed."""
    check_request(request(**fields), ["uniform"], member_id_required=True)


@pytest.mark.parametrize("epoch", [0, -2])
def test_version_0_may_join_without_a_member_id(epoch: int) -> None:
    """The coordinator makes one."""
    check_request(request(member_id="", member_epoch=epoch, instance_id="i"), [], member_id_required=False)


def test_assignor_must_be_one_of_the_brokers() -> None:
    """UNSUPPORTED_ASSIGNOR (112), and the answer names those there are."""
    with pytest.raises(KafkaError, match="uniform, range") as caught:
        check_request(request(server_assignor="mine"), ["uniform", "range"], member_id_required=True)

    assert caught.value.code is ErrorCode.UNSUPPORTED_ASSIGNOR


def test_empty_classic_group_of_the_name_gives_way() -> None:
    """Its record is deleted, what it committed stays."""
    play = ConsumerPlaybook(t=1)
    play.stable("c")
    play.commit("c-1", 1)
    play.leave(("c-1", None))
    assert "g" in play.shard.volatile.groups
    play.consumer("a", "t").join()

    assert "g" not in play.shard.volatile.groups
    assert play.group.members.keys() == {"a"}
    assert play.fetch_all() != {}
    play.restart()
    assert play.group.members.keys() == {"a"}
    assert "g" not in play.shard.volatile.groups


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
