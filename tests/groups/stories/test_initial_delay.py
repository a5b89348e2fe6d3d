"""Story: the first rebalance of an empty group waits for members to find each other."""

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import GroupConfig


def test_one_member_waits_the_initial_delay() -> None:
    """group.initial.rebalance.delay.ms: 3 seconds with nobody else coming."""
    play = GroupPlaybook()
    ticket = play.join("a")

    assert play.machine.wake_at_ms() == 3_000
    play.at(2_999)
    assert ticket in play.waiting
    play.at(3_000)
    assert play.joined(ticket).generation_id == 1


def test_a_new_member_extends_the_delay_once() -> None:
    """Kafka: after a delay in which somebody came, it waits once more."""
    play = GroupPlaybook()
    first = play.join("a")
    play.at(2_000)
    second = play.join("b")
    play.at(5_999)
    assert play.waiting == {first, second}

    play.at(6_000)
    assert play.joined(first).generation_id == play.joined(second).generation_id == 1


def test_the_delay_ends_at_the_rebalance_timeout() -> None:
    """Kafka: members that keep coming cannot hold the first ones longer than they allow."""
    play = GroupPlaybook()
    first = play.join("a", rebalance_ms=7_000)
    for second in range(1, 7):
        play.at(second * 1_000)
        play.join(f"m{second}", rebalance_ms=7_000)
    assert first in play.waiting
    play.at(6_999)
    assert first in play.waiting

    play.at(7_000)
    assert len(play.joined(first).members) == 7


def test_no_delay_answers_at_once() -> None:
    """A delay of 0 leaves the generation to the next turn of the clock, at the same time."""
    play = GroupPlaybook(GroupConfig(group_initial_rebalance_delay_ms=0))
    ticket = play.join("a")
    assert play.machine.wake_at_ms() == 0
    play.at(0)

    assert play.joined(ticket).generation_id == 1
