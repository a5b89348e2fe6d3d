"""Story: static members of the consumer protocol go away and come back to what they had."""

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.protocol.error_codes import ErrorCode

SESSION_MS = 45_000


def test_a_static_member_that_left_for_a_while_finds_its_partitions() -> None:
    """Epoch -2 keeps its place: no rebalance for the others, the same partitions under a new member id."""
    play = ConsumerPlaybook(t=4)
    first = play.consumer("a", "t", instance="i")
    other = play.consumer("b", "t")
    first.join()
    other.join()
    play.settle(first, other)
    had, epoch = first.has, other.epoch
    first.leave(for_a_while=True)
    play.pass_ms(SESSION_MS // 2)
    other.beat()
    back = play.consumer("a2", "t", instance="i")
    back.join()
    play.settle(back, other)

    assert back.has == had
    assert other.epoch == epoch
    assert set(play.group.members) == {"a2", "b"}


def test_a_static_member_that_stays_away_is_dropped_after_its_session() -> None:
    """It said that it would be back, and has a session time-out for that."""
    play = ConsumerPlaybook(t=4)
    first = play.consumer("a", "t", instance="i")
    other = play.consumer("b", "t")
    first.join()
    other.join()
    play.settle(first, other)
    first.leave(for_a_while=True)
    left_ms = play.now_ms
    while play.now_ms < left_ms + SESSION_MS:
        assert "a" in play.group.members
        play.pass_ms(5_000)
        other.beat()
    play.settle(other)

    assert other.has == {"t": [0, 1, 2, 3]}


def test_an_instance_id_in_use_is_not_given_away() -> None:
    """UNRELEASED_INSTANCE_ID for the second process; the first one is not disturbed."""
    play = ConsumerPlaybook(t=4)
    first = play.consumer("a", "t", instance="i")
    first.join()
    play.settle(first)
    second = play.consumer("b", "t", instance="i")

    assert second.join().error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    assert first.beat().error_code == ErrorCode.NONE
    assert first.has == {"t": [0, 1, 2, 3]}


def test_a_crashed_static_member_may_come_back_after_its_session() -> None:
    """Without a last word its place is taken until the session time-out has passed."""
    play = ConsumerPlaybook(t=4)
    first = play.consumer("a", "t", instance="i")
    first.join()
    second = play.consumer("b", "t", instance="i")
    play.pass_ms(SESSION_MS - 1)
    assert second.join().error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    play.pass_ms(1)

    assert second.join().error_code == ErrorCode.NONE
    assert second.has == {"t": [0, 1, 2, 3]}


def test_the_place_of_a_static_member_is_in_the_log() -> None:
    """After a restart of the broker it still finds what it had."""
    play = ConsumerPlaybook(t=4)
    first = play.consumer("a", "t", instance="i")
    other = play.consumer("b", "t")
    first.join()
    other.join()
    play.settle(first, other)
    had = first.has
    first.leave(for_a_while=True)
    play.restart()
    back = play.consumer("a2", "t", instance="i")
    back.join()
    play.settle(back, other)

    assert back.has == had
