"""Tests of groups/consumer/assignment.py."""

from wirekafka.groups.consumer.assignment import (
    from_topics,
    in_order,
    overlap,
    owned_from_topics,
    together,
    with_epoch,
    without_epochs,
)
from wirekafka.protocol.stored.consumer_groups import CurrentTopicPartitions, TargetTopicPartitions

A, B = b"a" * 16, b"b" * 16


def current(topic_id: bytes, partitions: list[int], epochs: list[int] | None) -> CurrentTopicPartitions:
    return CurrentTopicPartitions(topic_id=topic_id, partitions=partitions, assignment_epochs=epochs)


def test_topic_without_partitions_is_not_in_an_assignment() -> None:
    """So equal assignments are equal values."""
    topics = [
        TargetTopicPartitions(topic_id=A, partitions=[1, 0]),
        TargetTopicPartitions(topic_id=B, partitions=[]),
    ]

    assert from_topics(topics) == {A: frozenset({0, 1})}


def test_topic_that_is_named_twice_has_the_partitions_of_both() -> None:
    """Else a member that says so would have given up what it still reads."""
    topics = [
        TargetTopicPartitions(topic_id=A, partitions=[1]),
        TargetTopicPartitions(topic_id=A, partitions=[0]),
    ]

    assert from_topics(topics) == {A: frozenset({0, 1})}


def test_owned_partitions_have_the_epochs_of_the_log() -> None:
    """KIP-1251: each partition has the epoch at which it was given."""
    assert owned_from_topics([current(A, [0, 1], [3, 4]), current(B, [], [])], 9) == {A: {0: 3, 1: 4}}


def test_partitions_without_epochs_have_the_members() -> None:
    """So does what an older Kafka wrote, or what it wrote for too few."""
    assert owned_from_topics([current(A, [0, 1], None)], 9) == {A: {0: 9, 1: 9}}
    assert owned_from_topics([current(A, [0, 1], [3])], 9) == {A: {0: 9, 1: 9}}


def test_epoch_of_a_member_that_left_for_a_while_is_none_for_its_partitions() -> None:
    """The -2 of a static member is not an epoch."""
    assert owned_from_topics([current(A, [0], None)], -2) == {A: {0: 0}}


def test_topics_and_partitions_are_written_in_order() -> None:
    """Whatever order they were found in."""
    assert in_order({B: frozenset({2, 1}), A: {5: 1}}) == [(A, [5]), (B, [1, 2])]


def test_epochs_are_put_on_and_taken_off() -> None:
    """The partitions stay."""
    assert with_epoch({A: frozenset({0, 1})}, 7) == {A: {0: 7, 1: 7}}
    assert without_epochs({A: {0: 7, 1: 8}}) == {A: frozenset({0, 1})}


def test_together_has_the_partitions_of_both() -> None:
    """Of a partition that both have, the second's epoch."""
    assert together({A: {0: 1, 1: 1}}, {A: {1: 2}, B: {3: 4}}) == {A: {0: 1, 1: 2}, B: {3: 4}}


def test_overlap_is_of_partitions_not_of_topics() -> None:
    """Topics in common are not enough."""
    assert overlap({A: {0: 1}}, {A: frozenset({0}), B: frozenset({1})})
    assert not overlap({A: {0: 1}}, {A: frozenset({1}), B: frozenset({0})})
    assert not overlap({}, {A: frozenset({1})})
