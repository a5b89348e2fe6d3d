"""Tests of groups/consumer/form.py."""

import pytest

from wirekafka.groups.consumer.form import check
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
        check(request(**fields), ["uniform"], member_id_required=True)

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
    check(request(**fields), ["uniform"], member_id_required=True)


@pytest.mark.parametrize("epoch", [0, -2])
def test_version_0_may_join_without_a_member_id(epoch: int) -> None:
    """The coordinator makes one."""
    check(request(member_id="", member_epoch=epoch, instance_id="i"), [], member_id_required=False)


def test_assignor_must_be_one_of_the_brokers() -> None:
    """UNSUPPORTED_ASSIGNOR (112), and the answer names those there are."""
    with pytest.raises(KafkaError, match="uniform, range") as caught:
        check(request(server_assignor="mine"), ["uniform", "range"], member_id_required=True)

    assert caught.value.code is ErrorCode.UNSUPPORTED_ASSIGNOR
