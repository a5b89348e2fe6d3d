"""Story: the broker stops and starts, and consumer groups go on with what the log has."""

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups import GroupConfig
from wirekafka.groups.consumer.group import ConsumerGroupState
from wirekafka.protocol.error_codes import ErrorCode

SESSION_MS = 45_000
DAY_MS = 24 * 60 * 60 * 1_000


def test_members_go_on_after_a_restart_without_noticing() -> None:
    """Epochs, owners and targets are in the log: the next heartbeat is answered as if nothing had been."""
    play = ConsumerPlaybook(t=4)
    first, second = play.settled("a", "b")
    had = (first.has, second.has, first.epoch)
    play.restart(after_ms=5_000)

    assert first.beat().error_code == second.beat().error_code == ErrorCode.NONE
    assert (first.has, second.has, first.epoch) == had
    assert play.group.state is ConsumerGroupState.STABLE


def test_a_rebalance_goes_on_after_a_restart() -> None:
    """Who has to give something up still has to, and who waits for it still does."""
    play = ConsumerPlaybook(t=4)
    (first,) = play.settled("a")
    second = play.consumer("b", "t")
    second.join()
    first.beat()
    play.restart()
    assert play.group.state is ConsumerGroupState.RECONCILING
    play.settle(first, second)

    assert sorted(first.has["t"] + second.has["t"]) == [0, 1, 2, 3]
    assert len(first.has["t"]) == 2


def test_time_outs_begin_anew_after_a_restart() -> None:
    """Kafka: a member is awaited from the moment at which its group was loaded."""
    play = ConsumerPlaybook(t=4)
    play.settled("a")
    play.restart(after_ms=10 * SESSION_MS)
    loaded_ms = play.now_ms
    play.at(loaded_ms + SESSION_MS - 1)
    assert list(play.group.members) == ["a"]

    play.at(loaded_ms + SESSION_MS)
    assert play.group.members == {}


def test_a_rebalance_that_was_asked_for_runs_out_of_time_after_a_restart() -> None:
    """The member's rebalance time-out is awaited anew, too."""
    play = ConsumerPlaybook(t=4)
    (first,) = play.settled("a")
    second = play.consumer("b", "t")
    second.join()
    first.beat(revokes=False)
    play.restart()
    while play.now_ms < 70_000:
        play.pass_ms(5_000)
        first.beat(revokes=False)
        second.beat()

    assert list(play.group.members) == ["b"]
    assert second.has == {"t": [0, 1, 2, 3]}


def test_a_group_resumes_from_what_it_committed() -> None:
    """Everyone left, the broker restarted, and a new member begins where the last one ended."""
    play = ConsumerPlaybook(t=1)
    (first,) = play.settled("a")
    assert play.committed(play.commit("a", first.epoch, offset=7)) == ErrorCode.NONE
    first.leave()
    play.restart(after_ms=60_000)
    second = play.consumer("b", "t")
    second.join()

    assert second.has == {"t": [0]}
    assert play.fetch() == 7


def test_a_late_commit_is_refused() -> None:
    """STALE_MEMBER_EPOCH, or UNKNOWN_MEMBER_ID once the member was dropped; what others committed stays."""
    play = ConsumerPlaybook(t=1)
    (first,) = play.settled("a")
    epoch = first.epoch
    play.commit("a", epoch, offset=5)
    play.pass_ms(SESSION_MS)
    second = play.consumer("b", "t")
    second.join()
    play.commit("b", second.epoch, offset=9)

    assert play.committed(play.commit("a", epoch, offset=6)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert play.committed(play.commit("b", second.epoch + 1, offset=1)) == ErrorCode.STALE_MEMBER_EPOCH
    assert play.fetch() == 9


def test_offsets_expire_only_while_nobody_reads() -> None:
    """A topic that the group subscribes to keeps its offsets; those of others have their age from the commit.

    So it is for groups of this protocol; for classic ones from when they became empty (KIP-211).
    """
    config = GroupConfig(offsets_retention_ms=DAY_MS)
    play = ConsumerPlaybook(config, t=1)
    (member,) = play.settled("a")
    play.commit("a", member.epoch, offset=7)
    while play.now_ms < 2 * DAY_MS:
        play.pass_ms(40_000)
        member.beat()
    assert play.fetch() == 7

    play.commit("a", member.epoch, offset=8)
    member.leave()
    play.pass_ms(DAY_MS - 1_000_000)
    assert play.fetch() == 8
    play.pass_ms(2_000_000)
    assert play.fetch() == -1
    assert "g" not in play.shard.durable.consumer_groups


def test_a_groups_own_settings_hold_from_the_next_heartbeat() -> None:
    """consumer.session.timeout.ms and consumer.heartbeat.interval.ms of the group itself."""
    play = ConsumerPlaybook(t=1)
    play.overrides = {"consumer.session.timeout.ms": 50_000, "consumer.heartbeat.interval.ms": 7_000}
    member = play.consumer("a", "t")
    assert member.join().heartbeat_interval_ms == 7_000
    play.pass_ms(49_999)
    assert list(play.group.members) == ["a"]

    play.pass_ms(1)
    assert play.group.members == {}
