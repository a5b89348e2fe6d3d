"""The rules of topic names and of where replicas may lie."""

from collections.abc import Callable

import pytest

from wirekafka.metadata.topics import (
    check_assignment,
    check_replication_factor,
    collision_key,
    is_internal,
    partition_record,
    validate_name,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


@pytest.mark.parametrize("name", ["a", "A-9_.z", "...", "a" * 249, "-", "__consumer_offsets"])
def test_legal_name_passes(name: str) -> None:
    """ASCII letters, digits, '.', '_' and '-', up to 249 of them (Kafka's Topic)."""
    check: Callable[[str], object] = validate_name

    assert check(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("a" * 250, "is longer than the max allowed length 249"),
        ("a b", "'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("é", "contains one or more characters"),
        ("a\n", "contains one or more characters"),
        ("٣", "contains one or more characters"),
    ],
)
def test_illegal_name_is_refused_with_its_fault(name: str, fault: str) -> None:
    """Kafka's Topic.validate, code 17."""
    with pytest.raises(KafkaError, match="Topic name is invalid") as caught:
        validate_name(name)

    assert caught.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert fault in caught.value.message


def test_names_collide_that_differ_in_dot_and_underscore() -> None:
    """Metric names put '_' for '.'."""
    assert collision_key("a.b_c") == collision_key("a_b.c") == "a_b_c"
    assert collision_key("abc") is None


def test_internal_topics_are_three() -> None:
    """The metadata log is no topic that clients see."""
    names = ["__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata", "t"]

    assert [is_internal(name) for name in names] == [True, True, True, False, False]


def test_one_broker_keeps_one_replica() -> None:
    """More than one cannot be had."""
    check_replication_factor(1)

    with pytest.raises(KafkaError, match="only 1 broker"):
        check_replication_factor(2)


def test_assignment_must_agree_with_the_partitions_before() -> None:
    """Every partition of a topic has as many replicas."""
    with pytest.raises(KafkaError, match=r"with 2 replica\(s\).*which have 1 replica\(s\)"):
        check_assignment([1, 2], frozenset({1, 2}), expected=1)


def test_new_partition_is_led_by_its_first_replica_in_epoch_zero() -> None:
    """All replicas begin in sync."""
    record = partition_record(b"\1" * 16, 3, [2, 1])

    assert (record.partition_id, record.leader, record.leader_epoch) == (3, 2, 0)
    assert record.replicas == record.isr == [2, 1]
    assert len(record.directories) == 2
