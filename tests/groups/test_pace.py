"""Tests of groups/pace.py: how often so many members beat, and whether their answers wait for news."""

import pytest

from wirekafka.groups import GroupConfig
from wirekafka.groups.pace import HEARTBEATS_A_SECOND, MOST_HELD, at_pace

QUICK = GroupConfig(consumer_heartbeat_fastest_ms=100, group_consumer_heartbeat_interval_ms=5_000)


def interval_ms(config: GroupConfig, member_count: int) -> int:
    paced = at_pace(config, classic_members=0, consumer_members=member_count)
    return paced.group_consumer_heartbeat_interval_ms


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

    assert at_pace(config, classic_members=10_000, consumer_members=3) is config


@pytest.mark.parametrize(("classic_members", "hold_ms"), [(0, 2_500), (MOST_HELD, 2_500), (MOST_HELD + 1, 0)])
def test_heartbeats_are_held_while_few_members_send_them(classic_members: int, hold_ms: int) -> None:
    """Of three thousand the broker would do little else than to hold and let go."""
    config = GroupConfig(heartbeat_hold_max_ms=2_500)
    paced = at_pace(config, classic_members=classic_members, consumer_members=0)

    assert paced.heartbeat_hold_max_ms == hold_ms
