"""Tests of groups/consumer/pace.py: how often so many members beat."""

import pytest

from wirekafka.groups import GroupConfig
from wirekafka.groups.consumer.pace import HEARTBEATS_A_SECOND, at_pace

QUICK = GroupConfig(consumer_heartbeat_fastest_ms=100, group_consumer_heartbeat_interval_ms=5_000)


def interval_ms(config: GroupConfig, member_count: int) -> int:
    return at_pace(config, member_count).group_consumer_heartbeat_interval_ms


def test_few_members_beat_quickly() -> None:
    """They cost next to nothing, and learn of their partitions at once."""
    assert interval_ms(QUICK, 0) == 100
    assert interval_ms(QUICK, 3) == 100


@pytest.mark.parametrize("member_count", [25, 100, 600, 1250])
def test_many_members_send_no_more_together_than_is_allowed(member_count: int) -> None:
    """The interval grows as they do."""
    assert member_count * 1000 / interval_ms(QUICK, member_count) <= HEARTBEATS_A_SECOND


def test_interval_never_grows_beyond_the_usual_one() -> None:
    """Members of a session of 45 s must not be told to be silent for longer than Kafka would have it."""
    assert interval_ms(QUICK, 10_000) == 5_000


def test_usual_interval_that_is_shorter_still_holds() -> None:
    """Nobody is made slower by this."""
    config = GroupConfig(consumer_heartbeat_fastest_ms=100, group_consumer_heartbeat_interval_ms=50)

    assert interval_ms(config, 3) == 50


def test_number_of_members_does_not_matter_in_kafkas_way() -> None:
    """0 switches it off, and then nothing is changed."""
    config = GroupConfig()

    assert at_pace(config, 3) is config
