"""Tests of groups/classic/undo.py: what a group does when its record cannot be written."""

from tests.support.consumer_playbook import ConsumerPlaybook
from tests.support.mixed_playbook import ClassicConsumer
from tests.support.playbook import GroupPlaybook
from wirekafka.groups.deadlines import JoinDeadline
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

BROKEN = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "The log is offline.")


def test_group_that_cannot_be_written_is_not_there() -> None:
    """The first member is told to look for its coordinator again, and leaves nothing behind."""
    play = GroupPlaybook()
    play.append_error = BROKEN
    ticket = play.join("a")

    assert play.joined(ticket).error_code == ErrorCode.NOT_COORDINATOR
    assert play.state() == "Dead"
    assert play.machine.wake_at_ms() == 600_000


def test_pending_member_of_an_unwritten_group_is_forgotten() -> None:
    """It was told its id already, as in Kafka; it starts anew when that is unknown."""
    play = GroupPlaybook()
    play.append_error = BROKEN
    assert play.joined(play.join("a", member_id_required=True)).error_code == ErrorCode.MEMBER_ID_REQUIRED

    assert play.state() == "Dead"
    assert play.machine.wake_at_ms() == 600_000


def test_assignment_that_cannot_be_written_is_given_to_nobody() -> None:
    """All who wait are refused, and the group rebalances."""
    play = GroupPlaybook()
    play.join("a")
    play.join("b")
    play.at(6_000)
    waits = play.sync("b-2", 1)
    play.append_error = BROKEN
    mine = play.sync("a-1", 1, {"a-1": b"A", "b-2": b"B"})
    assert play.synced(waits).error_code == play.synced(mine).error_code == ErrorCode.NOT_COORDINATOR
    assert play.state() == "PreparingRebalance"
    play.append_error = None
    play.join("a", "a-1")
    again = play.join("b", "b-2")

    assert play.joined(again).generation_id == 2


def test_static_member_that_cannot_be_written_is_not_replaced() -> None:
    """The old id goes on; the new one is unknown, and has no deadline."""
    play = GroupPlaybook()
    play.stable("a", "b", instances=True)
    play.append_error = BROKEN
    refused = play.joined(play.join("a", instance="ia", protocols={"range": b"new"}))
    assert refused.error_code == ErrorCode.NOT_COORDINATOR

    assert play.heartbeat("ia-1", 1, instance="ia") is ErrorCode.NONE
    group = play.shard.volatile.classic_groups["g"]
    assert set(group.members) == {"ia-1", "ib-2"}
    assert (group.leader_id, group.members["ia-1"].protocols) == ("ia-1", (("range", b""),))
    assert len(play.shard.volatile.deadlines) == 3


def test_group_that_cannot_be_written_as_empty_is_empty_all_the_same() -> None:
    """Kafka: if the broker dies too, the old generation comes back and times out."""
    play = GroupPlaybook()
    play.stable("a")
    play.append_error = BROKEN
    ticket = play.leave(("a-1", None))
    assert getattr(play.answers[ticket], "error_code", None) == ErrorCode.NOT_COORDINATOR
    assert play.state() == "Empty"
    play.append_error = None
    play.restart()

    assert play.state() == "Stable"


def test_consumer_group_that_was_to_become_a_classic_one_is_that_again() -> None:
    """Nothing is left in memory of the classic group, which never was in the log."""
    play = ConsumerPlaybook(t=2)
    new, old = play.consumer("new", "t"), ClassicConsumer(play, "old", "t")
    new.join()
    old.join_and_sync()
    play.append_error = BROKEN
    new.leave()

    assert play.shard.volatile.classic_groups == {}
    assert play.group.members.keys() == {"new", old.member_id}
    assert JoinDeadline("g") not in play.shard.volatile.deadlines
